import { api } from "../api";
import { Chart } from "../chart";
import type { Curve } from "../chart";
import { clear, h } from "../dom";
import { looks, onTheme } from "../theme";
import type { PointsMessage, RoundPoint } from "../types";

interface Line {
  method: string;
  seed: number;
  points: RoundPoint[];
}

const METRICS: [keyof RoundPoint, string][] = [["top3", "Top-3 accuracy, %"], ["top1", "Top-1 accuracy, %"],
  ["mse", "Mean squared error"], ["test_loss", "Test loss"]];

/** Accuracy, energy and iterations of every run of a comparison, as they grow. */
export class RunCurves {
  readonly element = h("div", { class: "curves" });
  private lines = new Map<string, Line>();
  private source: EventSource | null = null;
  private metric = new Chart({ x: "round", y: "", height: 190, rounds: true, legend: false });
  private joules = new Chart({ x: "round", y: "", height: 176, floor: true, rounds: true, legend: false });
  private iterations = new Chart({ x: "round", y: "", height: 176, floor: true, rounds: true, legend: false });
  private titles = { metric: h("h3", {}, "Accuracy"), joules: h("h3", {}, "Energy so far, J"),
    iterations: h("h3", {}, "Iterations per device") };
  private legend = h("div", { class: "keys methods-key" });
  private study = "";
  private focus = "";
  private waiting = false;

  constructor() {
    this.element.append(this.legend, this.titles.metric, this.metric.element, this.titles.joules, this.joules.element,
      this.titles.iterations, this.iterations.element);
    this.element.prepend(h("p", { class: "hint" }, "Accuracy, energy and iterations grow here, a line for each run."));
    this.element.classList.add("none");
    onTheme(() => this.draw());
  }

  watch(study: string, focus: string): void {
    this.focus = focus;
    if (study === this.study && this.source) {
      this.draw();
      return;
    }
    this.study = study;
    this.reopen();
  }

  reopen(): void {
    this.close();
    if (!this.study) return;
    this.lines.clear();
    this.source = api.pointsOf(this.study);
    this.source.addEventListener("points", (event) => this.take(JSON.parse((event as MessageEvent<string>).data) as PointsMessage));
    this.source.addEventListener("error", () => this.lines.clear());
  }

  close(): void {
    this.source?.close();
    this.source = null;
  }

  mark(round: number | null): void {
    for (const chart of [this.metric, this.joules, this.iterations]) chart.mark(round);
  }

  private take(message: PointsMessage): void {
    const known = this.lines.get(message.run);
    const line = known && !message.first ? known : { method: message.method ?? "", seed: message.seed ?? 0, points: [] };
    line.points.push(...message.points);
    this.lines.set(message.run, line);
    if (this.waiting) return;
    this.waiting = true; // many runs answer at once: draw them together
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  private draw(): void {
    const all = [...this.lines.entries()].filter(([, line]) => line.points.length);
    const methods = [...new Set(all.map(([, line]) => line.method))].sort((a, b) =>
      Number(b === "sc-dn") - Number(a === "sc-dn") || a.localeCompare(b));
    const seen = looks(methods);
    clear(this.legend, ...methods.map((method) => {
      const mark = h("i");
      mark.style.background = seen.get(method)!.colour;
      return h("span", { class: "key" }, mark, method);
    }));
    const several = new Set(all.map(([, line]) => line.seed)).size > 1;
    const pick = (key: keyof RoundPoint): Curve[] => all.map(([run, { method, seed, points }]) => ({
      label: several ? `${method} ${seed}` : method, colour: seen.get(method)!.colour,
      dash: seen.get(method)!.matched ? [2, 3] : undefined, thin: run !== this.focus,
      x: points.map((point) => point.round + 1), y: points.map((point) => (point[key] as number | null) ?? null),
    }));
    const metric = METRICS.find(([key]) => all.some(([, line]) => line.points.some((p) => p[key] != null))) ?? METRICS[3]!;
    this.titles.metric.textContent = metric[1];
    this.metric.show(pick(metric[0]));
    this.joules.show(pick("joules"));
    this.iterations.show(pick("iterations"));
    this.element.classList.toggle("none", !all.length);
    this.element.dataset.points = String(all.reduce((sum, [, line]) => sum + line.points.length, 0));
  }
}
