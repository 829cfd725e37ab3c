import { api, ApiError } from "../api";
import { button, h, icon, setChildren, setText, statusMessage, toast } from "../dom";
import { NetworkScene, EMPTY_NETWORK } from "../scene/network-scene";
import { keepCamera } from "../scene/camera-address";
import { Legend } from "../scene/legend";
import { toolbar } from "../scene/toolbar";
import { Viewport } from "../scene/viewport";
import type { JobInfo, RunInfo, RunList } from "../types";
import { LiveCurves } from "./live-curves";
import { MissionPanel } from "./mission-panel";
import { statusChip, renderRunList, targetSentence } from "./run-list";
import { Replay } from "./replay";
import { RoundTable } from "./round-table";
import { StartDialog } from "./start-dialog";

const REFRESH_MS = 1500;
const ACTIONS: Record<string, [string, string, string][]> = {
  running: [["pause", "Pause", "pause"], ["stop", "Stop", "stop"]],
  paused: [["go-on", "Continue", "play"], ["stop", "Stop", "stop"]],
  stopped: [["resume", "Resume", "again"]],
  failed: [["resume", "Try again", "again"]],
};

/** Run: start a scenario, watch it live, replay it. */
export class RunView {
  readonly element = h("div", { class: "view runs" });
  readonly replay = new Replay();
  readonly curves = new LiveCurves();
  readonly mission = new MissionPanel();
  readonly roundTable = new RoundTable();
  viewport!: Viewport;
  time = 0; // in rounds, between two of them while it moves
  private scene!: NetworkScene;
  private list: RunList | null = null;
  private selected: RunInfo | null = null;
  private startedJob: string | null = null; // a job that has no run yet
  private source: EventSource | null = null;
  private timer = 0;
  private visible = false;
  private answering = true; // whether the server does
  private live = true;
  private playing = false;
  private speed = 4; // rounds a second
  private lastFrame = 0;
  private dialog: StartDialog;
  private elements = {
    list: h("div", { class: "list" }),
    title: h("div", { class: "title" }),
    actions: h("div", { class: "buttons" }),
    targets: h("ul", { class: "run-targets", "aria-label": "Targets", hidden: true }),
    slider: h("input", { type: "range", min: 0, max: 0, step: 0.01, value: "0", "aria-label": "Round" }),
    round: h("output", { class: "round" }, "–"),
    summary: h("p", { class: "summary", role: "status" }),
    play: button("Play", () => this.togglePlay(), { icon: "play", quiet: true }),
    liveButton: button("Live", () => this.goLive(), { "aria-pressed": "true" }),
    cover: h("div", { class: "cover" }),
  };

  constructor(planned: () => Promise<string>) {
    this.dialog = new StartDialog(planned, (job) => {
      this.startedJob = job;
      toast(`${job} has started`);
      void this.refreshRuns();
    });
    this.build();
    document.addEventListener("visibilitychange", () => this.updateSubscriptions());
  }

  /** Opens the dialog that starts a run, with an example chosen. */
  openDialog(example: string): Promise<void> {
    return this.dialog.open(example);
  }

  private build(): void {
    const host = h("div", { class: "viewport" });
    this.elements.slider.addEventListener("input", () => {
      this.live = this.playing = false;
      this.time = Number(this.elements.slider.value);
      this.draw();
    });
    const speed = h("select", { "aria-label": "Speed", onchange: () => { this.speed = Number(speed.value); } },
      ...[1, 2, 4, 10, 30].map((value) => h("option", { value, selected: value === this.speed }, `${value} rounds/s`)));
    this.element.append(
      h("aside", { class: "panel left", "aria-label": "Runs" },
        h("div", { class: "row" }, h("h2", {}, "Runs"), button("New run", () => void this.dialog.open(), { icon: "plus", class: "main" })), this.elements.list),
      h("div", { class: "middle" },
        h("div", { class: "bar top" }, this.elements.title, this.elements.actions), this.elements.targets, host,
        h("div", { class: "bar replay" }, this.elements.play, this.elements.slider, this.elements.round, speed, this.elements.liveButton),
        this.elements.summary),
      h("aside", { class: "panel right", "aria-label": "Curves" }, this.mission.element, this.curves.element, this.roundTable.element));
    try {
      this.viewport = new Viewport(host);
    } catch {
      setChildren(host, statusMessage("error", "No 3-D view", "This browser has no WebGL; the curves are still drawn."));
    }
    host.append(this.elements.cover);
    if (!this.viewport) return;
    this.scene = new NetworkScene(this.viewport);
    toolbar(this.viewport);
    new Legend(this.scene);
    keepCamera(this.viewport, "run");
    this.viewport.beforeFrame((now) => this.advance(now));
  }

