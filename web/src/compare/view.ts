import { api, Refusal } from "../api";
import { Chart } from "../chart";
import type { Curve } from "../chart";
import { clear, h, state } from "../dom";
import { plural } from "../format";
import { looks, onTheme } from "../theme";
import type { ChartData, RunInfo, Study } from "../types";
import { ledger } from "./ledger";
import { mainTable } from "./table";

/** Compare: methods side by side over seeds, with bands, tests and where the joules went. */
export class CompareView {
  readonly element = h("div", { class: "view comparing" });
  private picks = h("div", { class: "list" });
  private place = h("div", { class: "sheet" });
  private chosen = new Set<string>();
  private reference = "";
  private study: Study | null = null;
  private turn = 0;

  constructor() {
    this.element.append(h("aside", { class: "panel left", "aria-label": "Runs to compare" },
      h("div", { class: "row" }, h("h2", {}, "Compare")), this.picks), h("div", { class: "middle" }, this.place));
    onTheme(() => { if (this.study) this.draw(this.study); });
  }

  shown(): void {
    void this.look();
  }

  private async look(): Promise<void> {
    if (!this.study) clear(this.place, state("loading", "Looking for runs"));
    try {
      const { runs, runs_dir } = await api.runs();
      const readable = runs.filter((run) => !run.fault && run.done > 0);
      const studies = new Map<string, RunInfo[]>();
      for (const run of readable) studies.set(run.study, [...(studies.get(run.study) ?? []), run]);
      if (!studies.size) {
        clear(this.picks);
        clear(this.place, state("empty", "Nothing to compare yet",
          `Runs with at least one finished round in ${runs_dir} appear here. Start several methods under Run, or with scdn compare.`));
        return;
      }
      this.showPicks(studies);
      await this.ask();
    } catch (error) {
      this.failed(error);
    }
  }

  private showPicks(studies: Map<string, RunInfo[]>): void {
    for (const name of this.chosen) if (!studies.has(name)) this.chosen.delete(name);
    if (!this.chosen.size) this.chosen.add(best(studies));
    clear(this.picks, ...[...studies].map(([name, runs]) => {
      const methods = new Set(runs.map((run) => run.method));
      const seeds = new Set(runs.map((run) => run.seed));
      const box = h("input", { type: "checkbox", checked: this.chosen.has(name), onchange: () => {
        if (box.checked) this.chosen.add(name);
        else this.chosen.delete(name);
        void this.ask();
      } });
      const title = name === "." ? runs[0]!.name : name;
      return h("label", { class: "pick" }, box, h("span", {}, h("b", {}, title),
        h("small", {}, `${[...methods].sort().join(", ")} · ${plural(seeds.size, "seed")}`)));
    }));
  }

  private async ask(): Promise<void> {
    const turn = ++this.turn;
    if (!this.chosen.size) {
      clear(this.place, state("empty", "Choose runs on the left", "Several comparisons can be looked at together."));
      return;
    }
    if (!this.study) clear(this.place, state("loading", "Comparing"));
    try {
      const study = await api.study([...this.chosen], this.reference || undefined);
      if (turn !== this.turn) return;
      this.study = study;
      this.draw(study);
    } catch (error) {
      if (turn !== this.turn) return;
      const wrong = error instanceof Refusal && this.reference && error.faults.some((f) => f.field === this.reference);
      if (wrong) {
        this.reference = "";
        await this.ask();
      } else this.failed(error);
    }
  }

  private failed(error: unknown): void {
    this.study = null;
    const text = error instanceof Refusal ? error.faults.map((f) => `${f.field}: ${f.found}; ${f.allowed}`).join("\n") : String(error);
    clear(this.place, state("error", "These runs cannot be compared", text));
  }

  private draw(study: Study): void {
    const runs = [...this.chosen];
    const select = h("select", { "aria-label": "Reference", onchange: () => {
      this.reference = select.value;
      void this.ask();
    } }, ...study.methods.map((method) => h("option", { value: method, selected: method === study.reference }, method)));
    const charts = study.charts.map((chart) => card(chart, study, api.pngOf(runs, chart.name, study.reference)));
    clear(this.place,
      h("header", { class: "sheet-top" },
        h("h2", {}, `${plural(study.methods.length, "method")} over ${plural(study.seeds.length, "seed")}`),
        h("label", { class: "row" }, h("span", {}, "compared with"), select),
        h("a", { class: "button", href: api.csvOf(runs), download: "rounds.csv" }, "CSV of all rounds")),
      study.notes.length ? h("ul", { class: "notes" }, ...study.notes.map((note) => h("li", {}, note))) : null,
      mainTable(study),
      h("div", { class: "cards" }, ...charts.map((one) => one.element),
        h("figure", { class: "card wide" }, h("figcaption", {}, h("h3", {}, "Where the joules went"),
          h("small", {}, "Mean over seeds, by term"), png(api.pngOf(runs, "energy", study.reference), "energy")), ledger(study))));
    for (const one of charts) one.show();
    this.element.dataset.methods = study.methods.join(",");
  }
}

/** The comparison with most methods is what one wants to see first. */
function best(studies: Map<string, RunInfo[]>): string {
  const rank = ([, runs]: [string, RunInfo[]]) => new Set(runs.map((run) => run.method)).size;
  return [...studies].sort((a, b) => rank(b) - rank(a))[0]![0];
}

function png(href: string, name: string): HTMLElement {
  return h("a", { class: "button", href, download: `${name}.png`, "aria-label": `PNG of ${name}` }, "PNG");
}

function card(data: ChartData, study: Study, href: string): { element: HTMLElement; show: () => void } {
  const seen = looks(study.methods);
  const chart = new Chart({ x: data.x_label, y: data.y_label, height: 250, range: [data.low, data.high],
    levels: data.levels, rounds: data.x_label === "round" });
  const curves: Curve[] = data.lines.map((line) => ({
    label: line.future ? `${line.method}, future` : line.method, colour: seen.get(line.method)!.colour,
    x: data.x_label === "round" ? line.x.map((x) => x + 1) : line.x, y: line.mean, spread: line.std, step: line.step,
    dash: line.future ? [6, 4] : seen.get(line.method)!.matched ? [2, 3] : undefined,
  }));
  const element = h("figure", { class: "card" }, h("figcaption", {}, h("h3", {}, data.title), h("small", {}, data.about), png(href, data.name)), chart.element);
  return { element, show: () => chart.show(curves) };
}
