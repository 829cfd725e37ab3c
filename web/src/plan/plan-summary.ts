import type { ApiError } from "../api";
import { h, setChildren, setText } from "../dom";
import { digits, percent, seconds } from "../format";
import type { Plan, Term } from "../types";
import { activeCount } from "./device-table";

const TERMS: Term[] = ["convergence", "transmission", "processing", "movement"];

/** The objective of a plan, how good it is proven to be, and its terms. */
export class PlanSummary {
  readonly element: HTMLElement;
  private objective = h("output", { class: "big", "aria-label": "Objective" }, "–");
  private proof = h("p", { class: "proof", role: "status" });
  private pace = h("p", { class: "pace" });
  private bars = TERMS.map((term) => h("i", { class: term }));
  private values = TERMS.map(() => h("dd"));
  private terms = h("div", { class: "terms" });

  constructor() {
    this.element = h("section", { class: "answer" },
      h("div", { class: "row" }, h("h2", {}, "Plan"), this.objective), this.proof, this.pace, this.terms);
  }

  /** Shows a plan; while the network is dragged, with how many are made in a second. */
  show(plan: Plan, roundTripMs: number, plansPerSecond: number | null): void {
    if (!this.terms.children.length) this.buildTerms();
    this.proof.classList.remove("wrong");
    setText(this.objective, digits(plan.objective, 5));
    const gap = plan.gap === null ? "" : `, within ${percent(plan.gap)} of the optimum${plan.status === "optimal" ? ", proven" : " so far"}`;
    setText(this.proof, `${activeCount(plan.devices)} active${gap}`);
    const rate = plansPerSecond === null ? "" : `, ${plansPerSecond} plans a second`;
    setText(this.pace, `Solved in ${seconds(plan.solve_seconds)}, round trip ${digits(roundTripMs, 3)} ms${rate}`);
    const total = Math.max(plan.objective, 1e-12);
    TERMS.forEach((term, index) => {
      this.bars[index]!.style.flexGrow = String(Math.max(plan.weighted[term] / total, 0));
      setText(this.values[index]!, digits(plan.weighted[term]));
    });
  }

  private buildTerms(): void {
    setChildren(this.terms, h("div", { class: "stack" }, ...this.bars),
      h("dl", {}, ...TERMS.flatMap((term, index) => [h("dt", { class: term }, term), this.values[index]!])));
  }

  showError(error: ApiError): void {
    this.proof.classList.add("wrong");
    setText(this.objective, "–");
    setText(this.proof, error.faults.slice(0, 3).map((f) => `${f.field}: ${f.found}, ${f.allowed}`).join(". "));
    setText(this.pace, error.status === 0 ? "" : "The scene shows the last plan.");
  }
}
