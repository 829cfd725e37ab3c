import { h, setChildren } from "../dom";
import { ago, digits, methodRank, plural, seconds } from "../format";
import type { JobInfo, RunInfo, RunList } from "../types";
import { matches } from "./run-filter";

/** The runs grouped by comparison, below the jobs that have no run yet, with a filter. */
export class RunListPanel {
  readonly element: HTMLElement;
  readonly filter = h("input", { type: "search", "aria-label": "Filter the runs", placeholder: "Filter, such as vafl done seed:3",
    title: "Words of name, method, status, data set, seed or note; or method:, status:, data:, name:, seed: with a value" });
  private groups = h("div", { class: "list" });
  private shown = "";

  constructor(private hooks: { select: (run: RunInfo) => void; filtered: () => void }) {
    this.element = h("div", { class: "run-list" }, this.filter, this.groups);
    this.filter.addEventListener("input", hooks.filtered);
  }

  /** Shows a message in place of the runs. */
  showMessage(message: HTMLElement): void {
    this.filter.hidden = true;
    this.shown = "";
    setChildren(this.groups, message);
  }

  show(list: RunList, selected: string | null): void {
    this.filter.hidden = false;
    const runs = list.runs.filter((run) => matches(run, this.filter.value));
    const age = (run: RunInfo) => (run.score ? 0 : ago(run.updated));
    const key = JSON.stringify([runs.map((run) => ({ ...run, updated: age(run) })), list.jobs, list.left_out, selected, list.runs.length]);
    if (key === this.shown) return; // what has the keyboard's focus stays
    this.shown = key;
    const focused = this.groups.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.run : undefined;
    const studies = new Map<string, RunInfo[]>();
    for (const run of runs) studies.set(run.study, [...(studies.get(run.study) ?? []), run]);
    const withRuns = new Set(list.runs.map((run) => run.job));
    const preparing = list.jobs.filter((job) => !withRuns.has(job.job) && job.state !== "done" && job.state !== "stopped");
    setChildren(this.groups, ...preparing.map(preparingJob),
      ...[...studies].map(([study, members]) => studyGroup(study, members, list.jobs, selected, this.hooks.select)),
      runs.length < list.runs.length ? h("p", { class: "hint", role: "status" }, `${runs.length} of ${plural(list.runs.length, "run")}.`) : null,
      list.left_out ? h("p", { class: "hint" }, `and ${plural(list.left_out, "older run")}.`) : null);
    if (focused !== undefined) this.groups.querySelector<HTMLElement>(`[data-run="${CSS.escape(focused)}"]`)?.focus();
  }
}

function preparingJob(job: JobInfo): HTMLElement {
  return h("section", { class: "study" }, h("header", {}, h("h3", {}, job.job), statusChip(job.state)),
    job.state === "failed" ? h("pre", { class: "log failed" }, job.log)
      : h("p", { class: "hint" }, "Preparing data and models …"));
}

function studyGroup(study: string, runs: RunInfo[], jobs: JobInfo[], selected: string | null,
  select: (run: RunInfo) => void): HTMLElement {
  const first = runs[0]!;
  const title = study === "." ? first.name : study;
  const failed = jobs.find((job) => job.job === first.job && job.state === "failed");
  const rows = [...runs].sort((a, b) => methodRank(a.method) - methodRank(b.method) || a.method.localeCompare(b.method) || a.seed - b.seed)
    .map((run) => h("li", {}, runRow(run, run.run === selected, select), run.note ? h("p", { class: "note" }, run.note) : null));
  return h("section", { class: "study" },
    h("header", {}, h("h3", { title: study }, title), h("small", {}, `${first.dataset ?? ""} ${runs.length > 1 ? `· ${plural(runs.length, "run")}` : ""}`)),
    h("ul", {}, ...rows), failed ? h("pre", { class: "log failed" }, failed.log) : null);
}

function runRow(run: RunInfo, selected: boolean, select: (run: RunInfo) => void): HTMLElement {
  if (run.fault) {
    return h("div", { class: "run broken" }, h("span", {}, run.run), h("small", {}, run.fault));
  }
  const bar = h("i", { class: `bar ${run.status}` });
  bar.style.setProperty("--part", `${run.status === "done" ? 100 : run.rounds ? 100 * run.done / run.rounds : 0}%`);
  return h("button", { type: "button", class: "run", "aria-pressed": String(selected), "data-run": run.run, onclick: () => select(run) },
    h("span", { class: "who" }, h("b", {}, run.method), h("small", {}, `seed ${run.seed}`)),
    h("span", { class: "status" }, run.status === "done" ? h("small", {}, run.score ?? ago(run.updated)) : statusChip(run.status)), bar);
}

/** Whether, when and at what cost a run reached a target; rounds are counted from 1. */
export function targetSentence(target: RunInfo["targets"][number]): string {
  if (!target.reached) return `${target.label}: not reached`;
  return `${target.label}: reached in round ${target.round! + 1}, ${digits(target.joules!)} J, ${seconds(target.seconds!)}`;
}

export function statusChip(status: string): HTMLElement {
  return h("span", { class: `chip ${status}` }, status);
}
