import { updateAddress } from "../address";
import { api, ApiError } from "../api";
import { button, h, setChildren, statusMessage, toast } from "../dom";
import { keepCamera } from "../scene/camera-address";
import { Legend } from "../scene/legend";
import { NetworkScene, EMPTY_NETWORK } from "../scene/network-scene";
import { toolbar } from "../scene/toolbar";
import { Viewport } from "../scene/viewport";
import type { RunInfo, RunList } from "../types";
import { AboutDialog } from "./about-dialog";
import { ChartChoices } from "./chart-choices";
import { DevicePanel } from "./device-panel";
import { LiveCurves } from "./live-curves";
import { MissionPanel } from "./mission-panel";
import { onDeviceClick } from "./pick-device";
import { Playback } from "./playback";
import { Replay } from "./replay";
import { RoundTable } from "./round-table";
import "./run.css";
import { RunEvents } from "./run-events";
import { RunHeader } from "./run-header";
import { RunListPanel } from "./run-list";
import { StartDialog } from "./start-dialog";
import { timeLeft } from "./time-left";

const REFRESH_MS = 1500;
const SETTLE_MS = 150; // after the last change of the round, it goes into the address

/** Run: start a scenario, watch it live, replay it. */
export class RunView {
  readonly element = h("div", { class: "view runs" });
  readonly replay = new Replay();
  readonly choices = new ChartChoices();
  readonly curves = new LiveCurves(this.choices);
  readonly mission = new MissionPanel(this.choices);
  readonly playback = new Playback(this.replay, { draw: () => this.draw(), settle: () => this.settle() });
  viewport!: Viewport;
  private roundTable = new RoundTable((id) => this.selectDevice(id === this.device ? null : id));
  private devicePanel = new DevicePanel(this.replay, this.choices, (id) => this.selectDevice(id));
  private header = new RunHeader({ about: () => this.openAbout(null), changed: () => void this.refreshRuns() });
  private listPanel = new RunListPanel({ select: (run) => this.select(run, true), filtered: () => this.filterRuns() });
  private about = new AboutDialog({ compareWith: (run) => this.openAbout(run), changed: () => void this.refreshRuns(),
    closed: () => updateAddress("run", { about: null, with: null }) });
  private events = new RunEvents(this.replay, { arrived: () => this.eventsArrived(),
    unreadable: () => this.showCover(statusMessage("error", "The run cannot be read", "It may have been removed.")) });
  private dialog: StartDialog;
  private scene!: NetworkScene;
  private cover = h("div", { class: "cover" });
  private list: RunList | null = null;
  private selected: RunInfo | null = null;
  private wanted: URLSearchParams | null = null; // the address, until the list of runs has come
  private device: string | null = null;
  private startedJob: string | null = null; // a job that has no run yet
  private timer = 0;
  private settling = 0;
  private visible = false;
  private answering = true; // whether the server does
  private followed = ""; // the run whose events are read

  constructor(planned: () => Promise<string>) {
    this.dialog = new StartDialog(planned, (job) => {
      this.startedJob = job;
      toast(`${job} has started`);
      void this.refreshRuns();
    });
    this.build();
    this.choices.onChange(() => updateAddress("run", this.choices.address()));
    document.addEventListener("visibilitychange", () => this.updateSubscriptions());
  }

  /** Opens the dialog that starts a run, with an example chosen. */
  openDialog(example: string): Promise<void> {
    return this.dialog.open(example);
  }

  get time(): number {
    return this.playback.time;
  }

  private build(): void {
    const host = h("div", { class: "viewport" });
    this.element.append(
      h("aside", { class: "panel left", "aria-label": "Runs" },
        h("div", { class: "row" }, h("h2", {}, "Runs"), button("New run", () => void this.dialog.open(), { icon: "plus", class: "main" })), this.listPanel.element),
      h("div", { class: "middle" }, this.header.element, host, this.playback.element),
      h("aside", { class: "panel right", "aria-label": "Curves" }, this.devicePanel.element, this.mission.element, this.curves.element, this.roundTable.element));
    try {
      this.viewport = new Viewport(host);
    } catch {
      setChildren(host, statusMessage("error", "No 3-D view", "This browser has no WebGL; the curves are still drawn."));
    }
    host.append(this.cover);
    if (!this.viewport) return;
    this.scene = new NetworkScene(this.viewport);
    toolbar(this.viewport);
    new Legend(this.scene);
    keepCamera(this.viewport, "run");
    onDeviceClick(this.viewport, () => this.scene.state, (id) => this.selectDevice(id));
    this.viewport.beforeFrame((now) => this.playback.advance(now));
  }

