import { updateAddress } from "../address";
import { api, ApiError } from "../api";
import { Chart } from "../chart";
import type { Curve } from "../chart";
import { h, setChildren, statusMessage, toast } from "../dom";
import { plural } from "../format";
import { methodStyles, onThemeChange } from "../theme";
import type { ChartData, RunInfo, StudySummary } from "../types";
import "./compare.css";
import { energyLedger } from "./energy-ledger";
import { Exports } from "./exports";
import { ParetoView } from "./pareto-view";
import type { ParetoChoice } from "./pareto-view";
import { resultTable } from "./result-table";
import { TargetForm } from "./target-form";
import { verdictCard } from "./verdict-card";

/** Compare: which method to choose, the costs of targets, scores against cost, curves with bands, and energy by term. */
export class CompareView {
  readonly element = h("div", { class: "view comparing" });
  private studyList = h("div", { class: "list" });
  private sheet = h("div", { class: "sheet" });
  private selected = new Set<string>();
  private reference = "";
  private targets: string[] = []; // asked for; none: those of the runs' own scenarios
  private targetForm = new TargetForm((targets) => void this.loadStudy({ targets }, true));
  private pareto = new ParetoView((choice) => {
    this.paretoChoice = choice;
    this.writeAddress(true);
  });
  private paretoChoice: ParetoChoice = { cost: "joules", log: null };
  private study: StudySummary | null = null;
  private nothingSelected = false; // by choice
  private requestNumber = 0;

  constructor() {
    this.element.append(h("aside", { class: "panel left", "aria-label": "Runs to compare" },
      h("div", { class: "row" }, h("h2", {}, "Compare")), this.studyList), h("div", { class: "middle" }, this.targetForm.element, this.sheet));
    onThemeChange(() => { if (this.study) this.draw(this.study); });
  }

  /** Shows the comparison that the address names; without one, the studio's own choice. */
  restore(parameters: URLSearchParams): void {
    const names = parameters.get("study");
    if (names !== null) this.selected = new Set(names.split(",").filter(Boolean).map(decoded));
    this.nothingSelected = names === "";
    this.reference = parameters.get("reference") ?? "";
    this.targets = (parameters.get("target") ?? "").split(",").filter(Boolean);
    const log = parameters.get("log");
    this.paretoChoice = { cost: parameters.get("cost") === "seconds" ? "seconds" : "joules", log: log === null ? null : log === "1" };
    void this.refreshRuns();
  }

  /** Puts what is shown by choice into the address; `step` lets Back undo the choice. */
  private writeAddress(step: boolean): void {
    const { cost, log } = this.paretoChoice;
    updateAddress("compare", {
      study: [...this.selected].map((name) => encodeURIComponent(name).replaceAll("%2F", "/")).join(","),
      reference: this.reference || null,
      target: this.targets.join(",") || null,
      cost: cost === "joules" ? null : cost,
      log: log === null ? null : log ? "1" : "0",
    }, step);
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
    for (const name of this.selected) {
      if (studies.has(name)) continue;
      this.selected.delete(name);
      toast(`${name} is not among the comparisons`, "fault");
    }
    if (!this.selected.size && !this.nothingSelected) {
      this.selected.add(openedStudy(studies, opened) ?? largestStudy(studies));
      [this.targets, this.reference] = [[], ""];
    }
    setChildren(this.studyList, ...[...studies].map(([name, runs]) => {
      const methods = new Set(runs.map((run) => run.method));
      const seeds = new Set(runs.map((run) => run.seed));
      const box = h("input", { type: "checkbox", checked: this.selected.has(name), onchange: () => {
        if (box.checked) this.selected.add(name);
        else this.selected.delete(name);
        this.nothingSelected = !this.selected.size;
        void this.loadStudy({ targets: [] }, true); // other runs may have other metrics
      } });
      const title = name === "." ? runs[0]!.name : name;
      return h("label", { class: "study-choice" }, box, h("span", {}, h("b", {}, title),
        h("small", {}, `${[...methods].sort().join(", ")} · ${plural(seeds.size, "seed")}`)));
    }));
  }

