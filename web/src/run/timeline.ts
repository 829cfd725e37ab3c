import { h, setText } from "../dom";
import { onThemeChange } from "../theme";
import type { Replay } from "./replay";
import { devicesHeight, drawTimeline, hasBars, LANE_PX, LANES } from "./timeline-picture";

const REPLAN = "replan: the server moved (> 1 m) or a device was switched on or off";

const key = (kind: string, text: string): HTMLElement => h("span", { class: `key ${kind}` }, h("i"), text);

/** All rounds of a run in one strip, which is also the slider that chooses the round. */
export class Timeline {
  readonly element: HTMLElement;
  private canvas = h("canvas", { "aria-hidden": "true" });
  private marker = h("i", { class: "timeline-marker", hidden: true });
  private slider = h("div", { class: "strip", role: "slider", "aria-label": "Round", "aria-orientation": "horizontal", "aria-valuemin": 1 },
    this.canvas, this.marker);
  private devicesLabel = h("span", { class: "devices-lane" }, "devices");
  private barsKey = h("span", { class: "keys" }, key("active", "active"), key("off", "rests"), key("failed", "link failed"));
  private total = 1;
  private width = 0;
  private time = 0;
  private shownRound = -1;
  private selected: string | null = null;
  private drawScheduled = false;
  private pointerX: number | null = null; // where a drag has got to, until the next frame

  constructor(private replay: Replay, private hooks: { scrub: (index: number) => void; settle: () => void }) {
    this.element = h("div", { class: "timeline" },
      h("div", { class: "lanes", "aria-hidden": "true" }, ...LANES.map(({ name, colour }) => h("span", { class: colour }, name)), this.devicesLabel),
      this.slider, h("p", { class: "timeline-legend" }, this.barsKey, h("span", {}, REPLAN)));
    this.element.style.setProperty("--lane", `${LANE_PX}px`);
    new ResizeObserver(() => this.redraw()).observe(this.slider);
    onThemeChange(() => this.redraw());
    this.listen();
  }

  private listen(): void {
    const { slider } = this;
    slider.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.replay.rounds.length) return;
      slider.setPointerCapture(event.pointerId);
      this.dragTo(event);
    });
    slider.addEventListener("pointermove", (event) => {
      if (slider.hasPointerCapture(event.pointerId)) this.dragTo(event);
      else slider.title = this.describe(this.indexAt(event.clientX), this.deviceAt(event.clientY));
    });
    slider.addEventListener("lostpointercapture", () => this.hooks.settle());
    slider.addEventListener("keydown", (event) => this.pressed(event));
  }

  /** Moves once a frame: a pointer may report its place more often. */
  private dragTo(event: PointerEvent): void {
    const waiting = this.pointerX !== null;
    this.pointerX = event.clientX;
    if (waiting) return;
    requestAnimationFrame(() => {
      this.hooks.scrub(this.indexAt(this.pointerX!));
      this.pointerX = null;
    });
  }

  private pressed(event: KeyboardEvent): void {
    const [last, index] = [this.replay.rounds.length - 1, Math.floor(this.time)];
    const page = Math.max(5, Math.round(last / 10));
    const targets: Record<string, number> = { ArrowLeft: index - 1, ArrowDown: index - 1, ArrowRight: index + 1, ArrowUp: index + 1,
      PageDown: index - page, PageUp: index + page, Home: 0, End: last };
    const target = targets[event.key];
    if (target === undefined || last < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.hooks.scrub(Math.min(Math.max(target, 0), last));
    this.hooks.settle();
  }

  private indexAt(clientX: number): number {
    const box = this.slider.getBoundingClientRect();
    const index = Math.floor((clientX - box.left) / box.width * this.total);
    return Math.min(Math.max(index, 0), Math.max(this.replay.rounds.length - 1, 0));
  }

  private deviceAt(clientY: number): string | undefined {
    const { devices } = this.replay;
    const y = clientY - this.slider.getBoundingClientRect().top - LANES.length * LANE_PX;
    return y >= 0 && hasBars(devices.length) ? devices[Math.floor(y / devicesHeight(devices.length) * devices.length)] : undefined;
  }

  private describe(index: number, device?: string): string {
    const text = this.replay.happenings(index);
    return `round ${index + 1} of ${this.total}${text ? `: ${text}` : ""}${device ? `\n${device}` : ""}`;
  }

  /** Draws the strip again soon: the run has grown, or another device is selected. */
  update(total: number, selected: string | null): void {
    this.total = Math.max(total, this.replay.rounds.length, 1);
    this.selected = selected;
    this.shownRound = -1;
    this.redraw();
  }

  private redraw(): void {
    if (this.drawScheduled) return;
    this.drawScheduled = true;
    requestAnimationFrame(() => {
      this.drawScheduled = false;
      this.width = this.slider.clientWidth;
      if (!this.width) return;
      drawTimeline(this.canvas, this.replay, this.total, this.selected, this.width);
      const bars = hasBars(this.replay.devices.length);
      this.devicesLabel.style.height = `${devicesHeight(this.replay.devices.length)}px`;
      setText(this.devicesLabel, bars ? "devices" : "present");
      this.mark(this.time);
    });
  }

  /** Moves the marker to a time in rounds; nothing else is drawn. */
  mark(time: number): void {
    this.time = time;
    const count = this.replay.rounds.length;
    const index = Math.min(Math.floor(time), count - 1);
    const cell = this.width / this.total;
    this.marker.hidden = count === 0;
    this.marker.style.transform = `translateX(${((time + 0.5) * cell).toFixed(1)}px)`;
    if (index === this.shownRound) return;
    this.shownRound = index;
    this.slider.tabIndex = count ? 0 : -1;
    const values: Record<string, string> = { "aria-valuemax": String(Math.max(count, 1)), "aria-valuenow": String(Math.max(index + 1, 1)),
      "aria-valuetext": count ? this.describe(index) : "no round yet", "aria-disabled": String(count === 0) };
    for (const [name, value] of Object.entries(values)) this.slider.setAttribute(name, value);
  }
}