  async start(): Promise<void> {
    setChildren(this.elements.list, statusMessage("loading", "Looking for runs"));
    this.showTime();
    this.showCover(statusMessage("loading", "Looking for runs"));
  }

  shown(): void {
    this.visible = true;
    this.updateSubscriptions();
  }

  hidden(): void {
    this.visible = false;
    this.updateSubscriptions();
  }

  /** Keeps streams open only while the view is visible: a browser has few connections. */
  private updateSubscriptions(): void {
    clearTimeout(this.timer);
    if (this.visible && !document.hidden) {
      void this.refreshRuns();
      if (this.selected && !this.source) this.follow(this.selected);
    } else {
      this.source?.close();
      this.source = null;
      this.curves.close();
    }
  }

  private async refreshRuns(): Promise<void> {
    clearTimeout(this.timer);
    try {
      this.list = await api.runs();
      this.answering = true;
      this.showRuns();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.answering = false;
      setChildren(this.elements.list, statusMessage("error", "The studio does not answer", error.message));
      this.showTitle();
    }
    if (this.visible && !document.hidden) this.timer = window.setTimeout(() => void this.refreshRuns(), REFRESH_MS);
  }

  private showRuns(): void {
    const list = this.list!;
    if (!list.runs.length && !list.jobs.length) {
      setChildren(this.elements.list, statusMessage("empty", "No run yet", `No run is recorded in ${list.runs_dir}. Start one here, or with scdn run.`,
        button("New run", () => void this.dialog.open(), { icon: "plus" })));
      this.showCover(statusMessage("empty", "Nothing to watch yet", "A run appears here when its first round is written."));
      return;
    }
    renderRunList(this.elements.list, list, this.selected?.run ?? null, (run) => this.select(run));
    const readable = list.runs.filter((run) => !run.fault);
    const started = this.startedJob ? readable.find((run) => run.job === this.startedJob) : undefined;
    const next = started ?? (this.selected ? readable.find((run) => run.run === this.selected!.run)
      : readable.find((run) => run.run === list.opened) ?? readable[0]);
    if (started) this.startedJob = null;
    if (next && next.run !== this.selected?.run) this.select(next);
    else if (next) this.selected = next;
    if (!this.selected) this.showCover(statusMessage("loading", "A run is being prepared", "Its first round will be shown here."));
    this.showTitle();
  }

  private showCover(shown: HTMLElement | null): void {
    setChildren(this.elements.cover, shown);
    this.elements.cover.hidden = shown === null;
  }

  select(run: RunInfo): void {
    this.selected = run;
    this.follow(run);
    if (this.list) renderRunList(this.elements.list, this.list, run.run, (other) => this.select(other));
    this.showTitle();
  }

  private showTitle(): void {
    const run = this.selected;
    if (!run) return;
    const { status } = run;
    const job = this.list?.jobs.find((candidate) => candidate.job === run.job);
    const key = JSON.stringify([run.run, status, run.job, run.done, job?.state, this.answering]);
    if (this.elements.title.dataset.key === key) return;
    this.elements.title.dataset.key = key;
    setChildren(this.elements.title, h("strong", {}, run.method), h("span", {}, `${run.name}, seed ${run.seed}`),
      this.answering ? statusChip(status) : h("span", { class: "chip failed", role: "alert" }, "the server does not answer"));
    setChildren(this.elements.targets, ...run.targets.map((target) => h("li", {}, targetSentence(target))));
    this.elements.targets.hidden = !run.targets.length;
    setChildren(this.elements.actions, ...(this.answering ? this.actionButtons(run, job) : []));
  }

  /** What can be done with a run; one that has ended can neither be paused nor stopped. */
  private actionButtons(run: RunInfo, job: JobInfo | undefined): HTMLElement[] {
    if (!job) {
      return run.status !== "unfinished" ? [] : [button("Copy command", () => void this.copyResume(run), { icon: "copy",
        title: "Copy the command that resumes this run" })];
    }
    const ended = run.status === "done" || run.status === "diverged";
    if (ended && (job.state === "running" || job.state === "paused")) return [];
    return (ACTIONS[job.state] ?? []).map(([action, label, name]) => button(label, () => void this.runAction(action), { icon: name }));
  }

