import { api } from "../api";
import { h, setChildren, setText } from "../dom";
import { plural } from "../format";
import type { Plan, RestingDevice } from "../types";
import { restingLines } from "./least-changes";
import type { PlanModel } from "./plan-model";

const MOST_LINES = 3;

/** Whether the plan is good, in colour and in words, and the least change that would help. */
export class PlanStatus {
  readonly element = h("div", { class: "verdict", role: "status", hidden: true });
  private title = h("strong");
  private lines = h("ul");
  private shown: { plan: Plan; live: boolean } | null = null;
  private known: { version: number; resting: RestingDevice[] } | null = null;

  constructor(readonly model: PlanModel) {
    this.element.append(this.title, this.lines);
    model.onChange((change) => {
      if (change === "selection" && this.shown) this.show(this.shown.plan, this.shown.live);
    });
  }

  /** Shows the status of a plan; of a final one also what would help. */
  show(plan: Plan, live: boolean): void {
    this.shown = { plan, live };
    const known = this.known?.version === this.model.version ? this.known.resting : [];
    const { kind, text } = verdict(plan);
    this.element.className = `verdict ${kind}`;
    this.element.hidden = false;
    setText(this.title, text);
    const resting = plan.devices.filter((device) => !device.active).length;
    const lines = live ? [] : restingLines(plan, known, MOST_LINES, this.model.selected);
    if (lines.length && resting > MOST_LINES) lines.push(`${resting - MOST_LINES} more: select one in the table to see what would help.`);
    if (lines.join() !== this.lines.dataset.shown) {
      this.lines.dataset.shown = lines.join();
      setChildren(this.lines, ...lines.map((line) => h("li", {}, line)));
    }
  }

  /** Asks for the least changes that would help the devices that rest in a final plan. */
  async explain(plan: Plan): Promise<void> {
    const { version } = this.model;
    if (this.known?.version === version || plan.devices.every((device) => device.active)) return;
    try {
      const { devices } = await api.leastChanges(this.model.requestText(), plan.server.position_m);
      if (version !== this.model.version) return;
      this.known = { version, resting: devices };
      this.show(plan, false);
    } catch {
      // The reasons are shown without what would help.
    }
  }

  showError(text: string): void {
    this.shown = null;
    this.element.className = "verdict bad";
    this.element.hidden = false;
    this.lines.dataset.shown = "";
    setText(this.title, text);
    setChildren(this.lines);
  }
}

/** What a plan is worth at a glance. */
export function verdict(plan: Plan): { kind: "good" | "partial" | "bad"; text: string } {
  const [total, active] = [plan.devices.length, plan.devices.filter((device) => device.active).length];
  if (!total) return { kind: "partial", text: "There is no device yet: add one." };
  if (!active) return { kind: "bad", text: "No device is heard." };
  if (plan.violations.length) return { kind: "bad", text: `The plan breaks ${plural(plan.violations.length, "limit")}.` };
  if (active < total) return { kind: "partial", text: `${active} of ${plural(total, "device")} ${active === 1 ? "is" : "are"} heard.` };
  const heard = total === 1 ? "The device is heard." : `All ${total} devices are heard.`;
  return plan.status === "optimal" ? { kind: "good", text: heard } : { kind: "partial", text: `${heard} A better plan may exist.` };
}
