import { Chart } from "../chart";
import type { Curve } from "../chart";
import { h, setText } from "../dom";
import type { ChartChoices } from "./chart-choices";

/** A titled chart over rounds: drag to zoom, or make its axis logarithmic. */
export class RoundChart {
  readonly element: HTMLElement;
  readonly chart: Chart;
  private title = h("h3");
  private log: HTMLButtonElement;
  private empty = h("p", { class: "hint", role: "status", hidden: true }, "No value is above 0, so a logarithmic axis has nothing to show.");
  private curves: Curve[] = [];

  constructor(readonly name: string, private choices: ChartChoices,
    options: { height?: number; fromZero?: boolean; legend?: boolean } = {}) {
    this.chart = new Chart({ x: "round", y: "", height: options.height ?? 176, fromZero: options.fromZero, rounds: true,
      legend: options.legend ?? false, onZoom: (range) => choices.setZoom(range) });
    this.log = h("button", { type: "button", class: "log-axis", onclick: () => choices.toggleLog(name) }, "log");
    this.element = h("section", { class: "round-chart" }, h("header", {}, this.title, this.log), this.empty, this.chart.element);
    choices.onChange(() => this.draw());
  }

  show(title: string, curves: Curve[]): void {
    this.curves = curves;
    setText(this.title, title);
    this.log.setAttribute("aria-label", `Logarithmic axis: ${title}`);
    this.draw();
  }

  mark(round: number | null): void {
    this.chart.mark(round);
  }

  private draw(): void {
    const { log, zoom } = this.choices;
    this.log.setAttribute("aria-pressed", String(log.has(this.name)));
    const values = this.curves.flatMap((curve) => curve.y).filter((value) => value !== null);
    this.empty.hidden = !log.has(this.name) || !values.length || values.some((value) => value > 0);
    this.chart.zoom(zoom);
    if (this.title.textContent) this.chart.show(this.curves, { logX: log.has("rounds"), logY: log.has(this.name) });
  }
}
