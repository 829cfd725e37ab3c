import { h, setChildren } from "../dom";
import { digits, shortNumber } from "../format";
import type { RoundDevice, RoundEvent } from "../types";

const MAX_ROWS = 100; // more would slow down a replay

/** The devices of a round: what they did or why they rest, what they spent, and what their batteries have left. */
export class RoundTable {
  readonly element = h("section", { class: "round-devices", hidden: true });
  private table = h("table", { class: "devices" });
  private note = h("p", { class: "hint" });
  private shown: RoundEvent | null = null;

  constructor() {
    this.element.append(h("h3", {}, "Devices in this round"), h("div", { class: "scroll" }, this.table), this.note);
  }

  show(round: RoundEvent | null): void {
    if (round === this.shown) return;
    this.shown = round;
    this.element.hidden = !round?.devices.length;
    if (!round) return;
    const batteries = round.server.battery_j != null || round.devices.some((device) => device.battery_j != null);
    const heads = ["Device", "Iterations", "Energy", ...(batteries ? ["Battery"] : [])];
    const level = (joules: number | undefined) => (batteries ? h("td", {}, joules == null ? "–" : `${digits(joules)} J`) : null);
    const rows = round.devices.slice(0, MAX_ROWS).map((device) => h("tr", { class: device.active ? "" : "off" },
      h("th", { scope: "row" }, device.id), h("td", {}, deviceState(device, round)), h("td", {}, `${digits(spent(device))} J`), level(device.battery_j)));
    if (round.server.battery_j != null) {
      rows.push(h("tr", {}, h("th", { scope: "row" }, "server"), h("td"), h("td"), level(round.server.battery_j)));
    }
    setChildren(this.table, h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, ...rows));
    this.note.textContent = round.devices.length > MAX_ROWS ? `and ${round.devices.length - MAX_ROWS} more` : "";
  }
}

/** A device's iterations, or why it rests. */
function deviceState(device: RoundDevice, round: RoundEvent): string {
  if (round.link_failed.includes(device.id)) return "link failed";
  const active = device.active ?? round.active.includes(device.id);
  if (!active) return (device.reason ?? "rests").replaceAll("_", " ");
  return shortNumber(device.executed_iterations ?? device.iterations);
}

const spent = (device: RoundDevice): number =>
  (device.transmission_j ?? 0) + (device.processing_j ?? 0) + (device.circuit_j ?? 0) + (device.idle_j ?? 0);
