import { api } from "../api";
import { h, setChildren } from "../dom";
import { methodRank } from "../format";
import { methodStyles, onThemeChange } from "../theme";
import type { PointsMessage, RoundPoint, Score } from "../types";
import type { ChartChoices } from "./chart-choices";
import { methodCurves, THIS_RUN } from "./method-curves";
import type { RunPoints } from "./method-curves";
import { RoundChart } from "./round-chart";
import { ZoomBar } from "./zoom-bar";

// Without a recorded score, the first of these that a run has is its headline, as in record/headline_metric.py.
const HEADLINES: [string, string][] = [["top3", "Top-3 accuracy, %"], ["top1", "Top-1 accuracy, %"],
  ["macro_f1", "Macro-F1"], ["auc", "AUC"], ["ece", "Expected calibration error"], ["mse", "Mean squared error"],
  ["mae", "Mean absolute error"], ["r2", "R²"], ["test_loss", "Test loss"]];

/** Headline score, energy and iterations of the methods of a study as they grow, with one run in bold. */
export class LiveCurves {
  readonly element = h("div", { class: "curves" });
  readonly metric: RoundChart;
  private joules: RoundChart;
  private iterations: RoundChart;
  private runs = new Map<string, RunPoints & { score: Score | null }>();
  private source: EventSource | null = null;
  private legend = h("div", { class: "series", role: "group", "aria-label": "Series" });
  private note = h("p", { class: "about-curves" });
  private study = "";
  private selectedRun = "";
  private drawScheduled = false;

  constructor(private choices: ChartChoices) {
    this.metric = new RoundChart("score", choices, { height: 190 });
    this.joules = new RoundChart("energy", choices, { fromZero: true });
    this.iterations = new RoundChart("iterations", choices, { fromZero: true });
    this.element.append(h("p", { class: "hint" }, "Score, energy and iterations are drawn here, a line for each method."),
      this.legend, this.note, new ZoomBar(choices, () => this.lastRound).element,
      ...this.charts.map((chart) => chart.element));
    this.element.classList.add("none");
    choices.onChange(() => this.draw());
    onThemeChange(() => this.draw());
  }

  private get charts(): RoundChart[] {
    return [this.metric, this.joules, this.iterations];
  }

  private get lastRound(): number {
    return Math.max(0, ...[...this.runs.values()].map(({ points }) => points.length));
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

  private reopen(): void {
    this.close();
    if (!this.study) return;
    this.runs.clear();
    this.source = api.openPoints(this.study);
    this.source.addEventListener("points", (event) => this.addPoints(JSON.parse((event as MessageEvent<string>).data) as PointsMessage));
    this.source.addEventListener("error", () => this.runs.clear());
  }

  /** Forgets the runs of a study that was deleted. */
  clear(): void {
    this.close();
    this.study = this.selectedRun = "";
    this.runs.clear();
    this.draw();
  }

  close(): void {
    this.source?.close();
    this.source = null;
  }

  mark(round: number | null): void {
    for (const chart of this.charts) chart.mark(round);
  }

  private addPoints(message: PointsMessage): void {
    const known = this.runs.get(message.run);
    const run = known && !message.first ? known
      : { method: message.method ?? "", seed: message.seed ?? 0, score: message.score ?? null, points: [] as RoundPoint[] };
    run.points.push(...message.points);
    this.runs.set(message.run, run);
    if (this.drawScheduled) return;
    this.drawScheduled = true; // messages of many runs arrive together
    requestAnimationFrame(() => {
      this.drawScheduled = false;
      this.draw();
    });
  }

  private draw(): void {
    const runs = [...this.runs.entries()].filter(([, run]) => run.points.length);
    const methods = [...new Set(runs.map(([, run]) => run.method))].sort((a, b) => methodRank(a) - methodRank(b) || a.localeCompare(b));
    const chosen = this.runs.get(this.selectedRun) ?? null;
    const severalSeeds = methods.some((method) => runs.filter(([, run]) => run.method === method).length > 1);
    this.showLegend(methods, severalSeeds ? chosen : null);
    this.note.textContent = severalSeeds
      ? "Lines are means over the seeds that have got this far, bands one standard deviation; the chosen run is bold." : "The chosen run is bold.";
    this.note.hidden = runs.length < 2;
    const curves = (key: string) => methodCurves(runs.map(([, run]) => run), methods, chosen, key, this.choices.hidden);
    const [metric, title] = headline(runs.map(([, run]) => run));
    this.element.classList.toggle("none", !runs.length);
    this.metric.show(title, curves(metric));
    this.joules.show("Cumulative energy, J", curves("joules"));
    this.iterations.show("Iterations per device", curves("executed_iterations"));
    this.element.dataset.points = String(runs.reduce((sum, [, run]) => sum + run.points.length, 0));
  }

  /** Buttons that hide and show the series; those that stay keep the keyboard's focus. */
  private showLegend(methods: string[], chosen: RunPoints | null): void {
    const styles = methodStyles(methods);
    const names = chosen ? [...methods, THIS_RUN] : methods;
    const key = JSON.stringify([names, chosen?.method, chosen?.seed, [...this.choices.hidden], [...styles.values()]]);
    if (this.legend.dataset.key === key) return;
    this.legend.dataset.key = key;
    const focused = this.legend.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.series : null;
    setChildren(this.legend, ...names.map((name) => {
      const mark = h("i", { class: name === THIS_RUN ? "bold" : "" });
      mark.style.background = styles.get(name === THIS_RUN ? chosen!.method : name)!.colour;
      return h("button", { type: "button", class: "series-key", "data-series": name, "aria-pressed": String(!this.choices.hidden.has(name)),
        title: this.choices.hidden.has(name) ? "Show this series" : "Hide this series", onclick: () => this.choices.toggleHidden(name) },
      mark, name === THIS_RUN ? `${chosen!.method}, seed ${chosen!.seed}` : name);
    }));
    if (focused) this.legend.querySelector<HTMLElement>(`[data-series="${CSS.escape(focused)}"]`)?.focus();
  }
}

/** The metric that the runs are shown by, and its title. */
function headline(runs: { score: Score | null; points: RoundPoint[] }[]): [string, string] {
  const score = runs.find((run) => run.score)?.score;
  if (score) {
    const name = score.metric.replaceAll("_", " ");
    const label = name.charAt(0).toUpperCase() + name.slice(1);
    return HEADLINES.find(([key]) => key === score.metric) ?? [score.metric, score.unit ? `${label}, ${score.unit}` : label];
  }
  return HEADLINES.find(([key]) => runs.some((run) => run.points.some((point) => point[key] != null))) ?? HEADLINES.at(-1)!;
}