  /** Loads the selected runs, and keeps what was asked of them where it is not refused. */
  private async loadStudy(change: { targets?: string[]; reference?: string } = {}, step = false): Promise<void> {
    const { targets, reference } = { targets: this.targets, reference: this.reference, ...change };
    const number = ++this.requestNumber;
    if (!this.selected.size) {
      this.study = null;
      this.targetForm.hide();
      this.writeAddress(step);
      setChildren(this.sheet, statusMessage("empty", "Select runs on the left", "Several comparisons can be selected together."));
      return;
    }
    if (!this.study) setChildren(this.sheet, statusMessage("loading", "Comparing"));
    try {
      const study = await api.study([...this.selected], targets, reference || undefined);
      if (number !== this.requestNumber) return;
      [this.study, this.targets, this.reference] = [study, targets, reference];
      this.writeAddress(step);
      this.targetForm.show(study);
      this.draw(study);
    } catch (error) {
      if (number !== this.requestNumber) return;
      const faults = error instanceof ApiError ? error.faults : [];
      if (reference && faults.some((fault) => fault.field === reference)) {
        await this.loadStudy({ targets, reference: "" }, step);
      } else if (targets.length && faults.length && faults.every((fault) => fault.field.startsWith("target"))) {
        if (!this.study) await this.loadStudy({ targets: [], reference }, step); // a wrong target in the address
        this.targetForm.refuse(faults, targets);
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
    const exports = new Exports({ run: [...this.selected], target: this.targets, reference: study.reference });
    const select = h("select", { "aria-label": "Reference", onchange: () => void this.loadStudy({ reference: select.value }, true) },
      ...study.methods.map((method) => h("option", { value: method, selected: method === study.reference }, method)));
    const choosing = document.activeElement?.getAttribute("aria-label") === "Reference"; // the focus stays there
    const charts = study.charts.map((chart) => chartCard(chart, study, exports));
    setChildren(this.sheet,
      h("header", { class: "sheet-top" },
        h("h2", {}, `${plural(study.methods.length, "method")} over ${plural(study.seeds.length, "seed")}`),
        h("label", { class: "row" }, h("span", {}, "compared with"), select),
        h("a", { class: "button", href: exports.href("rounds"), download: "rounds.csv" }, "CSV of all rounds")),
      h("div", { class: "verdicts" }, ...study.verdicts.map(verdictCard)),
      study.notes.length ? h("ul", { class: "notes" }, ...study.notes.map((note) => h("li", {}, note))) : null,
      ...study.missions.map((sentence) => h("p", { class: "finding" }, sentence)),
      resultTable(study, exports), this.pareto.element,
      h("div", { class: "cards" }, ...charts.map((chart) => chart.element),
        h("figure", { class: "card wide" }, h("figcaption", {}, h("h3", {}, "Energy by term"),
          h("small", {}, "Joules per run, mean over seeds"), exports.links("energy", "ledger")), energyLedger(study))));
    if (choosing) select.focus();
    for (const chart of charts) chart.show();
    this.pareto.show(study, exports, this.paretoChoice);
    this.element.dataset.methods = study.methods.join(",");
  }
}

/** A name in the address; as it stands if it is not encoded well. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
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

function chartCard(data: ChartData, study: StudySummary, exports: Exports): { element: HTMLElement; show: () => void } {
  const styles = methodStyles(study.methods);
  const chart = new Chart({ x: data.x_label, y: data.y_label, height: 250, range: [data.low, data.high],
    levels: data.levels, rounds: data.x_label === "round", logX: data.log_x });
  const curves: Curve[] = data.lines.map((line) => ({
    label: line.dashed ? `${line.method}, ${data.dashed}` : line.method, colour: styles.get(line.method)!.colour,
    x: line.x, y: line.y, low: line.low, high: line.high, step: line.step,
    dash: line.dashed ? [6, 4] : styles.get(line.method)!.matched ? [2, 3] : undefined,
  }));
  const element = h("figure", { class: "card" }, h("figcaption", {}, h("h3", {}, data.title), h("small", {}, data.about), exports.links(data.name)), chart.element);
  return { element, show: () => chart.show(curves) };
}
