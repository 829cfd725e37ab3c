import type { Curve } from "../chart";
import { button, h, setChildren, setText } from "../dom";
import { colour, onThemeChange } from "../theme";
import type { ChartChoices } from "./chart-choices";
import { deviceCurves } from "./device-curves";
import type { Replay } from "./replay";
import { RoundChart } from "./round-chart";

/** The curves of one device over the rounds of a run. */
export class DevicePanel {
  readonly element = h("section", { class: "device-panel", "aria-label": "Device", hidden: true });
  private select = h("select", { "aria-label": "Device", onchange: () => this.onSelect(this.select.value) });
  private presence = h("p", { class: "hint" });
  private missing = h("p", { class: "hint" });
  private charts = new Map<string, RoundChart>();
  private host = h("div");
  private device: string | null = null;

  constructor(private replay: Replay, private choices: ChartChoices, private onSelect: (id: string | null) => void) {
    this.element.append(h("header", {}, this.select, button("Close the device", () => onSelect(null), { icon: "cross", quiet: true })),
      this.presence, this.host, this.missing);
    onThemeChange(() => this.show(this.device));
  }

  show(device: string | null): void {
    this.device = device;
    this.element.hidden = device === null || !this.replay.rounds.length;
    if (device === null || this.element.hidden) return;
    this.fillSelect(device);
    setText(this.presence, presence(this.replay, device));
    const curves = deviceCurves(this.replay, device);
    for (const { name, title, lines } of curves) {
      const chart = this.chart(name);
      chart.element.hidden = !lines.length;
      if (!lines.length) continue;
      chart.show(title, lines.map(({ label, y, planned }): Curve => ({ label, y, gaps: true, x: y.map((_, index) => index + 1),
        colour: colour(planned ? "faint" : "device"), dash: planned ? [4, 4] : undefined, width: planned ? 1.4 : 2 })));
    }
    const missing = curves.filter(({ lines }) => !lines.length).map(({ missing }) => missing);
    setText(this.missing, missing.length ? `Not recorded: ${missing.join("; ")}.` : "");
  }

  mark(round: number | null): void {
    if (!this.element.hidden) this.charts.forEach((chart) => chart.mark(round));
  }

  private chart(name: string): RoundChart {
    let chart = this.charts.get(name);
    if (!chart) {
      chart = new RoundChart(`device-${name}`, this.choices, { height: 140, fromZero: true, legend: true });
      this.charts.set(name, chart);
      this.host.append(chart.element);
    }
    return chart;
  }

  private fillSelect(device: string): void {
    const ids = this.replay.devices.includes(device) ? this.replay.devices : [device, ...this.replay.devices];
    if (this.select.options.length !== ids.length || ids.some((id, at) => this.select.options[at]!.value !== id)) {
      setChildren(this.select, ...ids.map((id) => h("option", { value: id }, id)));
    }
    this.select.value = device;
  }
}

/** The rounds in which a device was present, in words. */
function presence(replay: Replay, device: string): string {
  const spans: string[] = [];
  let from = -1;
  replay.rounds.forEach((_, index) => {
    const here = replay.deviceAt(index, device) !== undefined;
    if (here && from < 0) from = index;
    if (from < 0) return;
    const [ended, last] = [!here, index === replay.rounds.length - 1];
    if (!ended && !last) return;
    const to = ended ? index - 1 : index;
    const left = replay.rounds[to]!.exited.includes(device) ? ", then it left" : "";
    spans.push(`${from === to ? `round ${from + 1}` : `rounds ${from + 1} to ${to + 1}`}${left}`);
    from = -1;
  });
  return spans.length ? `Present in ${spans.join("; ")}.` : "It was in no round of this run.";
}
