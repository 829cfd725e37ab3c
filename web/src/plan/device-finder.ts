import type { AddressChange } from "../address";
import { button, h, setText } from "../dom";
import { plural } from "../format";
import type { Device, DevicePlan, Plan } from "../types";
import type { PlanModel } from "./plan-model";

interface Filter {
  name: string;
  are: string; // in a sentence, such as "2 of 500 devices are off."
  accepts: (device: Device, plan: DevicePlan | undefined) => boolean;
}

const becauseOf = (name: NonNullable<DevicePlan["reason"]>, are: string): Filter =>
  ({ name, are, accepts: (_, plan) => plan?.reason === name });

const FILTERS: Filter[] = [
  { name: "all", are: "are there", accepts: () => true },
  { name: "active", are: "are active", accepts: (_, plan) => plan?.active === true },
  { name: "off", are: "are off", accepts: (_, plan) => plan?.active === false },
  becauseOf("out_of_reach", "are out of reach"),
  becauseOf("clock_too_slow", "have too slow a clock"),
  becauseOf("battery", "save their batteries"),
  becauseOf("not_worth_it", "are not worth their energy"),
  { name: "flying", are: "fly", accepts: (device) => device.position_m[2] > 0 },
];
const OFF = FILTERS[2]!;

/** Finds devices by name, state or reason; the others are dimmed in the scene. */
export class DeviceFinder {
  readonly element: HTMLElement;
  found: Device[] = [];
  private filter = FILTERS[0]!;
  private text = "";
  private search = h("input", { type: "search", "aria-label": "Find a device", placeholder: "Find by name", maxlength: 80 });
  private select = h("select", { "aria-label": "Show devices that are" });
  private count = h("span", { role: "status" });
  private next = button("Show next", () => this.showNext(), {});
  private clear = button("All", () => this.set("all", ""), { "aria-label": "Show all devices", title: "Show all devices" });
  private options = FILTERS.map(({ name }) => h("option", { value: name }));

  constructor(readonly model: PlanModel, readonly hooks: { change: () => void; show: (device: Device) => void }) {
    this.select.append(...this.options);
    this.select.addEventListener("change", () => this.set(this.select.value, this.text));
    this.search.addEventListener("input", () => this.set(this.filter.name, this.search.value));
    this.search.addEventListener("keydown", (event) => { if (event.key === "Enter") this.showNext(); });
    this.element = h("div", { class: "finder" }, this.search, this.select, this.count,
      h("span", { class: "buttons" }, this.clear, this.next));
  }

  /** Whether only some of the devices are looked for. */
  get narrow(): boolean {
    return this.filter.name !== "all" || this.text.trim() !== "";
  }

  set(name: string, text: string): void {
    this.filter = FILTERS.find((filter) => filter.name === name) ?? FILTERS[0]!;
    this.text = text;
    if (this.search.value !== text) this.search.value = text;
    this.hooks.change();
  }

  /** Finds the devices again, after a change of the network or its plan. */
  update(): void {
    const { request, shownPlan } = this.model;
    const plans = plansById(shownPlan);
    const searched = this.text.trim().toLowerCase();
    this.found = request.devices.filter((device) => this.filter.accepts(device, plans.get(device.id)) &&
      (!searched || device.id.toLowerCase().includes(searched)));
    const counts = FILTERS.map((filter) => request.devices.filter((device) => filter.accepts(device, plans.get(device.id))).length);
    FILTERS.forEach(({ name }, index) => {
      const option = this.options[index]!;
      setText(option, `${name.replaceAll("_", " ")} (${counts[index]})`);
      option.hidden = counts[index] === 0 && name !== "all" && name !== "off" && name !== this.filter.name;
    });
    this.select.value = this.filter.name;
    const off = counts[FILTERS.indexOf(OFF)]!;
    const total = plural(request.devices.length, "device");
    const named = searched ? ` and have “${this.text.trim()}” in their name` : "";
    setText(this.count, this.narrow ? `${this.found.length} of ${total} ${this.filter.name === "all" ? named.replace(" and ", "") : this.filter.are + named}.`
      : `${off} of ${total} ${off === 1 ? "is" : "are"} off.`);
    this.next.disabled = this.narrow ? !this.found.length : !off;
    this.next.title = this.narrow ? "Show the next of these in the scene" : "Show the next device that is off in the scene";
    this.next.setAttribute("aria-label", this.next.title);
    this.clear.hidden = !this.narrow;
  }

  /** Selects the next device that was found, and shows it; of all devices the next one that is off. */
  private showNext(): void {
    if (!this.narrow) this.set(OFF.name, "");
    const at = this.found.findIndex(({ id }) => this.model.selected === `device:${id}`);
    const device = this.found[(at + 1) % this.found.length];
    if (!device) return;
    this.model.select(`device:${device.id}`);
    this.hooks.show(device);
  }

  address(): AddressChange {
    return { filter: this.filter.name === "all" ? null : this.filter.name, find: this.text.trim() || null };
  }

  restore(parameters: URLSearchParams): void {
    this.set(parameters.get("filter") ?? "all", parameters.get("find") ?? "");
  }
}

export const plansById = (plan: Plan | null): Map<string, DevicePlan> =>
  new Map((plan?.devices ?? []).map((device) => [device.id, device]));
