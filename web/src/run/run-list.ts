import { h, setChildren } from "../dom";
import { ago, digits, methodRank, plural, seconds } from "../format";
import type { JobInfo, RunInfo, RunList } from "../types";

/** Shows the runs grouped by comparison, below the jobs that have no run yet. */
export function renderRunList(element: HTMLElement, list: RunList, selected: string | null,
  select: (run: RunInfo) => void): void {
  const studies = new Map<string, RunInfo[]>();
  for (const run of list.runs) studies.set(run.study, [...(studies.get(run.study) ?? []), run]);
  const withRuns = new Set(list.runs.map((run) => run.job));
  const preparing = list.jobs.filter((job) => !withRuns.has(job.job) && job.state !== "done" && job.state !== "stopped");
  setChildren(element, ...preparing.map(preparingJob), ...[...studies].map(([study, runs]) => studyGroup(study, runs, list.jobs, selected, select)),
    list.left_out ? h("p", { class: "hint" }, `and ${plural(list.left_out, "older run")}.`) : null);
}

function preparingJob(job: JobInfo): HTMLElement {
  return h("section", { class: "study" }, h("header", {}, h("h3", {}, job.job), statusChip(job.state)),
    job.state === "failed" ? h("pre", { class: "log" }, job.log)
      : h("p", { class: "hint" }, "Preparing data and models …"));
}

function studyGroup(study: string, runs: RunInfo[], jobs: JobInfo[], selected: string | null,
  select: (run: RunInfo) => void): HTMLElement {
  const first = runs[0]!;
  const title = study === "." ? first.name : study;
  const failed = jobs.find((job) => job.job === first.job && job.state === "failed");
  const rows = [...runs].sort((a, b) => sortOrder(a) - sortOrder(b) || a.method.localeCompare(b.method) || a.seed - b.seed)
    .map((run) => h("li", {}, runRow(run, run.run === selected, select)));
  return h("section", { class: "study" },
    h("header", {}, h("h3", { title: study }, title), h("small", {}, `${first.dataset ?? ""} ${runs.length > 1 ? `· ${plural(runs.length, "run")}` : ""}`)),
    h("ul", {}, ...rows), failed ? h("pre", { class: "log" }, failed.log) : null);
}

const sortOrder = (run: RunInfo): number => methodRank(run.method);

function runRow(run: RunInfo, selected: boolean, select: (run: RunInfo) => void): HTMLElement {
  if (run.fault) {
    return h("div", { class: "run broken" }, h("span", {}, run.run), h("small", {}, run.fault));
  }
  const bar = h("i", { class: `bar ${run.status}` });
  bar.style.setProperty("--part", `${run.rounds ? 100 * run.done / run.rounds : 0}%`);
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
