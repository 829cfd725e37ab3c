import { api, ApiError } from "../api";
import { Chart } from "../chart";
import type { Curve } from "../chart";
import { h, setChildren, statusMessage } from "../dom";
import { plural } from "../format";
import { methodStyles, onThemeChange } from "../theme";
import type { ChartData, RunInfo, StudySummary } from "../types";
import { energyLedger } from "./energy-ledger";
import { resultTable } from "./result-table";
import { TargetForm } from "./target-form";

/** Compare: methods over seeds, with bands, significance tests and energy by term. */
export class CompareView {
  readonly element = h("div", { class: "view comparing" });
  private studyList = h("div", { class: "list" });
  private sheet = h("div", { class: "sheet" });
  private selected = new Set<string>();
  private reference = "";
  private targets: string[] = []; // asked for; none: those of the runs' own scenarios
  private targetForm = new TargetForm((targets) => void this.loadStudy(targets));
  private study: StudySummary | null = null;
  private requestNumber = 0;

  constructor() {
    this.element.append(h("aside", { class: "panel left", "aria-label": "Runs to compare" },
      h("div", { class: "row" }, h("h2", {}, "Compare")), this.studyList), h("div", { class: "middle" }, this.targetForm.element, this.sheet));
    onThemeChange(() => { if (this.study) this.draw(this.study); });
  }

  shown(): void {
    void this.refreshRuns();
  }

  private async refreshRuns(): Promise<void> {
    if (!this.study) setChildren(this.sheet, statusMessage("loading", "Looking for runs"));
    try {
      const { runs, runs_dir, opened } = await api.runs();
      const readable = runs.filter((run) => !run.fault && run.done > 0);
      const studies = new Map<string, RunInfo[]>();
      for (const run of readable) studies.set(run.study, [...(studies.get(run.study) ?? []), run]);
      if (!studies.size) {
        setChildren(this.studyList);
        this.targetForm.hide();
        setChildren(this.sheet, statusMessage("empty", "Nothing to compare yet",
          `Runs in ${runs_dir} appear here when they have finished a round. Start several methods under Run, or with scdn compare.`));
        return;
      }
      this.showStudyList(studies, opened);
      await this.loadStudy();
    } catch (error) {
      this.showError(error);
    }
  }

  private showStudyList(studies: Map<string, RunInfo[]>, opened: string | null): void {
    for (const name of this.selected) if (!studies.has(name)) this.selected.delete(name);
    if (!this.selected.size) {
      this.selected.add(openedStudy(studies, opened) ?? largestStudy(studies));
      this.targets = [];
    }
    setChildren(this.studyList, ...[...studies].map(([name, runs]) => {
      const methods = new Set(runs.map((run) => run.method));
      const seeds = new Set(runs.map((run) => run.seed));
      const box = h("input", { type: "checkbox", checked: this.selected.has(name), onchange: () => {
        if (box.checked) this.selected.add(name);
        else this.selected.delete(name);
        void this.loadStudy([]); // other runs may have other metrics
      } });
      const title = name === "." ? runs[0]!.name : name;
      return h("label", { class: "study-choice" }, box, h("span", {}, h("b", {}, title),
        h("small", {}, `${[...methods].sort().join(", ")} · ${plural(seeds.size, "seed")}`)));
    }));
  }

  private async loadStudy(targets = this.targets): Promise<void> {
    const number = ++this.requestNumber;
    if (!this.selected.size) {
      this.targetForm.hide();
      setChildren(this.sheet, statusMessage("empty", "Select runs on the left", "Several comparisons can be selected together."));
      return;
    }
    if (!this.study) setChildren(this.sheet, statusMessage("loading", "Comparing"));
    try {
      const study = await api.study([...this.selected], targets, this.reference || undefined);
      if (number !== this.requestNumber) return;
      [this.study, this.targets] = [study, targets];
      this.targetForm.show(study);
      this.draw(study);
    } catch (error) {
      if (number !== this.requestNumber) return;
      const unknownReference = error instanceof ApiError && this.reference && error.faults.some((f) => f.field === this.reference);
      if (unknownReference) {
        this.reference = "";
        await this.loadStudy(targets);
      } else if (this.study && targets.length && error instanceof ApiError && error.faults.every((f) => f.field.startsWith("target"))) {
        this.targetForm.refuse(error.faults);
      } else this.showError(error);
    }
  }

