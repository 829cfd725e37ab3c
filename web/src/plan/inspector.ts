import { button, h, setChildren } from "../dom";
import type { Device, Position } from "../types";
import { NumberField } from "./number-field";
import { inRange, NOT_NEGATIVE, PROBABILITY } from "./number-rules";
import type { NumberRule } from "./number-rules";
import type { PlanModel } from "./plan-model";
import { throttle } from "./throttle";

const DEVICE_FIELDS: [keyof Device & string, string, number, NumberRule][] = [
  ["max_power_w", "Transmit limit, W", 0.01, NOT_NEGATIVE],
  ["importance", "Importance", 0.1, NOT_NEGATIVE],
  ["survival", "Survival", 0.01, PROBABILITY],
  ["payload_bits", "Payload, bits", 1000, NOT_NEGATIVE],
];

/** The numbers of the selected device, server, box or site, to be edited by keyboard. */
export class Inspector {
  readonly element = h("section", { class: "inspector", "aria-label": "Selected" });
  private shownKey = "";

  constructor(readonly model: PlanModel) {
    // A field that is left tells its change before the next one has the focus, which new fields would take away.
    const showSoon = throttle(150, () => window.setTimeout(() => this.show()));
    model.onChange((change) => (change === "selection" ? this.show() : showSoon()));
  }

  show(): void {
    const key = this.model.selected;
    const device = this.model.device();
    const typing = this.element.contains(document.activeElement) &&
      document.activeElement instanceof HTMLInputElement;
    if (typing && key === this.shownKey) return;
    this.shownKey = key ?? "";
    const position = key ? this.model.position(key) : null;
    if (!key || !position) {
      setChildren(this.element, h("p", { class: "hint" },
        "Drag a device or a server; hold Shift to move it up and down. Select one to edit its numbers."));
      return;
    }
    const centre = key.startsWith("box:") ? "centre " : "";
    setChildren(this.element, h("header", {}, h("h3", {}, titleOf(key)),
      key === "server" || key === "planned" ? null : button("Remove", () => this.model.remove(key), { icon: "cross" })),
    key === "planned" ? h("p", { class: "hint" }, "Move it to see what another place would cost; Escape brings it back.") : null,
    h("div", { class: "fields", "data-count": 3 }, ...["x", "y", "z"].map((name, axis) =>
      this.field(`${centre}${name}, m`, () => this.model.position(key)?.[axis] ?? 0, 1, inRange(this.model.request.region_m[axis]!), (value) => {
        const to = [...this.model.position(key)!] as Position;
        to[axis] = value;
        this.model.move(key, to);
      }))),
    device ? h("div", { class: "fields", "data-count": 2 }, ...DEVICE_FIELDS.map(([name, label, step, rule]) =>
      this.field(label, () => (this.model.device(key) ?? device)[name] as number, step, rule, (value) =>
        this.model.change(() => { (this.model.device(key) as Record<string, unknown>)[name] = value; })))) : null);
  }

  private field(label: string, current: () => number, step: number, rule: NumberRule, set: (value: number) => void): HTMLElement {
    const { input, message } = new NumberField(label, rule, current, set,
      { step, whileTyping: true, attributes: { "data-step": step } });
    return h("label", { class: "field" }, h("span", {}, label), input, message);
  }
}

function titleOf(key: string): string {
  if (key === "server") return "Server, before the round";
  if (key === "planned") return "Planned server";
  const [kind, name] = [key.slice(0, key.indexOf(":")), key.slice(key.indexOf(":") + 1)];
  return kind === "device" ? name : `${kind === "box" ? "Keep-out box" : "Candidate site"} ${Number(name) + 1}`;
}