  private async copyResume(run: RunInfo): Promise<void> {
    const command = `scdn run --resume ${this.list!.runs_dir}/${run.run}`;
    await navigator.clipboard.writeText(command).catch(() => {});
    toast(command);
  }

  private async runAction(action: string): Promise<void> {
    try {
      await api.jobAction(this.selected!.job!, action);
    } catch (error) {
      if (error instanceof ApiError) toast(error.message, "fault");
    }
    void this.refreshRuns();
  }

  // --- events as they come ---------------------------------------------------------------------------

  private follow(run: RunInfo): void {
    this.source?.close();
    this.replay.clear();
    this.mission.show(this.replay);
    [this.live, this.playing, this.time] = [true, false, 0];
    Object.assign(this.element.dataset, { rounds: "0", over: "false" }); // until the events of this run arrive
    this.scene?.draw(EMPTY_NETWORK);
    this.showCover(statusMessage("loading", "Reading the run"));
    this.curves.watch(run.study, run.run);
    const source = this.source = api.openEvents(run.run);
    source.addEventListener("begin", () => this.replay.clear());
    source.addEventListener("line", (event) => this.addLine((event as MessageEvent<string>).data));
    source.addEventListener("over", () => {
      source.close();
      this.eventsArrived();
    });
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) this.showCover(statusMessage("error", "The run cannot be read", "It may have been removed."));
    });
  }

  private addLine(line: string): void {
    this.replay.addLine(line);
    if (this.replay.rounds.length === 1) this.viewport?.setRegion(this.replay.region);
    this.eventsArrived();
  }

  private eventsArrived(): void {
    const { replay, elements } = this;
    const last = Math.max(replay.rounds.length - 1, 0);
    elements.slider.max = String(last);
    this.element.dataset.rounds = String(replay.rounds.length);
    this.element.dataset.over = String(replay.over);
    this.mission.show(replay);
    if (replay.fault) this.showCover(statusMessage("error", "This run is damaged", replay.fault));
    else this.showCover(replay.rounds.length ? null : statusMessage("loading", "Waiting for the first round"));
    if (this.live && (replay.over || last - this.time > 3)) this.time = Math.max(this.time, replay.over ? last : last - 1);
    this.draw();
  }

  // --- time ------------------------------------------------------------------------------------------

  private togglePlay(): void {
    const last = this.replay.rounds.length - 1;
    this.playing = !this.playing;
    this.live = false;
    if (this.playing && this.time >= last) this.time = 0;
    this.draw();
  }

  private goLive(): void {
    [this.live, this.playing, this.time] = [true, false, Math.max(this.replay.rounds.length - 1, 0)];
    this.draw();
  }

  /** Advances the time before each frame while a replay plays or a live round arrives. */
  private advance(now: number): boolean {
    const passed = Math.min(now - this.lastFrame, 100) / 1000;
    this.lastFrame = now;
    const last = this.replay.rounds.length - 1;
    const moving = (this.playing || this.live) && this.time < last;
    if (!moving) {
      if (this.playing && last >= 0) {
        this.playing = false;
        this.showTime();
      }
      return false;
    }
    const pace = this.playing ? this.speed : Math.max(1.5, last - this.time);
    this.time = Math.min(last, this.time + passed * pace);
    this.draw();
    return true;
  }

  private draw(): void {
    this.scene?.draw(this.replay.stateAt(this.time, null));
    this.showTime();
  }

  private showTime(): void {
    const { elements, replay } = this;
    const index = Math.min(Math.floor(this.time), replay.rounds.length - 1);
    const total = this.selected?.rounds ?? replay.rounds.length;
    const last = Math.max(replay.rounds.length - 1, 1);
    elements.slider.value = String(this.time);
    elements.slider.style.setProperty("--part", `${100 * this.time / last}%`);
    for (const control of [elements.slider, elements.play, elements.liveButton]) control.disabled = index < 0;
    setText(elements.round, index < 0 ? "–" : `round ${index + 1} of ${total}`);
    setText(elements.summary, replay.roundSummary(index));
    const name = this.playing ? "pause" : "play";
    if (elements.play.dataset.icon !== name) {
      elements.play.dataset.icon = name;
      setChildren(elements.play, icon(name));
      elements.play.setAttribute("aria-label", this.playing ? "Pause the replay" : "Play");
    }
    elements.liveButton.setAttribute("aria-pressed", String(this.live));
    const marked = index < 0 ? null : this.time + 1;
    this.curves.mark(marked);
    this.mission.mark(marked);
    this.roundTable.show(replay.rounds[index] ?? null);
  }
}
