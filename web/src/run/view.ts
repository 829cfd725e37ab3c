import { api, Refusal } from "../api";
import { button, clear, h, icon, say, state, toast } from "../dom";
import { Network, NOTHING } from "../scene/network";
import { Stage, toolbar } from "../scene/stage";
import type { RunInfo, RunList } from "../types";
import { RunCurves } from "./curves";
import { chip, showList } from "./list";
import { Replay } from "./replay";
import { StartDialog } from "./start";

const LOOK_AGAIN_MS = 1500;
const ACTIONS: Record<string, [string, string, string][]> = {
  running: [["pause", "Pause", "pause"], ["stop", "Stop", "stop"]],
  paused: [["go-on", "Go on", "play"], ["stop", "Stop", "stop"]],
  stopped: [["resume", "Resume", "again"]],
  failed: [["resume", "Try again", "again"]],
};

/** Run: start a scenario, watch it live, replay it. */
export class RunView {
  readonly element = h("div", { class: "view runs" });
  readonly replay = new Replay();
  readonly curves = new RunCurves();
  stage!: Stage;
  moment = 0;
  private network!: Network;
  private list: RunList | null = null;
  private chosen: RunInfo | null = null;
  private wanted: string | null = null; // a job that was started and has no run yet
  private source: EventSource | null = null;
  private timer = 0;
  private visible = false;
  private live = true;
  private playing = false;
  private speed = 4; // rounds a second
  private lastFrame = 0;
  private dialog: StartDialog;
  private parts = {
    list: h("div", { class: "list" }),
    title: h("div", { class: "title" }),
    actions: h("div", { class: "buttons" }),
    slider: h("input", { type: "range", min: 0, max: 0, step: 0.01, value: "0", "aria-label": "Round" }),
    round: h("output", { class: "round" }, "–"),
    words: h("p", { class: "words", role: "status" }),
    play: button("Play", () => this.togglePlay(), { icon: "play", quiet: true }),
    liveButton: button("Live", () => this.goLive(), { "aria-pressed": "true" }),
    cover: h("div", { class: "cover" }),
  };

  constructor(planned: () => Promise<string>) {
    this.dialog = new StartDialog(planned, (job) => {
      this.wanted = job;
      toast(`${job} has started`);
      void this.look();
    });
    this.build();
    document.addEventListener("visibilitychange", () => this.attend());
  }

  private build(): void {
    const host = h("div", { class: "stage" });
    this.parts.slider.addEventListener("input", () => {
      this.live = this.playing = false;
      this.moment = Number(this.parts.slider.value);
      this.draw();
    });
    const speed = h("select", { "aria-label": "Speed", onchange: () => { this.speed = Number(speed.value); } },
      ...[1, 2, 4, 10, 30].map((value) => h("option", { value, selected: value === this.speed }, `${value} rounds/s`)));
    this.element.append(
      h("aside", { class: "panel left", "aria-label": "Runs" },
        h("div", { class: "row" }, h("h2", {}, "Runs"), button("New run", () => void this.dialog.open(), { icon: "plus", class: "main" })), this.parts.list),
      h("div", { class: "middle" },
        h("div", { class: "bar top" }, this.parts.title, this.parts.actions), host,
        h("div", { class: "bar replay" }, this.parts.play, this.parts.slider, this.parts.round, speed, this.parts.liveButton),
        this.parts.words),
      h("aside", { class: "panel right", "aria-label": "Curves" }, this.curves.element));
    try {
      this.stage = new Stage(host);
    } catch {
      clear(host, state("error", "No 3-D here", "This browser has no WebGL; the curves still grow."));
    }
    host.append(this.parts.cover);
    if (!this.stage) return;
    this.network = new Network(this.stage);
    toolbar(this.stage);
    host.append(h("div", { class: "legend cold" }, ...[["active", "active"], ["off", "present, off"], ["failed", "too late"],
      ["ghost", "left: its embeddings are kept"], ["server", "server and its path"]].map(([kind, text]) =>
      h("span", { class: `key ${kind}` }, h("i"), text!))));
    this.stage.beforeFrame((now) => this.step(now));
  }

