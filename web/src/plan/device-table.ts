import { button, h, setChildren, setText } from "../dom";
import { hertz, plural, seconds, watts, shortNumber } from "../format";
import type { DevicePlan } from "../types";
import type { PlanModel } from "./plan-model";

const MAX_ROWS = 100; // more would slow down dragging
const COLUMNS = ["Device", "Iterations", "Power", "Clock", "Delay"];

/** The plan of each device, a row per device. */
export class DeviceTable {
  readonly element: HTMLElement;
  private body = h("tbody");
  private note = h("p", { class: "hint" });
  private server = button("Server", () => this.model.select("server"),
    { "aria-label": "Select the server", "aria-pressed": "false", title: "Select the server as it is before the round" });
  private rows = new Map<string, HTMLTableRowElement>();

  constructor(readonly model: PlanModel) {
    const head = h("thead", {}, h("tr", {}, ...COLUMNS.map((name) => h("th", { scope: "col" }, name))));
    this.element = h("section", { class: "device-list", "aria-label": "Devices" },
      h("div", { class: "row" }, h("h3", {}, "Devices"), this.server),
      h("div", { class: "scroll" }, h("table", { class: "devices" }, head, this.body), this.note));
    model.onChange(() => this.markSelected());
  }

  show(): void {
    const plans = this.model.plan?.devices ?? [];
    const shown = plans.slice(0, MAX_ROWS);
    const same = shown.length === this.rows.size && shown.every((plan) => this.rows.has(plan.id));
    if (!same) this.rebuild(shown);
    for (const plan of shown) this.fill(this.rows.get(plan.id)!, plan);
    setText(this.note, plans.length > MAX_ROWS
      ? `and ${plans.length - MAX_ROWS} more: select one in the scene.`
      : plans.length ? "" : "There is no device yet: add one.");
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
    this.server.setAttribute("aria-pressed", String(this.model.selected === "server"));
    for (const [id, row] of this.rows) {
      row.classList.toggle("selected", this.model.selected === `device:${id}`);
    }
  }
}

export const activeCount = (plans: DevicePlan[]): string =>
  `${plans.filter((plan) => plan.active).length} of ${plural(plans.length, "device")}`;
