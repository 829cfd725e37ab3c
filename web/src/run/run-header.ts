import { api, ApiError } from "../api";
import { button, h, setChildren, toast } from "../dom";
import type { JobInfo, RunInfo } from "../types";
import { statusChip, targetSentence } from "./run-list";

const ACTIONS: Record<string, [string, string, string][]> = {
  running: [["pause", "Pause", "pause"], ["stop", "Stop", "stop"]],
  paused: [["go-on", "Continue", "play"], ["stop", "Stop", "stop"]],
  stopped: [["resume", "Resume", "again"]],
  failed: [["resume", "Try again", "again"]],
};

/** The name and state of the chosen run, what can be done with it, its targets and the log of its job. */
export class RunHeader {
  readonly element: HTMLElement;
  private title = h("div", { class: "title" });
  private actions = h("div", { class: "buttons" });
  private targets = h("ul", { class: "run-targets", "aria-label": "Targets", hidden: true });
  private logText = h("pre", { class: "log" });
  private log = h("details", { class: "job-log", hidden: true }, h("summary", {}, "Log of its job, last lines"), this.logText);
  private shown = "";

  constructor(private hooks: { about: () => void; changed: () => void }) {
    this.element = h("div", { class: "run-header" }, h("div", { class: "bar top" }, this.title, this.actions), this.targets, this.log);
  }

  show(run: RunInfo | null, job: JobInfo | undefined, answering: boolean, left: string, folder: string): void {
    this.element.hidden = !run;
    if (!run) return;
    this.showLog(job);
    const key = JSON.stringify([run, job?.state, answering, left]);
    if (this.shown === key) return;
    this.shown = key;
    setChildren(this.title, h("strong", {}, run.method), h("span", {}, `${run.name}, seed ${run.seed}`),
      answering ? statusChip(run.status) : h("span", { class: "chip failed", role: "alert" }, "the server does not answer"),
      answering && left ? h("span", { class: "time-left" }, left) : null);
    setChildren(this.targets, ...run.targets.map((target) => h("li", {}, targetSentence(target))));
    this.targets.hidden = !run.targets.length;
    const focused = this.actions.contains(document.activeElement) ? document.activeElement!.getAttribute("aria-label") : null;
    setChildren(this.actions, ...(answering ? this.actionButtons(run, job, folder) : []),
      button("Notes and settings", this.hooks.about, { title: "Notes, settings and deletion of this run" }));
    if (focused) this.actions.querySelector<HTMLElement>(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
  }

  private showLog(job: JobInfo | undefined): void {
    this.log.hidden = !job;
    const text = job?.log || "It has printed nothing yet.";
    if (this.logText.textContent === text) return;
    this.logText.textContent = text;
    this.logText.scrollTop = this.logText.scrollHeight;
  }

  /** What can be done with a run; one that has ended can neither be paused nor stopped. */
  private actionButtons(run: RunInfo, job: JobInfo | undefined, folder: string): HTMLElement[] {
    if (!job) {
      return run.status !== "unfinished" ? [] : [button("Copy command", () => void copyResume(run, folder), { icon: "copy",
        title: "Copy the command that resumes this run" })];
    }
    const ended = run.status === "done" || run.status === "diverged";
    if (ended && (job.state === "running" || job.state === "paused")) return [];
    return (ACTIONS[job.state] ?? []).map(([action, label, name]) => button(label, () => void this.act(job.job, action), { icon: name }));
  }

  private async act(job: string, action: string): Promise<void> {
    try {
      await api.jobAction(job, action);
    } catch (error) {
      if (error instanceof ApiError) toast(error.message, "fault");
    }
    this.hooks.changed();
  }
}

async function copyResume(run: RunInfo, folder: string): Promise<void> {
  const command = `scdn run --resume ${folder}/${run.run}`;
  await navigator.clipboard.writeText(command).catch(() => {});
  toast(command);
}
