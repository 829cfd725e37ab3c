import type { Look, Spot, Things } from "../scene/network";
import { NOTHING } from "../scene/network";
import type { Point, RoundEvent, StartEvent } from "../types";

/** A run's events, kept so that any moment of it can be drawn. */
export class Replay {
  start: StartEvent | null = null;
  rounds: RoundEvent[] = [];
  over = false;
  fault: string | null = null;
  private lines = 0;
  private present: Map<string, RoundEvent["devices"][number]>[] = [];
  private gone: Map<string, Point>[] = []; // who has left before each round, and where they were

  clear(): void {
    Object.assign(this, { start: null, rounds: [], over: false, fault: null, lines: 0, present: [], gone: [] });
  }

  /** One line of events.jsonl. */
  take(line: string): void {
    this.lines++;
    try {
      const event = JSON.parse(line) as { event: string };
      if (event.event === "start") this.start = event as StartEvent;
      else if (event.event === "round") this.add(event as RoundEvent);
      else if (event.event === "end") this.over = true;
    } catch {
      this.fault ??= `Line ${this.lines} of its events cannot be read`;
    }
  }

  private add(event: RoundEvent): void {
    const before = this.gone[this.gone.length - 1] ?? new Map<string, Point>();
    const last = this.rounds[this.rounds.length - 1];
    const gone = new Map(before);
    for (const id of last?.exited ?? []) {
      const place = this.present[this.present.length - 1]?.get(id)?.position_m;
      if (place) gone.set(id, place);
    }
    const here = new Map((event.devices ?? []).map((device) => [device.id, device]));
    for (const id of here.keys()) gone.delete(id);
    this.rounds.push(event);
    this.present.push(here);
    this.gone.push(gone);
  }

  get region(): Point {
    return this.start?.scenario.region_m ?? [100, 100, 100];
  }

  /** The network at a moment between two rounds: who comes fades in, who leaves becomes a ghost. */
  at(moment: number, selected: string | null): Things {
    if (!this.rounds.length) return NOTHING;
    const index = Math.min(Math.floor(moment), this.rounds.length - 1);
    const next = Math.min(index + 1, this.rounds.length - 1);
    const part = next > index ? moment - index : 0;
    const scenario = this.start?.scenario;
    return {
      spots: [...this.spots(index, next, part), ...this.ghosts(index, part)],
      server: mix(this.rounds[index]!.server.position_m, this.rounds[next]!.server.position_m, ease(part)),
      before: null,
      path: this.path(index, next, part),
      boxes: scenario?.keep_out_m ?? [],
      candidates: scenario?.candidates_m ?? [],
      rivals: [],
      selected,
    };
  }

  private path(index: number, next: number, part: number): Point[] {
    const walked = this.rounds.slice(0, index + 1).map((round) => round.server.position_m);
    const here = mix(walked[index]!, this.rounds[next]!.server.position_m, ease(part));
    return [...walked, here];
  }

  private spots(index: number, next: number, part: number): Spot[] {
    const [now, then] = [this.rounds[index]!, this.present[next]!];
    const limit = this.start?.scenario.max_delay_s ?? 1;
    const leaving = new Set(now.exited);
    const failed = new Set(now.link_failed);
    const most = Math.max(...now.devices.map((device) => device.power_w), 1e-12);
    const spots: Spot[] = [];
    for (const device of now.devices) {
      if (!device.position_m) continue;
      const look: Look = failed.has(device.id) ? "failed" : device.active ?? now.active.includes(device.id) ? "active" : "off";
      const fade = leaving.has(device.id) ? 1 - part : 1;
      const late = (device.delay_s ?? 0) > limit;
      spots.push({ id: device.id, at: device.position_m, look, fade, label: labelOf(device.id, look, device.iterations),
        link: look === "active" && !late && fade > 0.5 ? device.power_w / most : null });
    }
    for (const [id, device] of then) {
      if (this.present[index]!.has(id) || !device.position_m || part === 0) continue;
      spots.push({ id, at: device.position_m, look: "off", fade: part, link: null, label: `${id} enters` });
    }
    return spots;
  }

  private ghosts(index: number, part: number): Spot[] {
    const ghost = (id: string, at: Point, fade: number): Spot =>
      ({ id, at, look: "ghost", fade, link: null, label: `${id}, cached` });
    const before = [...this.gone[index]!].map(([id, at]) => ghost(id, at, 1));
    const leaving = this.rounds[index]!.exited.flatMap((id) => {
      const at = this.present[index]!.get(id)?.position_m;
      return at && part > 0 ? [ghost(id, at, part)] : [];
    });
    return [...before, ...leaving];
  }

  /** A round in words. */
  words(index: number): string {
    const round = this.rounds[index];
    if (!round) return "";
    const parts = [`${round.active.length} of ${round.devices.length} devices active`];
    const list = (ids: string[], word: string) => {
      if (ids.length) parts.push(`${ids.slice(0, 4).join(", ")}${ids.length > 4 ? " and others" : ""} ${word}`);
    };
    list(round.entered, ids(round.entered, "enters", "enter"));
    list(round.exited, ids(round.exited, "leaves", "leave"));
    list(round.link_failed, "too late");
    return parts.join(" · ");
  }
}

const ids = (list: string[], one: string, many: string): string => (list.length === 1 ? one : many);

const labelOf = (id: string, look: Look, iterations: number): string =>
  look === "active" ? `${id} · ${Number.isInteger(iterations) ? iterations : iterations.toFixed(1)} it`
    : look === "failed" ? `${id}, too late` : id;

const ease = (part: number): number => part * part * (3 - 2 * part);

const mix = (from: Point, to: Point, part: number): Point =>
  from.map((value, axis) => value + (to[axis]! - value) * part) as Point;
