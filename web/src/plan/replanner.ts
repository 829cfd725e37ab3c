import { api, ApiError } from "../api";
import type { Plan } from "../types";
import type { PlanModel } from "./plan-model";

const LIVE = { gap: 1e-2, seconds: 0.1 };
const REFINED = { gap: 1e-4, seconds: 10 };
const REFINED_CROWD = { gap: 1e-3, seconds: 5 }; // a thousand devices take seconds
const CROWD = 200;
const REFINE_AFTER_MS = 250;

/**
 * Requests a plan after every change of the network: first with a coarse gap, at most two requests at once,
 * and with a fine gap once the network has rested. A plan of an older network than the one shown is dropped.
 */
export class Replanner {
  answers: { at: number; roundTrip: number }[] = [];
  private inFlight = 0; // live requests
  private requestedVersion = -1; // of the network in the last request
  private shownVersion = -1;
  private refinedVersion = -1; // planned with the fine gap
  private timer = 0;
  private refinement: AbortController | null = null;

  constructor(readonly model: PlanModel,
    readonly onPlan: (plan: Plan, live: boolean, roundTrip: number) => void,
    readonly onError: (error: ApiError) => void) {}

  networkChanged(): void {
    clearTimeout(this.timer);
    this.refinement?.abort();
    this.schedule();
  }

  private isCrowd(): boolean {
    return this.model.request.devices.length > CROWD;
  }

  private async requestPlan(live: boolean): Promise<void> {
    const version = this.model.version;
    const { gap, seconds } = live ? LIVE : this.isCrowd() ? REFINED_CROWD : REFINED;
    if (live) this.inFlight++;
    this.requestedVersion = version;
    const signal = live ? undefined : (this.refinement = new AbortController()).signal;
    const start = performance.now();
    try {
      const plan = await api.plan(this.model.requestText(), "exact", gap, seconds, signal);
      const roundTrip = performance.now() - start;
      if (!live && version === this.model.version) this.refinedVersion = version;
      const late = version < this.shownVersion || (!live && version !== this.model.version);
      this.shownVersion = Math.max(this.shownVersion, version);
      if (!late) this.accept(plan, live, roundTrip);
    } catch (error) {
      if (error instanceof ApiError && version === this.model.version) this.onError(error);
    }
    if (live) this.inFlight--;
    this.schedule();
  }

  private accept(plan: Plan, live: boolean, roundTrip: number): void {
    this.answers.push({ at: performance.now(), roundTrip });
    if (this.answers.length > 1000) this.answers.splice(0, 500);
    this.onPlan(plan, live, roundTrip);
  }

  private schedule(): void {
    if (this.requestedVersion !== this.model.version) {
      if (this.inFlight < (this.isCrowd() ? 1 : 2)) void this.requestPlan(true);
    } else if (!this.inFlight && this.refinedVersion !== this.model.version) {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => {
        if (!this.inFlight && this.refinedVersion !== this.model.version) void this.refine();
      }, REFINE_AFTER_MS * (this.isCrowd() ? 3 : 1));
    }
  }

  private async refine(): Promise<void> {
    const version = this.model.version;
    await this.requestPlan(false);
    if (version === this.model.version) this.refinedVersion = version; // a failed refinement is not repeated
  }

  /** Plans received in the last second. */
  plansPerSecond(): number {
    const since = performance.now() - 1000;
    return this.answers.filter((answer) => answer.at > since).length;
  }
}
