import { api, ApiError } from "../api";
import { button, h, setChildren } from "../dom";
import { digits, percent } from "../format";
import type { Plan, Term } from "../types";
import type { PlanModel } from "./plan-model";
import { isEdit } from "./plan-model";
import { throttleAsync } from "./throttle";

const TERMS: Term[] = ["convergence", "transmission", "processing", "movement"];
const SAME = 5e-4; // differences below are within the gap
const MOST_NAMES = 6;

/** What the server would cost at another position than the planned one, and why. */
export class WhatIf {
  readonly element = h("section", { class: "what-if", "aria-label": "What if the server were here", hidden: true });
  answers: { at: number; roundTrip: number }[] = []; // the last ones
  private sentence = h("p", { role: "status" });
  private reasons = h("ul");
  private body = h("tbody");
  private table = h("table", {}, h("thead", {}, h("tr", {}, ...["Weighted cost", "here", "optimum", "difference"].map((name) =>
    h("th", { scope: "col" }, name)))), this.body);
  private fault = "";
  private request = throttleAsync(0, () => this.plan());

  constructor(readonly model: PlanModel, readonly onPlan: () => void) {
    this.element.append(h("header", {}, h("h3", {}, "What if the server were here?"),
      button("Back to the optimum", () => model.setWhatIf(null), { icon: "undo", title: "Back to the optimum (Escape)" })),
    this.sentence, this.table, this.reasons);
    model.onChange((change) => {
      this.element.hidden = !model.whatIf;
      if (model.whatIf && (change === "what-if" || isEdit(change))) this.request();
      if (!model.whatIf) this.fault = "";
    });
  }

  private async plan(): Promise<void> {
    const { model } = this;
    const { whatIf } = model;
    if (!whatIf) return;
    const start = performance.now();
    const text = JSON.stringify({ ...model.request, candidates_m: [whatIf] });
    try {
      const plan = await api.plan(text, "exact", 1e-4, 1);
      if (!model.whatIf) return;
      [model.whatIfPlan, this.fault] = [plan, ""];
    } catch (error) {
      if (!model.whatIf || !(error instanceof ApiError)) return;
      model.whatIfPlan = null;
      this.fault = error.faults.some(({ field }) => field === "candidates_m")
        ? "The server may not be here: this is inside a keep-out box, or lower than it can fly." : error.message;
    }
    this.answers.push({ at: performance.now(), roundTrip: performance.now() - start });
    if (this.answers.length > 1000) this.answers.splice(0, 500);
    this.onPlan();
  }

  /** Whether the server is not allowed where it is tried. */
  get forbidden(): boolean {
    return this.fault !== "";
  }

  /** The difference from the optimum in a few letters, for the server's label. */
  get label(): string {
    const { whatIfPlan: here, plan: best } = this.model;
    if (this.fault) return "not allowed here";
    return here && best && best.objective > 0 ? `here: ${signed(here.objective / best.objective - 1)}` : "here";
  }

  show(): void {
    const { whatIf, whatIfPlan: here, plan: best } = this.model;
    if (!whatIf || !best) return;
    this.table.hidden = !here;
    if (!here) {
      setChildren(this.sentence, h("strong", {}, this.fault || "Planning …"));
      setChildren(this.reasons);
      return;
    }
    const more = best.objective > 0 ? here.objective / best.objective - 1 : 0;
    const than = this.model.request.candidates_m ? "the best candidate site" : "the optimum";
    setChildren(this.sentence, h("strong", {}, `Objective ${digits(here.objective, 4)}: `), Math.abs(more) < SAME
      ? `the same as ${than} within the gap.` : `${amount(more)} ${than} (${digits(best.objective, 4)}).`);
    setChildren(this.body, ...TERMS.map((term) => h("tr", {}, h("th", { scope: "row" }, term),
      h("td", {}, digits(here.weighted[term])), h("td", {}, digits(best.weighted[term])),
      h("td", {}, difference(here.weighted[term] - best.weighted[term], best.objective)))));
    setChildren(this.reasons, ...changedDevices(here, best).map((line) => h("li", {}, line)));
  }
}

const amount = (more: number): string => (more >= 1 ? `${digits(more + 1, 3)} times` : `${percent(Math.abs(more))} ${more > 0 ? "more than" : "less than"}`);

const signed = (part: number): string => (Math.abs(part) < SAME ? "the same" : `${part > 0 ? "+" : "−"}${percent(Math.abs(part))}`);

function difference(value: number, total: number): string {
  if (Math.abs(value) < 1e-4 * Math.max(total, 1e-12)) return "0";
  return `${value > 0 ? "+" : ""}${digits(value)}`;
}

/** Which devices would be off, or heard, only with the server here. */
function changedDevices(here: Plan, best: Plan): string[] {
  const before = new Map(best.devices.map((device) => [device.id, device.active]));
  const lost = here.devices.filter(({ id, active }) => !active && before.get(id));
  const won = here.devices.filter(({ id, active }) => active && before.get(id) === false);
  const lines = [...new Set(lost.map(({ reason }) => reason))].map((reason) =>
    `Off here only: ${names(lost.filter((device) => device.reason === reason))} (${(reason ?? "").replaceAll("_", " ")}).`);
  if (won.length) lines.push(`Heard here only: ${names(won)}.`);
  return lines;
}

function names(devices: { id: string }[]): string {
  const more = devices.length - MOST_NAMES;
  return devices.slice(0, MOST_NAMES).map(({ id }) => id).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