  async start(): Promise<void> {
    clear(this.parts.list, state("loading", "Looking for runs"));
    this.showTime();
    this.cover(state("loading", "Looking for runs"));
  }

  shown(): void {
    this.visible = true;
    this.attend();
  }

  hidden(): void {
    this.visible = false;
    this.attend();
  }

  /** Streams stay open only while they are looked at: a browser has few connections to give. */
  private attend(): void {
    clearTimeout(this.timer);
    if (this.visible && !document.hidden) {
      void this.look();
      if (this.chosen && !this.source) this.follow(this.chosen);
    } else {
      this.source?.close();
      this.source = null;
      this.curves.close();
    }
  }

  private async look(): Promise<void> {
    clearTimeout(this.timer);
    try {
      this.list = await api.runs();
      this.showRuns();
    } catch (error) {
      if (error instanceof Refusal) clear(this.parts.list, state("error", "The studio does not answer", error.message));
    }
    if (this.visible && !document.hidden) this.timer = window.setTimeout(() => void this.look(), LOOK_AGAIN_MS);
  }

  private showRuns(): void {
    const list = this.list!;
    if (!list.runs.length && !list.jobs.length) {
      clear(this.parts.list, state("empty", "No run yet", `Nothing is recorded in ${list.runs_dir}. Start one here, or with scdn run.`,
        button("New run", () => void this.dialog.open(), { icon: "plus" })));
      this.cover(state("empty", "Nothing to watch yet", "Runs appear here as soon as their first round is written."));
      return;
    }
    showList(this.parts.list, list, this.chosen?.run ?? null, (run) => this.choose(run));
    const readable = list.runs.filter((run) => !run.fault);
    const begun = this.wanted ? readable.find((run) => run.job === this.wanted) : undefined;
    const next = begun ?? (this.chosen ? readable.find((run) => run.run === this.chosen!.run) : readable[0]);
    if (begun) this.wanted = null;
    if (next && next.run !== this.chosen?.run) this.choose(next);
    else if (next) this.chosen = next;
    if (!this.chosen) this.cover(state("loading", "A run is being prepared", "Its first round will be drawn here."));
    this.showTitle();
  }

  private cover(shown: HTMLElement | null): void {
    clear(this.parts.cover, shown);
    this.parts.cover.hidden = shown === null;
  }

  choose(run: RunInfo): void {
    this.chosen = run;
    this.follow(run);
    if (this.list) showList(this.parts.list, this.list, run.run, (other) => this.choose(other));
    this.showTitle();
  }

  private showTitle(): void {
    const run = this.chosen;
    if (!run) return;
    const state = run.status;
    const key = JSON.stringify([run.run, state, run.job, run.done]);
    if (this.parts.title.dataset.key === key) return;
    this.parts.title.dataset.key = key;
    clear(this.parts.title, h("strong", {}, run.method), h("span", {}, `${run.name}, seed ${run.seed}`), chip(state));
    const job = this.list?.jobs.find((one) => one.job === run.job);
    const actions = ACTIONS[job?.state ?? ""] ?? [];
    clear(this.parts.actions, ...actions.map(([action, label, name]) =>
      button(label, () => void this.act(action), { icon: name })),
    !job && state === "unfinished" ? button("Copy resume", () => void this.copyResume(run), { icon: "copy",
      title: "Copy the command that goes on with it" }) : null);
  }

  private async copyResume(run: RunInfo): Promise<void> {
    const command = `scdn run --resume ${this.list!.runs_dir}/${run.run}`;
    await navigator.clipboard.writeText(command).catch(() => {});
    toast(command);
  }

  private async act(action: string): Promise<void> {
    try {
      await api.act(this.chosen!.job!, action);
    } catch (error) {
      if (error instanceof Refusal) toast(error.message, "fault");
    }
    void this.look();
  }