  async start(): Promise<void> {
    this.listPanel.showMessage(statusMessage("loading", "Looking for runs"));
    this.playback.show();
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

  /** Shows what the address says; the run as soon as the list of runs has come. */
  restore(parameters: URLSearchParams): void {
    this.choices.restore(parameters);
    this.listPanel.filter.value = parameters.get("filter") ?? "";
    this.wanted = parameters;
    if (this.list) this.showRuns();
  }

  /** Keeps streams open only while the view is visible: a browser has few connections. */
  private updateSubscriptions(): void {
    clearTimeout(this.timer);
    if (this.visible && !document.hidden) {
      void this.refreshRuns();
      if (this.selected && !this.events.open) this.follow(this.selected);
    } else {
      this.events.close();
      this.curves.close();
    }
  }

  // --- the list of runs and the chosen one -----------------------------------------------------------

  private async refreshRuns(): Promise<void> {
    clearTimeout(this.timer);
    try {
      this.list = await api.runs();
      this.answering = true;
      this.showRuns();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.answering = false;
      this.listPanel.showMessage(statusMessage("error", "The studio does not answer", error.message));
      this.showHeader();
    }
    if (this.visible && !document.hidden) this.timer = window.setTimeout(() => void this.refreshRuns(), REFRESH_MS);
  }

  private showRuns(): void {
    const list = this.list!;
    const readable = list.runs.filter((run) => !run.fault);
    const [wanted, name] = [this.wanted, this.wanted?.get("run") ?? null];
    this.wanted = null;
    const started = this.startedJob ? readable.find((run) => run.job === this.startedJob) : undefined;
    if (started) this.startedJob = null;
    const named = name ? readable.find((run) => run.run === name) : undefined;
    if (name && !named) {
      toast(`There is no run ${name} here`, "fault");
      updateAddress("run", { run: this.selected?.run ?? null, round: this.playback.chosenRound, device: this.device, about: null, with: null });
    }
    const current = readable.find((run) => run.run === this.selected?.run);
    if (this.selected && !current && !started && !named) toast(`${this.selected.run} is no longer there`);
    const next = started ?? named ?? current ?? readable.find((run) => run.run === list.opened) ?? readable[0] ?? null;
    const same = next?.run === this.selected?.run;
    const stopped = same && next?.status !== this.selected?.status;
    this.selected = same ? next : this.selected;
    if (stopped && this.replay.start && !this.replay.rounds.length && !this.replay.fault) this.showCover(this.noRound());
    if (next && !same) this.select(next, started !== undefined, name === next.run || !name ? wanted : null);
    else if (next && wanted && (named || !name)) this.restoreRun(wanted);
    if (!next) this.showNoRun(list);
    else this.listPanel.show(list, next.run);
    this.showHeader();
  }

  private showNoRun(list: RunList): void {
    if (this.selected) this.leaveRun();
    if (list.runs.length || list.jobs.length) {
      this.listPanel.show(list, null);
      this.showCover(statusMessage("loading", "A run is being prepared", "Its first round will be shown here."));
      return;
    }
    this.listPanel.showMessage(statusMessage("empty", "No run yet", `No run is recorded in ${list.runs_dir}. Start one here, or with scdn run.`,
      button("New run", () => void this.dialog.open(), { icon: "plus" })));
    this.showCover(statusMessage("empty", "Nothing to watch yet", "A run appears here when its first round is written."));
  }

  /** Forgets a run that was deleted. */
  private leaveRun(): void {
    this.events.close();
    this.curves.clear();
    [this.selected, this.device] = [null, null];
    this.replay.clear();
    this.playback.reset();
    this.scene?.draw(EMPTY_NETWORK);
    this.eventsArrived();
    updateAddress("run", { run: null, round: null, device: null });
  }

  private filterRuns(): void {
    updateAddress("run", { filter: this.listPanel.filter.value || null });
    if (this.list) this.listPanel.show(this.list, this.selected?.run ?? null);
  }

  /** Shows a run, at the round and with the device of an address if there is one. */
  private select(run: RunInfo, step: boolean, address: URLSearchParams | null = null): void {
    this.selected = run;
    this.device = null;
    this.follow(run);
    if (this.list) this.listPanel.show(this.list, run.run);
    this.showHeader();
    updateAddress("run", { run: run.run, round: address?.get("round") ?? null, device: address?.get("device") ?? null }, step);
    if (address) this.restoreRun(address);
  }

  private restoreRun(address: URLSearchParams): void {
    this.device = address.get("device");
    this.playback.seek(address.get("round"));
    this.showDevice();
    if (address.has("about")) this.openAbout(address.get("with"));
    else this.about.close();
  }

  private openAbout(other: string | null): void {
    if (!this.selected || !this.list) return;
    this.about.open(this.selected, this.list, other);
    updateAddress("run", { about: "", with: other });
  }

  private showHeader(): void {
    const job = this.list?.jobs.find((candidate) => candidate.job === this.selected?.job);
    this.header.show(this.selected, job, this.answering, this.selected ? timeLeft(this.selected, this.replay) : "", this.list?.runs_dir ?? "");
  }

  private showCover(shown: HTMLElement | null): void {
    setChildren(this.cover, shown);
    this.cover.hidden = shown === null;
  }

  // --- events as they come ---------------------------------------------------------------------------

  private follow(run: RunInfo): void {
    const round = this.playback.chosenRound; // a view that is shown again keeps its round
    const again = run.run === this.followed;
    this.followed = run.run;
    this.replay.clear();
    this.playback.reset();
    if (again) this.playback.seek(round);
    this.mission.show(this.replay);
    Object.assign(this.element.dataset, { rounds: "0", over: "false" }); // until the events of this run arrive
    this.scene?.draw(EMPTY_NETWORK);
    this.showCover(statusMessage("loading", "Reading the run"));
    this.curves.watch(run.study, run.run);
    this.events.follow(run.run);
  }

  private eventsArrived(): void {
    const { replay } = this;
    if (replay.rounds.length) this.viewport?.setRegion(replay.region);
    this.mission.show(replay);
    if (replay.fault) this.showCover(statusMessage("error", "This run is damaged", replay.fault));
    else this.showCover(replay.rounds.length ? null : this.noRound());
    this.devicePanel.show(this.device);
    this.playback.eventsArrived(this.selected?.rounds ?? 0, this.device);
    this.showHeader();
    Object.assign(this.element.dataset, { rounds: String(replay.rounds.length), over: String(replay.over) });
  }

  private noRound(): HTMLElement {
    const waits = this.selected?.status === "running" || this.selected?.status === "paused";
    return waits ? statusMessage("loading", "Waiting for the first round")
      : statusMessage("empty", "No round is recorded", "This run stopped before the end of its first round.");
  }

  // --- the round and the device ----------------------------------------------------------------------

  private selectDevice(id: string | null): void {
    if (id === this.device) return;
    this.device = id;
    updateAddress("run", { device: id }, true);
    this.showDevice();
  }

  private showDevice(): void {
    this.devicePanel.show(this.device);
    if (this.device) this.element.querySelector(".panel.right")!.scrollTop = 0;
    this.playback.timeline.update(this.playback.total, this.device);
    this.draw();
  }

  private settle(): void {
    clearTimeout(this.settling);
    this.settling = window.setTimeout(() => updateAddress("run", { round: this.playback.chosenRound }), SETTLE_MS);
  }

  private draw(): void {
    const { index } = this.playback;
    this.scene?.draw(this.replay.stateAt(this.time, this.device && `device:${this.device}`));
    this.playback.show();
    const marked = index < 0 ? null : this.time + 1;
    for (const part of [this.curves, this.mission, this.devicePanel]) part.mark(marked);
    this.roundTable.show(this.replay.rounds[index] ?? null, this.device);
  }
}
