import { api } from "../api";
import type { Replay } from "./replay";

/** Reads the events of one run at a time into a replay, as they are written. */
export class RunEvents {
  private source: EventSource | null = null;
  private scheduled = false;

  constructor(private replay: Replay, private hooks: { arrived: () => void; unreadable: () => void }) {}

  get open(): boolean {
    return this.source !== null;
  }

  follow(run: string): void {
    this.close();
    this.replay.clear();
    const source = this.source = api.openEvents(run);
    source.addEventListener("begin", () => this.replay.clear());
    source.addEventListener("line", (event) => {
      this.replay.addLine((event as MessageEvent<string>).data);
      this.schedule();
    });
    source.addEventListener("over", () => {
      source.close();
      this.schedule();
    });
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) this.hooks.unreadable();
    });
  }

  close(): void {
    this.source?.close();
    this.source = null;
  }

  /** Many lines arrive together; what they change is shown once. */
  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.hooks.arrived();
    });
  }
}