  // --- events as they come ---------------------------------------------------------------------------

  private follow(run: RunInfo): void {
    this.source?.close();
    this.replay.clear();
    Object.assign(this, { live: true, playing: false, moment: 0 });
    Object.assign(this.element.dataset, { rounds: "0", over: "false" }); // not those of the run before
    this.network?.draw(NOTHING);
    this.cover(state("loading", "Reading the run"));
    this.curves.watch(run.study, run.run);
    const source = this.source = api.eventsOf(run.run);
    source.addEventListener("begin", () => this.replay.clear());
    source.addEventListener("line", (event) => this.take((event as MessageEvent<string>).data));
    source.addEventListener("over", () => {
      source.close();
      this.arrived();
    });
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) this.cover(state("error", "The run cannot be read", "It may have been removed."));
    });
  }

  private take(line: string): void {
    this.replay.take(line);
    if (this.replay.rounds.length === 1) this.stage?.setRegion(this.replay.region);
    this.arrived();
  }

  private arrived(): void {
    const { replay, parts } = this;
    const last = Math.max(replay.rounds.length - 1, 0);
    parts.slider.max = String(last);
    this.element.dataset.rounds = String(replay.rounds.length);
    this.element.dataset.over = String(replay.over);
    if (replay.fault) this.cover(state("error", "This run is damaged", replay.fault));
    else this.cover(replay.rounds.length ? null : state("loading", "Waiting for the first round"));
    if (this.live && (replay.over || last - this.moment > 3)) this.moment = Math.max(this.moment, replay.over ? last : last - 1);
    this.draw();
  }

  // --- time ------------------------------------------------------------------------------------------

  private togglePlay(): void {
    const last = this.replay.rounds.length - 1;
    this.playing = !this.playing;
    this.live = false;
    if (this.playing && this.moment >= last) this.moment = 0;
    this.draw();
  }

  private goLive(): void {
    Object.assign(this, { live: true, playing: false, moment: Math.max(this.replay.rounds.length - 1, 0) });
    this.draw();
  }

  /** Before each frame: time goes on while something plays, or a live round is on its way. */
  private step(now: number): boolean {
    const passed = Math.min(now - this.lastFrame, 100) / 1000;
    this.lastFrame = now;
    const last = this.replay.rounds.length - 1;
    const moving = (this.playing || this.live) && this.moment < last;
    if (!moving) {
      if (this.playing && last >= 0) {
        this.playing = false;
        this.showTime();
      }
      return false;
    }
    const pace = this.playing ? this.speed : Math.max(1.5, last - this.moment);
    this.moment = Math.min(last, this.moment + passed * pace);
    this.draw();
    return true;
  }

  private draw(): void {
    this.network?.draw(this.replay.at(this.moment, null));
    this.showTime();
  }

  private showTime(): void {
    const { parts, replay } = this;
    const index = Math.min(Math.floor(this.moment), replay.rounds.length - 1);
    const total = this.chosen?.rounds ?? replay.rounds.length;
    const last = Math.max(replay.rounds.length - 1, 1);
    parts.slider.value = String(this.moment);
    parts.slider.style.setProperty("--part", `${100 * this.moment / last}%`);
    for (const part of [parts.slider, parts.play, parts.liveButton]) part.disabled = index < 0;
    say(parts.round, index < 0 ? "–" : `round ${index + 1} of ${total}`);
    say(parts.words, replay.words(index));
    const name = this.playing ? "pause" : "play";
    if (parts.play.dataset.icon !== name) {
      parts.play.dataset.icon = name;
      clear(parts.play, icon(name) as unknown as Node);
      parts.play.setAttribute("aria-label", this.playing ? "Pause the replay" : "Play");
    }
    parts.liveButton.setAttribute("aria-pressed", String(this.live));
    this.curves.mark(index < 0 ? null : this.moment + 1);
  }
}
