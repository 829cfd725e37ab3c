import { api, ApiError } from "../api";
import { digits, percent } from "../format";
import type { Plan } from "../types";
import type { PlanModel } from "./plan-model";

export interface Rival {
  solver: string;
  label: string;
  about: string;
  slow: boolean; // requested only while the table is open
}

export const RIVALS: Rival[] = [
  { solver: "paper", label: "Algorithm 3", about: "The paper's algorithm; below it, its plan repaired to meet the limits", slow: true },
  { solver: "gsp", label: "GSP", about: "The server where the mean delay is least, power and clock at their maximum", slow: false },
  { solver: "greedy", label: "Max VFL", about: "Everything at its maximum, the server does not move", slow: false },
];

/** Plans of one final request by other methods, beside the exact plan of the same request. */
export class Rivals {
  ours: Plan | null = null; // the final plan of the request below
  plans = new Map<string, Plan | string>(); // by solver; a text is an error
  wantSlow = false;
  private requested = new Set<string>();
  private version = -1;
  private text = "";

  constructor(readonly model: PlanModel, readonly onChange: () => void) {}

  /** Whether the plans are those of the network as it is. */
  get current(): boolean {
    return this.version === this.model.version;
  }

  /** Takes the final plan of the network and requests its rivals' plans. */
  finalPlan(plan: Plan): void {
    [this.ours, this.version, this.text] = [plan, this.model.version, this.model.requestText()];
    this.plans.clear();
    this.requested.clear();
    this.requestMissing();
  }

  /** Requests the plans that are not there yet. */
  requestMissing(): void {
    this.onChange();
    if (!this.current) return;
    for (const { solver, slow } of RIVALS) {
      if (this.requested.has(solver) || (slow && !this.wantSlow)) continue;
      this.requested.add(solver);
      void this.request(solver);
    }
  }

  private async request(solver: string): Promise<void> {
    const { version } = this;
    let plan: Plan | string;
    try {
      plan = await api.plan(this.text, solver, 1e-4, 10);
    } catch (error) {
      plan = error instanceof ApiError ? error.message : String(error);
    }
    if (version !== this.version) return;
    this.plans.set(solver, plan);
    this.onChange();
  }

  /** The plan compared with the next best one that keeps its limits, in a sentence. */
  comparison(): string {
    const { ours } = this;
    const plans = RIVALS.flatMap(({ solver, label }) => {
      const plan = this.plans.get(solver);
      if (!plan || typeof plan === "string") return [];
      return [{ label, plan }, ...(plan.repaired ? [{ label: `${label}, repaired`, plan: plan.repaired }] : [])];
    });
    if (!this.current || !ours || !ours.devices.some((device) => device.active) || !plans.length) return "";
    const valid = plans.filter(({ plan }) => !plan.violations.length);
    if (!valid.length) return `${plans.map(({ label }) => label).join(" and ")}: none keeps its limits here.`;
    const { label, plan } = valid.reduce((best, other) => (other.plan.objective < best.plan.objective ? other : best));
    const more = ours.objective > 0 ? plan.objective / ours.objective - 1 : 0;
    const difference = more > 5e-4 ? `, ${percent(more)} higher` : ", the same within the gap";
    return `The next best plan that keeps its limits is ${label}'s: ${digits(plan.objective, 4)}${difference}.`;
  }
}
