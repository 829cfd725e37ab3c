import { clear, h } from "../dom";
import { ago, plural } from "../format";
import type { JobInfo, RunInfo, RunList } from "../types";

/** The runs, gathered by comparison; those that run first. */
export function showList(place: HTMLElement, list: RunList, chosen: string | null,
  choose: (run: RunInfo) => void): void {
  const studies = new Map<string, RunInfo[]>();
  for (const run of list.runs) studies.set(run.study, [...(studies.get(run.study) ?? []), run]);
  const begun = new Set(list.runs.map((run) => run.job));
  const waiting = list.jobs.filter((job) => !begun.has(job.job) && job.state !== "done" && job.state !== "stopped");
  clear(place, ...waiting.map(waitingJob), ...[...studies].map(([study, runs]) => group(study, runs, list.jobs, chosen, choose)),
    list.left_out ? h("p", { class: "hint" }, `and ${list.left_out} older ones.`) : null);
}

function waitingJob(job: JobInfo): HTMLElement {
  return h("section", { class: "study" }, h("header", {}, h("h3", {}, job.job), chip(job.state)),
    job.state === "failed" ? h("pre", { class: "log" }, job.log)
      : h("p", { class: "hint" }, "Preparing the data and the models …"));
}

function group(study: string, runs: RunInfo[], jobs: JobInfo[], chosen: string | null,
  choose: (run: RunInfo) => void): HTMLElement {
  const first = runs[0]!;
  const title = study === "." ? first.name : study;
  const failed = jobs.find((job) => job.job === first.job && job.state === "failed");
  const rows = [...runs].sort((a, b) => order(a) - order(b) || a.method.localeCompare(b.method) || a.seed - b.seed)
    .map((run) => h("li", {}, runRow(run, run.run === chosen, choose)));
  return h("section", { class: "study" },
    h("header", {}, h("h3", { title: study }, title), h("small", {}, `${first.dataset ?? ""} ${runs.length > 1 ? `· ${plural(runs.length, "run")}` : ""}`)),
    h("ul", {}, ...rows), failed ? h("pre", { class: "log" }, failed.log) : null);
}

const order = (run: RunInfo): number => (run.method === "sc-dn" ? 0 : 1);

function runRow(run: RunInfo, chosen: boolean, choose: (run: RunInfo) => void): HTMLElement {
  if (run.fault) {
    return h("div", { class: "run broken" }, h("span", {}, run.run), h("small", {}, run.fault));
  }
  const bar = h("i", { class: `bar ${run.status}` });
  bar.style.setProperty("--part", `${run.rounds ? 100 * run.done / run.rounds : 0}%`);
  return h("button", { type: "button", class: "run", "aria-pressed": String(chosen), "data-run": run.run, onclick: () => choose(run) },
    h("span", { class: "who" }, h("b", {}, run.method), h("small", {}, `seed ${run.seed}`)),
    h("span", { class: "what" }, run.status === "done" ? h("small", {}, run.score ?? ago(run.updated)) : chip(run.status)), bar);
}

const WORDS: Record<string, string> = { running: "running", paused: "paused", stopped: "stopped", failed: "failed",
  unfinished: "unfinished", done: "done", diverged: "ran away" };

export function chip(status: string): HTMLElement {
  return h("span", { class: `chip ${status}` }, WORDS[status] ?? status);
}
