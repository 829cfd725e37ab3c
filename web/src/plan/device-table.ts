import { button, h, setChildren, setText } from "../dom";
import { hertz, plural, seconds, watts, shortNumber } from "../format";
import type { DevicePlan } from "../types";
import { plansById } from "./device-finder";
import type { DeviceFinder } from "./device-finder";
import type { PlanModel } from "./plan-model";

const MAX_ROWS = 100; // more would slow down dragging
const COLUMNS = ["Device", "Iterations", "Power", "Clock", "Delay"];

/** The plan of each device that is looked for, a row per device. */
export class DeviceTable {
  readonly element: HTMLElement;
  private title = h("h3");
  private body = h("tbody");
  private note = h("p", { class: "hint" });
  private servers = [
    this.serverButton("server", "Server", "Select the server", "Select the server as it is before the round"),
    this.serverButton("planned", "Planned", "Select the planned server", "Select the planned server, to see what another place would cost"),
  ] as const;
  private rows = new Map<string, HTMLTableRowElement>();

  constructor(readonly model: PlanModel, readonly finder: DeviceFinder) {
    const head = h("thead", {}, h("tr", {}, ...COLUMNS.map((name) => h("th", { scope: "col" }, name))));
    this.element = h("section", { class: "device-list", "aria-label": "Devices" },
      h("div", { class: "row" }, this.title, h("span", { class: "buttons" }, ...this.servers)), finder.element,
      h("div", { class: "scroll" }, h("table", { class: "devices" }, head, this.body), this.note));
    model.onChange(() => this.markSelected());
  }

  private serverButton(key: string, caption: string, label: string, title: string): HTMLButtonElement {
    return button(caption, () => this.model.select(key), { "aria-label": label, "aria-pressed": "false", title });
  }

  show(): void {
    const { shownPlan, whatIf } = this.model;
    this.finder.update();
    setText(this.title, whatIf ? "Devices, with the server here" : "Devices");
    const plans = plansById(shownPlan);
    const found = this.finder.found.map(({ id }) => plans.get(id)).filter((plan): plan is DevicePlan => !!plan);
    const ordered = found.length > MAX_ROWS ? [...found.filter(({ active }) => !active), ...found.filter(({ active }) => active)] : found;
    const shown = ordered.slice(0, MAX_ROWS);
    const same = shown.length === this.rows.size && shown.every((plan) => this.rows.has(plan.id));
    if (!same) this.rebuild(shown);
    for (const plan of shown) this.fill(this.rows.get(plan.id)!, plan);
    setText(this.note, found.length > MAX_ROWS
      ? `and ${found.length - MAX_ROWS} more: find one by its name, or select it in the scene.`
      : this.model.request.devices.length ? "" : "There is no device yet: add one.");
  }

  private rebuild(plans: DevicePlan[]): void {
    this.rows.clear();
    for (const plan of plans) {
      const select = () => this.model.select(`device:${plan.id}`);
      const name = h("th", { scope: "row" }, h("button", { type: "button", class: "plain",
        onclick: select }, plan.id));
      this.rows.set(plan.id, h("tr", { onclick: select }, name,
        ...COLUMNS.slice(1).map(() => h("td"))));
    }
    setChildren(this.body, ...this.rows.values());
    this.markSelected();
  }

  private fill(row: HTMLTableRowElement, plan: DevicePlan): void {
    row.classList.toggle("off", !plan.active);
    const texts = plan.active
      ? [shortNumber(plan.iterations), watts(plan.power_w), hertz(plan.cpu_hz), seconds(plan.delay_s ?? 0)]
      : [(plan.reason ?? "").replaceAll("_", " ")];
    row.cells[1]!.colSpan = COLUMNS.length - texts.length;
    COLUMNS.slice(1).forEach((_, index) => {
      const cell = row.cells[index + 1]!;
      cell.hidden = index >= texts.length;
      setText(cell, texts[index] ?? "");
    });
  }

  private markSelected(): void {
    const { selected } = this.model;
    ["server", "planned"].forEach((key, index) => this.servers[index]!.setAttribute("aria-pressed", String(selected === key)));
    for (const [id, row] of this.rows) row.classList.toggle("selected", selected === `device:${id}`);
  }
}

export const activeCount = (plans: DevicePlan[]): string =>
  `${plans.filter((plan) => plan.active).length} of ${plural(plans.length, "device")}`;
