import type { ApiError } from "../api";
import { h, setChildren, setText } from "../dom";
import { digits, percent, seconds } from "../format";
import type { Plan, Term } from "../types";
import type { PlanModel } from "./plan-model";
import { PlanStatus } from "./plan-status";
import type { Rivals } from "./rivals";

const TERMS: Term[] = ["convergence", "transmission", "processing", "movement"];
const SMALLEST_GAP = 1e-6; // what is proven is not shown as 0 %

/** The objective of a plan, how good it is proven to be, its status, and its terms. */
export class PlanSummary {
  readonly element: HTMLElement;
  readonly status: PlanStatus;
  private objective = h("output", { class: "big", "aria-label": "Objective, lower is better" }, "–");
  private title = h("h2", {}, "Objective");
  private versus = h("p", { class: "versus" });
  private proof = h("p", { class: "proof" });
  private pace = h("p", { class: "pace" });
  private bars = TERMS.map((term) => h("i", { class: term }));
  private values = TERMS.map(() => h("dd"));
  private terms = h("div", { class: "terms" });

  constructor(model: PlanModel) {
    this.status = new PlanStatus(model);
    this.element = h("section", { class: "answer" },
      h("div", { class: "headline" }, this.title,
        h("span", { class: "hint" }, "weighted cost, lower is better"), this.objective),
      this.versus, this.status.element, this.proof, this.pace, this.terms);
    model.onChange(() => setText(this.title, model.whatIf ? "Optimum" : "Objective")); // not of the position that is tried
  }

  /** Shows a plan; while the network is dragged, with how many are made in a second. */
  show(plan: Plan, live: boolean, roundTripMs: number, plansPerSecond: number): void {
    if (!this.terms.children.length) this.buildTerms();
    setText(this.objective, digits(plan.objective, 5));
    this.status.show(plan, live);
    setText(this.proof, proofText(plan));
    const rate = live ? `, ${plansPerSecond} plans a second` : "";
    setText(this.pace, `Solved in ${seconds(plan.solve_seconds)}, round trip ${seconds(roundTripMs / 1e3)}${rate}`);
    const total = Math.max(plan.objective, 1e-12);
    TERMS.forEach((term, index) => {
      this.bars[index]!.style.flexGrow = String(Math.max(plan.weighted[term] / total, 0));
      setText(this.values[index]!, digits(plan.weighted[term]));
    });
  }

  /** Compares the plan with the best of its rivals that keeps its limits. */
  showRivals(rivals: Rivals): void {
    setText(this.versus, rivals.comparison());
  }

  private buildTerms(): void {
    setChildren(this.terms, h("div", { class: "stack" }, ...this.bars),
      h("dl", {}, ...TERMS.flatMap((term, index) => [h("dt", { class: term }, term), this.values[index]!])));
  }

  showError(error: ApiError): void {
    setText(this.objective, "–");
    setText(this.versus, "");
    setText(this.proof, "");
    this.status.showError(error.faults.slice(0, 3).map((f) => `${f.field}: ${f.found}, ${f.allowed}`).join(". "));
    setText(this.pace, error.status === 0 ? "" : "The scene shows the last plan.");
  }
}

/** How close to the optimum a plan is; nothing where no device is heard. */
function proofText(plan: Plan): string {
  if (plan.gap === null || !plan.devices.some((device) => device.active)) return "";
  const gap = percent(Math.max(plan.gap, SMALLEST_GAP));
  return `The objective is within ${gap} of the optimum${plan.status === "optimal" ? ", proven" : " so far"}.`;
}
