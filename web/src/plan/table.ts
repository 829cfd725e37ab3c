import { button, clear, h, say } from "../dom";
import { hertz, plural, seconds, watts, whole } from "../format";
import type { Device, DevicePlan, Point } from "../types";
import type { Model } from "./model";
import { seldom } from "./replan";

const ROWS = 100; // more would slow a drag; the rest is a click in the picture away
const HEADS = ["Device", "Iterations", "Power", "Clock", "Delay"];

/** What each device does, row by row. */
export class DeviceTable {
  readonly element: HTMLElement;
  private body = h("tbody");
  private note = h("p", { class: "hint" });
  private rows = new Map<string, HTMLTableRowElement>();

  constructor(readonly model: Model) {
    const head = h("thead", {}, h("tr", {}, ...HEADS.map((name) => h("th", { scope: "col" }, name))));
    this.element = h("div", { class: "scroll" }, h("table", { class: "devices" }, head, this.body), this.note);
    model.listen(() => this.mark());
  }

  show(): void {
    const plans = this.model.answer?.devices ?? [];
    const shown = plans.slice(0, ROWS);
    const same = shown.length === this.rows.size && shown.every((plan) => this.rows.has(plan.id));
    if (!same) this.rebuild(shown);
    for (const plan of shown) this.fill(this.rows.get(plan.id)!, plan);
    say(this.note, plans.length > ROWS
      ? `and ${plans.length - ROWS} more: select one in the picture.`
      : plans.length ? "" : "No device yet: add one.");
  }

  private rebuild(plans: DevicePlan[]): void {
    this.rows.clear();
    for (const plan of plans) {
      const choose = () => this.model.select(`device:${plan.id}`);
      const name = h("th", { scope: "row" }, h("button", { type: "button", class: "plain",
        onclick: choose }, plan.id));
      this.rows.set(plan.id, h("tr", { onclick: choose }, name,
        ...HEADS.slice(1).map(() => h("td"))));
    }
    clear(this.body, ...this.rows.values());
    this.mark();
  }

  private fill(row: HTMLTableRowElement, plan: DevicePlan): void {
    row.classList.toggle("off", !plan.active);
    const why = plan.reason === "out_of_reach" ? "out of reach" : "not worth it";
    const texts = plan.active
      ? [whole(plan.iterations), watts(plan.power_w), hertz(plan.cpu_hz), seconds(plan.delay_s ?? 0)]
      : [why, "", "", ""];
    texts.forEach((text, index) => say(row.cells[index + 1]!, text));
  }

  private mark(): void {
    for (const [id, row] of this.rows) {
      row.classList.toggle("chosen", this.model.selected === `device:${id}`);
    }
  }
}

const NUMBERS: [keyof Device & string, string, number][] = [
  ["max_power_w", "Transmit limit, W", 0.01],
  ["importance", "Importance", 0.1],
  ["survival", "Survival", 0.01],
  ["payload_bits", "Payload, bits", 1000],
];

/** What is selected, in numbers: the keyboard's way to move and change things. */
export class Inspector {
  readonly element = h("section", { class: "inspector", "aria-label": "Selected" });
  private shown = "";

  constructor(readonly model: Model) {
    const later = seldom(150, () => this.show());
    model.listen((what) => (what === "selection" ? this.show() : later()));
  }

  show(): void {
    const key = this.model.selected;
    const device = this.model.device();
    const typing = this.element.contains(document.activeElement) &&
      document.activeElement instanceof HTMLInputElement;
    if (typing && key === this.shown) return;
    this.shown = key ?? "";
    const spot = key ? this.model.place(key) : null;
    if (!key || !spot) {
      clear(this.element, h("p", { class: "hint" },
        "Drag a device or the server; Shift moves it up and down. Select one to see its numbers."));
      return;
    }
    const title = device ? device.id : key === "server" ? "Server, before the round"
      : key.startsWith("box") ? "Keep-out box" : "Candidate site";
    clear(this.element, h("header", {}, h("h3", {}, title),
      key === "server" ? null : button("Remove", () => this.model.remove(key), { icon: "cross" })),
    h("div", { class: "fields", "data-count": 3 }, ...["x", "y", "z"].map((name, axis) =>
      this.field(`${name}, m`, spot[axis]!, 1, (value) => {
        const to = [...this.model.place(key)!] as Point;
        to[axis] = value;
        this.model.move(key, to);
      }))),
    device ? h("div", { class: "fields", "data-count": 2 }, ...NUMBERS.map(([name, label, step]) =>
      this.field(label, device[name] as number, step, (value) =>
        this.model.change(() => { (this.model.device(key) as Record<string, unknown>)[name] = value; })))) : null);
  }

  private field(label: string, value: number, step: number, set: (value: number) => void): HTMLElement {
    const input = h("input", { type: "number", step: "any", "data-step": step,
      value: String(Number(value.toPrecision(6))),
      oninput: () => { if (input.value !== "") set(Number(input.value)); },
      onkeydown: (event: KeyboardEvent) => {
        const sign = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (!sign) return;
        event.preventDefault();
        input.value = String(Number((Number(input.value) + sign * step).toPrecision(6)));
        set(Number(input.value));
      } });
    return h("label", { class: "field" }, h("span", {}, label), input);
  }
}

export const countOf = (plans: DevicePlan[]): string =>
  `${plans.filter((plan) => plan.active).length} of ${plural(plans.length, "device")}`;
