import { h, setChildren } from "../dom";
import { digits, plural, seconds } from "../format";
import type { Plan, Position } from "../types";
import { activeCount } from "./device-table";
import { RIVALS } from "./rivals";
import type { Rivals } from "./rivals";

const COLUMNS = ["Method", "Limits", "Objective", "Active"];

/** The rivals' plans, evaluated under the true model, beside the plan of the same request. */
export class RivalTable {
  readonly element = h("section", { class: "rivals closed", "aria-label": "Compare with" });
  positions: { label: string; position: Position }[] = [];
  private body = h("tbody");
  enabled = false;
  private toggle: HTMLInputElement;

  constructor(readonly rivals: Rivals, onToggle: () => void) {
    this.toggle = h("input", { type: "checkbox", role: "switch", "aria-label": "Compare with rivals",
      onchange: () => { this.setEnabled(this.toggle.checked); onToggle(); } });
    this.element.append(h("label", { class: "row switch" }, h("h3", {}, "Compare with"), this.toggle),
      h("div", { class: "scroll" }, h("table", { class: "compare" },
        h("thead", {}, h("tr", {}, ...COLUMNS.map((name) => h("th", { scope: "col" }, name)))), this.body)));
  }

  setEnabled(on: boolean): void {
    if (on === this.enabled) return;
    this.enabled = this.toggle.checked = on;
    this.rivals.wantSlow = on;
    this.element.classList.toggle("closed", !on);
    this.rivals.requestMissing();
  }

  show(): void {
    const { ours, plans } = this.rivals;
    this.positions = [];
    this.body.classList.toggle("old", !this.rivals.current);
    if (!this.enabled || !ours) return;
    const rows = [row("SC-DN, exact", ours, ours.objective, "ours")];
    for (const { solver, label, about, slow } of RIVALS) {
      const plan = plans.get(solver);
      if (plan === undefined) {
        rows.push(message(label, about, "waiting", slow ? "solving (takes seconds) …" : "solving …"));
      } else if (typeof plan === "string") rows.push(message(label, about, "wrong", plan));
      else {
        rows.push(row(label, plan, ours.objective, "", about));
        this.positions.push({ label, position: plan.server.position_m });
        if (plan.repaired) rows.push(row("… repaired", plan.repaired, ours.objective, "", about));
      }
    }
    setChildren(this.body, ...rows);
  }
}

function message(label: string, about: string, kind: string, text: string): HTMLElement {
  return h("tr", { class: kind, title: about }, h("th", { scope: "row" }, label), h("td", { colspan: 3 }, text));
}

/** A plan as a row: whether it keeps its limits is said before its objective, which is else struck out. */
function row(label: string, plan: Plan, best: number, kind: string, about = ""): HTMLElement {
  const { violations } = plan;
  const broken = violations.length > 0;
  const limits = violations.map((v) => `${v.device ?? "server"}: ${v.constraint} is ${digits(v.value)}, limit ${digits(v.limit)}`);
  const objective = digits(plan.objective, 4);
  const ratio = best > 0 ? plan.objective / best : 1;
  return h("tr", { class: `${kind}${broken ? " broken" : ""}`, title: about },
    h("th", { scope: "row" }, label, label.startsWith("…") ? null : h("small", {}, seconds(plan.solve_seconds))),
    h("td", { class: broken ? "broken" : "feasible", title: limits.join("\n") }, broken ? `breaks ${violations.length}` : "kept"),
    broken
      ? h("td", { class: "objective" }, h("s", { "aria-hidden": "true" }, objective),
        h("span", { class: "for-readers" }, `not valid, it breaks ${plural(violations.length, "limit")}: ${objective}`))
      : h("td", { class: "objective" }, objective, ratio > 1.0005 ? h("small", {}, `${digits(ratio, 3)} × ours`) : null),
    h("td", {}, activeCount(plan.devices).replace(/ devices?/, "")));
}
