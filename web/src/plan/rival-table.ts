import { api, ApiError } from "../api";
import { h, setChildren } from "../dom";
import { digits, seconds } from "../format";
import type { Plan, Position } from "../types";
import { activeCount } from "./device-table";
import type { PlanModel } from "./plan-model";

const RIVALS: [string, string, string][] = [
  ["paper", "Algorithm 3", "The paper's algorithm; below it, its plan repaired to meet the limits"],
  ["gsp", "GSP", "The server where the mean delay is least, power and clock at their maximum"],
  ["greedy", "Max VFL", "Everything at its maximum, the server does not move"],
];
const REPLAN_AFTER_MS = 500;

/** Plans of the same network by other methods, evaluated under the true model. */
export class RivalTable {
  readonly element = h("section", { class: "rivals", "aria-label": "Compare with" });
  positions: { label: string; position: Position }[] = [];
  private enabled = false;
  private body = h("tbody");
  private timer = 0;
  private requestNumber = 0;
  private plans = new Map<string, Plan | string>();

  constructor(readonly model: PlanModel, readonly onChange: () => void) {
    const toggle = h("input", { type: "checkbox", role: "switch", "aria-label": "Compare with rivals",
      onchange: () => this.setEnabled(toggle.checked) });
    const heads = ["Method", "Objective", "Active", "Feasible"].map((name) => h("th", { scope: "col" }, name));
    this.element.append(h("label", { class: "row switch" }, h("h3", {}, "Compare with"), toggle),
      h("div", { class: "scroll" }, h("table", { class: "compare" }, h("thead", {}, h("tr", {}, ...heads)), this.body)));
    this.element.classList.add("closed");
  }

  private setEnabled(on: boolean): void {
    this.enabled = on;
    this.element.classList.toggle("closed", !on);
    if (on) void this.requestPlans();
    else {
      this.positions = [];
      this.onChange();
    }
  }

  /** Marks the plans as outdated and requests new ones when the network has rested. */
  networkChanged(): void {
    if (!this.enabled) return;
    this.body.classList.add("old");
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.requestPlans(), REPLAN_AFTER_MS);
  }

  private async requestPlans(): Promise<void> {
    const [number, text] = [++this.requestNumber, this.model.requestText()];
    this.plans.clear();
    this.show();
    const quickFirst = [...RIVALS].reverse();
    await Promise.all(quickFirst.map(async ([solver]) => {
      let plan: Plan | string;
      try {
        plan = await api.plan(text, solver, 1e-4, 10);
      } catch (error) {
        plan = error instanceof ApiError ? error.message : String(error);
      }
      if (number !== this.requestNumber) return;
      this.plans.set(solver, plan);
      this.show();
    }));
    if (number === this.requestNumber) this.body.classList.remove("old");
  }

  show(): void {
    const best = this.model.plan;
    const rows = [best ? row("SC-DN, exact", best, best.objective, "ours") : null];
    this.positions = [];
    for (const [solver, label, about] of RIVALS) {
      const plan = this.plans.get(solver);
      if (plan === undefined) {
        rows.push(h("tr", { class: "waiting", title: about }, h("th", { scope: "row" }, label),
          h("td", { colspan: 3 }, solver === "paper" ? "solving (takes seconds) …" : "solving …")));
      } else if (typeof plan === "string") {
        rows.push(h("tr", { title: about }, h("th", { scope: "row" }, label), h("td", { colspan: 3, class: "broken" }, plan)));
      } else {
        rows.push(row(label, plan, best?.objective, "", about));
        this.positions.push({ label, position: plan.server.position_m });
        if (plan.repaired) rows.push(row("… repaired", plan.repaired, best?.objective, "", about));
      }
    }
    setChildren(this.body, ...rows);
    this.onChange();
  }
}

function row(label: string, plan: Plan, best: number | undefined, kind: string, about = ""): HTMLElement {
  const { violations } = plan;
  const ratio = best && best > 0 ? plan.objective / best : 1;
  const limits = violations.map((v) => `${v.device ?? "server"}: ${v.constraint} is ${digits(v.value)}, limit ${digits(v.limit)}`);
  return h("tr", { class: kind, title: about },
    h("th", { scope: "row" }, label, label.startsWith("…") ? null : h("small", {}, seconds(plan.solve_seconds))),
    h("td", {}, digits(plan.objective, 4), ratio > 1.0005 ? h("small", {}, `${digits(ratio, 3)} × ours`) : null),
    h("td", {}, activeCount(plan.devices).replace(/ devices?/, "")),
    h("td", { class: violations.length ? "broken" : "feasible", title: limits.join("\n") },
      violations.length ? "no" : "yes",
      violations.length ? h("small", {}, `${violations.length} broken`) : null));
}
