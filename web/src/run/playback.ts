import { button, h, icon, setChildren, setText } from "../dom";
import type { Replay } from "./replay";
import { Timeline } from "./timeline";

const SPEEDS = [1, 2, 4, 10, 30]; // rounds a second

/** The time of a replay: the timeline, play and live buttons, and a sentence on the round. */
export class Playback {
  readonly element: HTMLElement;
  readonly timeline: Timeline;
  time = 0; // in rounds, between two of them while it moves
  total = 0; // rounds that the timeline has room for
  live = true; // shows the last round, also when another one comes
  private playing = false;
  private speed = 4;
  private wanted: number | null = null; // a round of the address that has not arrived yet
  private lastFrame = 0;
  private round = h("output", { class: "round" }, "–");
  private summary = h("p", { class: "summary" });
  private play = button("Play", () => this.togglePlay(), { icon: "play", quiet: true });
  private liveButton = button("Live", () => this.goLive(), { "aria-pressed": "true" });

  /** `draw` is called when the time has changed, `settle` when a person has chosen a round. */
  constructor(private replay: Replay, private hooks: { draw: () => void; settle: () => void }) {
    this.timeline = new Timeline(replay, { scrub: (index) => this.scrub(index), settle: hooks.settle });
    const speed = h("select", { "aria-label": "Speed", onchange: () => { this.speed = Number(speed.value); } },
      ...SPEEDS.map((value) => h("option", { value, selected: value === this.speed }, `${value} rounds/s`)));
    this.element = h("div", { class: "playback" }, this.timeline.element,
      h("div", { class: "bar replay" }, this.play, this.round, speed, this.liveButton), this.summary);
  }

  /** The round that is shown, from 0; -1 before there is one. */
  get index(): number {
    return Math.min(Math.floor(this.time), this.replay.rounds.length - 1);
  }

  /** The round for the address, from 1; null where the last one is followed. */
  get chosenRound(): string | null {
    return this.wanted !== null ? String(this.wanted + 1) : this.live || this.index < 0 ? null : String(this.index + 1);
  }

  /** Begins with another run. */
  reset(): void {
    [this.live, this.playing, this.time, this.wanted] = [true, false, 0, null];
  }

  /** Shows a round of the address, as soon as it has arrived; null follows the last one. */
  seek(round: string | null): void {
    const index = /^\d{1,7}$/.test(round ?? "") ? Math.max(Number(round) - 1, 0) : null;
    [this.wanted, this.live, this.playing] = [index, index === null, false];
    if (this.replay.rounds.length) this.arrive();
  }

  /** Follows the run as it grows. */
  eventsArrived(total: number, selected: string | null): void {
    const { rounds, over } = this.replay;
    this.total = over ? rounds.length : Math.max(total, rounds.length);
    this.timeline.update(this.total, selected);
    this.arrive();
  }

  /** Goes to the round that is wanted, or to the last one. */
  private arrive(): void {
    const { rounds, over } = this.replay;
    const last = Math.max(rounds.length - 1, 0);
    if (this.wanted !== null && (over || rounds.length > this.wanted)) {
      const beyond = this.wanted > last;
      [this.time, this.wanted] = [Math.min(this.wanted, last), null];
      if (beyond) this.hooks.settle(); // the address names the round that is shown
    }
    if (this.live && (over || last - this.time > 3)) this.time = Math.max(this.time, over ? last : last - 1);
    this.hooks.draw();
  }

  private scrub(index: number): void {
    [this.live, this.playing, this.wanted] = [false, false, null];
    if (index === this.time) return;
    this.time = index;
    this.hooks.draw();
  }

  private togglePlay(): void {
    this.playing = !this.playing;
    [this.live, this.wanted] = [false, null];
    if (this.playing && this.time >= this.replay.rounds.length - 1) this.time = 0;
    this.hooks.draw();
    this.hooks.settle();
  }

  private goLive(): void {
    [this.live, this.playing, this.time, this.wanted] = [true, false, Math.max(this.replay.rounds.length - 1, 0), null];
    this.hooks.draw();
    this.hooks.settle();
  }

  /** Advances the time before each frame while a replay plays or a live round arrives; whether it did. */
  advance(now: number): boolean {
    const passed = Math.min(now - this.lastFrame, 100) / 1000;
    this.lastFrame = now;
    const last = this.replay.rounds.length - 1;
    if (!((this.playing || this.live) && this.time < last)) {
      if (this.playing && last >= 0) {
        this.playing = false;
        this.show();
        this.hooks.settle();
      }
      return false;
    }
    const pace = this.playing ? this.speed : Math.max(1.5, last - this.time);
    this.time = Math.min(last, this.time + passed * pace);
    this.hooks.draw();
    return true;
  }

  show(): void {
    const { index } = this;
    for (const control of [this.play, this.liveButton]) control.disabled = index < 0;
    this.timeline.mark(this.time);
    setText(this.round, index < 0 ? "–" : `round ${index + 1} of ${this.total}`);
    setText(this.summary, this.replay.roundSummary(index));
    const name = this.playing ? "pause" : "play";
    if (this.play.dataset.icon !== name) {
      this.play.dataset.icon = name;
      setChildren(this.play, icon(name));
      this.play.setAttribute("aria-label", this.playing ? "Pause the replay" : "Play");
    }
    this.liveButton.setAttribute("aria-pressed", String(this.live));
  }
}
