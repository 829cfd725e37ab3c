import { api, Refusal } from "../api";
import type { Answer } from "../types";
import type { Model } from "./model";

const LIVE = { gap: 1e-2, seconds: 0.1 };
const CALM = { gap: 1e-4, seconds: 10 };
const CALM_CROWD = { gap: 1e-3, seconds: 5 }; // a thousand devices take seconds
const CROWD = 200;
const CALM_AFTER_MS = 250;

/** Asks for a plan after every change: two questions on the way at most, always about the latest network. */
export class Replanner {
  answers: { at: number; roundTrip: number }[] = [];
  private asking = 0; // live questions on the way
  private asked = -1; // version of the last question
  private shown = -1; // and of the latest answer
  private fine = -1; // version that has been planned to the fine gap
  private timer = 0;
  private slow: AbortController | null = null;

  constructor(readonly model: Model,
    readonly found: (answer: Answer, live: boolean, roundTrip: number) => void,
    readonly failed: (error: Refusal) => void) {}

  /** Something has changed. */
  ask(): void {
    clearTimeout(this.timer);
    this.slow?.abort();
    this.next();
  }

  private crowd(): boolean {
    return this.model.request.devices.length > CROWD;
  }

  private async go(live: boolean): Promise<void> {
    const version = this.model.version;
    const { gap, seconds } = live ? LIVE : this.crowd() ? CALM_CROWD : CALM;
    if (live) this.asking++;
    this.asked = version;
    const stop = live ? undefined : (this.slow = new AbortController()).signal;
    const start = performance.now();
    try {
      const answer = await api.plan(this.model.json(), "exact", gap, seconds, stop);
      const roundTrip = performance.now() - start;
      if (!live && version === this.model.version) this.fine = version;
      const late = version < this.shown || (!live && version !== this.model.version);
      this.shown = Math.max(this.shown, version);
      if (!late) this.take(answer, live, roundTrip);
    } catch (error) {
      if (error instanceof Refusal && version === this.model.version) this.failed(error);
    }
    if (live) this.asking--;
    this.next();
  }

  private take(answer: Answer, live: boolean, roundTrip: number): void {
    this.answers.push({ at: performance.now(), roundTrip });
    if (this.answers.length > 1000) this.answers.splice(0, 500);
    this.found(answer, live, roundTrip);
  }

  private next(): void {
    if (this.asked !== this.model.version) {
      if (this.asking < (this.crowd() ? 1 : 2)) void this.go(true);
    } else if (!this.asking && this.fine !== this.model.version) {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => {
        if (!this.asking && this.fine !== this.model.version) void this.refine();
      }, CALM_AFTER_MS * (this.crowd() ? 3 : 1));
    }
  }

  private async refine(): Promise<void> {
    const version = this.model.version;
    await this.go(false);
    if (version === this.model.version) this.fine = version; // also where it failed: once is enough
  }

  /** Plans in the last second. */
  rate(): number {
    const since = performance.now() - 1000;
    return this.answers.filter((answer) => answer.at > since).length;
  }
}

/** Calls `work` now if it has rested for `gap` milliseconds, else once when it has. */
export function seldom(gap: number, work: () => void): () => void {
  let [last, timer] = [-gap, 0];
  const go = () => {
    last = performance.now();
    timer = 0;
    work();
  };
  return () => {
    if (timer) return;
    const wait = last + gap - performance.now();
    if (wait <= 0) go();
    else timer = window.setTimeout(go, wait);
  };
}

/** Calls `work` at most every `gap` milliseconds, and never twice at once; the last wish counts. */
export function gently(gap: number, work: () => Promise<void>): () => void {
  let [busy, wanted, last] = [false, false, 0];
  const go = async (): Promise<void> => {
    if (busy) {
      wanted = true;
      return;
    }
    busy = true;
    const wait = last + gap - performance.now();
    if (wait > 0) await new Promise((done) => setTimeout(done, wait));
    wanted = false;
    last = performance.now();
    try {
      await work();
    } finally {
      busy = false;
      if (wanted) void go();
    }
  };
  return () => void go();
}