  private showError(error: unknown): void {
    this.study = null;
    this.targetForm.hide();
    const text = error instanceof ApiError ? error.faults.map((f) => `${f.field}: ${f.found}; ${f.allowed}`).join("\n") : String(error);
    const silent = error instanceof ApiError && error.status === 0;
    setChildren(this.sheet, statusMessage("error", silent ? "The studio does not answer" : "These runs cannot be compared", text));
  }

  private draw(study: StudySummary): void {
    const runs = [...this.selected];
    const select = h("select", { "aria-label": "Reference", onchange: () => {
      this.reference = select.value;
      void this.loadStudy();
    } }, ...study.methods.map((method) => h("option", { value: method, selected: method === study.reference }, method)));
    const charts = study.charts.map((chart) => chartCard(chart, study, api.pngUrl(runs, this.targets, chart.name, study.reference)));
    setChildren(this.sheet,
      h("header", { class: "sheet-top" },
        h("h2", {}, `${plural(study.methods.length, "method")} over ${plural(study.seeds.length, "seed")}`),
        h("label", { class: "row" }, h("span", {}, "compared with"), select),
        h("a", { class: "button", href: api.csvUrl(runs), download: "rounds.csv" }, "CSV of all rounds")),
      study.notes.length ? h("ul", { class: "notes" }, ...study.notes.map((note) => h("li", {}, note))) : null,
      ...study.missions.map((sentence) => h("p", { class: "finding" }, sentence)),
      resultTable(study),
      h("div", { class: "cards" }, ...charts.map((chart) => chart.element),
        h("figure", { class: "card wide" }, h("figcaption", {}, h("h3", {}, "Energy by term"),
          h("small", {}, "Joules per run, mean over seeds"), pngLink(api.pngUrl(runs, this.targets, "energy", study.reference), "energy")), energyLedger(study))));
    for (const chart of charts) chart.show();
    this.element.dataset.methods = study.methods.join(",");
  }
}

/** The comparison that the studio was opened on, or that of the run that it was opened on. */
function openedStudy(studies: Map<string, RunInfo[]>, opened: string | null): string | undefined {
  return [...studies].find(([study, runs]) => study === opened || runs.some((run) => run.run === opened))?.[0];
}

/** The comparison with the most methods, which is shown first. */
function largestStudy(studies: Map<string, RunInfo[]>): string {
  const rank = ([, runs]: [string, RunInfo[]]) => new Set(runs.map((run) => run.method)).size;
  return [...studies].sort((a, b) => rank(b) - rank(a))[0]![0];
}

function pngLink(href: string, name: string): HTMLElement {
  return h("a", { class: "button", href, download: `${name}.png`, "aria-label": `PNG of ${name}` }, "PNG");
}

function chartCard(data: ChartData, study: StudySummary, href: string): { element: HTMLElement; show: () => void } {
  const styles = methodStyles(study.methods);
  const chart = new Chart({ x: data.x_label, y: data.y_label, height: 250, range: [data.low, data.high],
    levels: data.levels, rounds: data.x_label === "round", logX: data.log_x });
  const curves: Curve[] = data.lines.map((line) => ({
    label: line.dashed ? `${line.method}, ${data.dashed}` : line.method, colour: styles.get(line.method)!.colour,
    x: line.x, y: line.y, low: line.low, high: line.high, step: line.step,
    dash: line.dashed ? [6, 4] : styles.get(line.method)!.matched ? [2, 3] : undefined,
  }));
  const element = h("figure", { class: "card" }, h("figcaption", {}, h("h3", {}, data.title), h("small", {}, data.about), pngLink(href, data.name)), chart.element);
  return { element, show: () => chart.show(curves) };
}
