import { api } from "../api";
import { Chart } from "../chart";
import type { Curve } from "../chart";
import { h, setChildren, setText } from "../dom";
import { methodRank } from "../format";
import { methodStyles, onThemeChange } from "../theme";
import type { PointsMessage, RoundPoint, Score } from "../types";

interface RunCurve {
  method: string;
  seed: number;
  score: Score | null;
  points: RoundPoint[];
}

// Without a recorded score, the first of these that a run has is its headline, as in record/headline_metric.py.
const HEADLINES: [string, string][] = [["top3", "Top-3 accuracy, %"], ["top1", "Top-1 accuracy, %"],
  ["macro_f1", "Macro-F1"], ["auc", "AUC"], ["ece", "Expected calibration error"], ["mse", "Mean squared error"],
  ["mae", "Mean absolute error"], ["r2", "R²"], ["test_loss", "Test loss"]];

/** Headline score, energy and iterations of every run of a comparison, as they grow. */
export class LiveCurves {
  readonly element = h("div", { class: "curves" });
  private lines = new Map<string, RunCurve>();
  private source: EventSource | null = null;
  private metric = new Chart({ x: "round", y: "", height: 190, rounds: true, legend: false });
  private joules = new Chart({ x: "round", y: "", height: 176, fromZero: true, rounds: true, legend: false });
  private iterations = new Chart({ x: "round", y: "", height: 176, fromZero: true, rounds: true, legend: false });
  private titles = { metric: h("h3", {}, "Score"), joules: h("h3", {}, "Cumulative energy, J"),
    iterations: h("h3", {}, "Iterations per device") };
  private legend = h("div", { class: "keys methods-key" });
  private study = "";
  private selectedRun = "";
  private drawScheduled = false;

  constructor() {
    this.element.append(this.legend, this.titles.metric, this.metric.element, this.titles.joules, this.joules.element,
      this.titles.iterations, this.iterations.element);
    this.element.prepend(h("p", { class: "hint" }, "Score, energy and iterations are drawn here, a line for each run."));
    this.element.classList.add("none");
    onThemeChange(() => this.draw());
  }

  watch(study: string, run: string): void {
    this.selectedRun = run;
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
    this.source = api.openPoints(this.study);
    this.source.addEventListener("points", (event) => this.addPoints(JSON.parse((event as MessageEvent<string>).data) as PointsMessage));
    this.source.addEventListener("error", () => this.lines.clear());
  }

  close(): void {
    this.source?.close();
    this.source = null;
  }

  mark(round: number | null): void {
    for (const chart of [this.metric, this.joules, this.iterations]) chart.mark(round);
  }

  private addPoints(message: PointsMessage): void {
    const known = this.lines.get(message.run);
    const line = known && !message.first ? known : { method: message.method ?? "", seed: message.seed ?? 0, score: message.score ?? null, points: [] };
    line.points.push(...message.points);
    this.lines.set(message.run, line);
    if (this.drawScheduled) return;
    this.drawScheduled = true; // messages of many runs arrive together
    requestAnimationFrame(() => {
      this.drawScheduled = false;
      this.draw();
    });
  }

  private draw(): void {
    const runs = [...this.lines.entries()].filter(([, line]) => line.points.length);
    const methods = [...new Set(runs.map(([, line]) => line.method))].sort((a, b) =>
      methodRank(a) - methodRank(b) || a.localeCompare(b));
    const styles = methodStyles(methods);
    setChildren(this.legend, ...methods.map((method) => {
      const mark = h("i");
      mark.style.background = styles.get(method)!.colour;
      return h("span", { class: "key" }, mark, method);
    }));
    const severalSeeds = new Set(runs.map(([, line]) => line.seed)).size > 1;
    const curves = (key: string): Curve[] => runs.map(([run, { method, seed, points }]) => ({
      label: severalSeeds ? `${method} ${seed}` : method, colour: styles.get(method)!.colour,
      dash: styles.get(method)!.matched ? [2, 3] : undefined, thin: run !== this.selectedRun,
      x: points.map((point) => point.round + 1), y: points.map((point) => point[key] ?? null),
    }));
    const [metric, title] = headline(runs.map(([, line]) => line));
    setText(this.titles.metric, title);
    this.metric.show(curves(metric));
    this.joules.show(curves("joules"));
    this.iterations.show(curves("executed_iterations"));
    this.element.classList.toggle("none", !runs.length);
    this.element.dataset.points = String(runs.reduce((sum, [, line]) => sum + line.points.length, 0));
  }
}

/** The metric that the runs are shown by, and its title. */
function headline(runs: RunCurve[]): [string, string] {
  const score = runs.find((run) => run.score)?.score;
  if (score) {
    const name = score.metric.replaceAll("_", " ");
    const label = name.charAt(0).toUpperCase() + name.slice(1);
    return HEADLINES.find(([key]) => key === score.metric) ?? [score.metric, score.unit ? `${label}, ${score.unit}` : label];
  }
  return HEADLINES.find(([key]) => runs.some((run) => run.points.some((point) => point[key] != null))) ?? HEADLINES.at(-1)!;
}
