import { h, setChildren, setText } from "../dom";
import { digits, shortNumber } from "../format";
import type { RoundDevice, RoundEvent } from "../types";

const MAX_ROWS = 100; // more would slow down a replay
const HEADS = ["Device", "Iterations", "Energy", "Battery"];

/** The devices of a round: what they did or why they rest, what they spent, and what their batteries have left. */
export class RoundTable {
  readonly element = h("section", { class: "round-devices", hidden: true });
  private body = h("tbody");
  private table = h("table", { class: "devices" }, h("thead", {}, h("tr", {}, ...HEADS.map((head) => h("th", { scope: "col" }, head)))), this.body);
  private note = h("p", { class: "hint" });
  private rows: HTMLTableRowElement[] = [];
  private shown: RoundEvent | null = null;
  private selected: string | null = null;

  constructor(private onSelect: (id: string) => void) {
    this.element.append(h("h3", {}, "Devices in this round"), h("div", { class: "scroll" }, this.table), this.note);
  }

  show(round: RoundEvent | null, selected: string | null): void {
    if (round === this.shown && selected === this.selected) return;
    [this.shown, this.selected] = [round, selected];
    this.element.hidden = !round?.devices.length;
    if (!round) return;
    const devices = round.devices.slice(0, MAX_ROWS);
    this.table.classList.toggle("no-battery", round.server.battery_j == null && round.devices.every((device) => device.battery_j == null));
    const count = devices.length + (round.server.battery_j == null ? 0 : 1);
    while (this.rows.length < count) this.rows.push(this.emptyRow());
    if (this.body.rows.length !== count) setChildren(this.body, ...this.rows.slice(0, count));
    devices.forEach((device, index) => this.fill(this.rows[index]!, device, round));
    if (count > devices.length) fillServer(this.rows[devices.length]!, round.server.battery_j!);
    setText(this.note, round.devices.length > MAX_ROWS ? `and ${round.devices.length - MAX_ROWS} more` : "");
  }

  /** Rows are used again for other rounds, so that a replay is cheap. */
  private emptyRow(): HTMLTableRowElement {
    const name = h("button", { type: "button", class: "plain", title: "Show the curves of this device", onclick: () => this.onSelect(name.textContent!) });
    return h("tr", {}, h("th", { scope: "row" }, name), ...HEADS.slice(1).map(() => h("td")));
  }

  private fill(row: HTMLTableRowElement, device: RoundDevice, round: RoundEvent): void {
    const name = row.cells[0]!.firstElementChild as HTMLButtonElement;
    const chosen = device.id === this.selected;
    const kind = `${device.active ? "" : "off"}${chosen ? " selected" : ""}`;
    if (row.className !== kind) row.className = kind;
    if (name.disabled) name.disabled = false;
    if (name.getAttribute("aria-pressed") !== String(chosen)) name.setAttribute("aria-pressed", String(chosen));
    setText(name, device.id);
    setText(row.cells[1]!, deviceState(device, round));
    setText(row.cells[2]!, `${digits(spent(device))} J`);
    setText(row.cells[3]!, device.battery_j == null ? "–" : `${digits(device.battery_j)} J`);
  }
}

function fillServer(row: HTMLTableRowElement, battery: number): void {
  const name = row.cells[0]!.firstElementChild as HTMLButtonElement;
  [row.className, name.disabled] = ["server-row", true];
  ["server", "", "", `${digits(battery)} J`].forEach((text, index) => setText(index ? row.cells[index]! : name, text));
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
