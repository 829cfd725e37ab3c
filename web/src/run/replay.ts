import type { DeviceState, DeviceMarker, NetworkState } from "../scene/network-scene";
import { digits, watts } from "../format";
import { EMPTY_NETWORK } from "../scene/network-scene";
import type { EndEvent, Position, RoundDevice, RoundEvent, StartEvent } from "../types";

/** A run's events, kept so that the network can be drawn at any time of the run. */
export class Replay {
  start: StartEvent | null = null;
  end: EndEvent | null = null;
  rounds: RoundEvent[] = [];
  over = false;
  fault: string | null = null;
  devices: string[] = []; // every device that was ever present, the first one first
  private lines = 0;
  private present: Map<string, RoundDevice>[] = [];
  private known = new Set<string>(); // those in `devices`
  private departed: Map<string, Position>[] = []; // devices that left before each round, and their positions

  clear(): void {
    [this.start, this.end, this.fault, this.over, this.lines] = [null, null, null, false, 0];
    [this.rounds, this.present, this.departed, this.devices] = [[], [], [], []];
    this.known.clear();
  }

  /** One line of events.jsonl. */
  addLine(line: string): void {
    this.lines++;
    try {
      const event = JSON.parse(line) as { event: string };
      if (event.event === "start") this.start = event as StartEvent;
      else if (event.event === "round") this.addRound(event as RoundEvent);
      else if (event.event === "end") [this.end, this.over] = [event as EndEvent, true];
    } catch {
      this.fault ??= `Line ${this.lines} of its events cannot be read.`;
    }
  }

  private addRound(event: RoundEvent): void {
    const before = this.departed[this.departed.length - 1] ?? new Map<string, Position>();
    const last = this.rounds[this.rounds.length - 1];
    const departed = new Map(before);
    for (const id of last?.exited ?? []) {
      const position = this.present[this.present.length - 1]?.get(id)?.position_m;
      if (position) departed.set(id, position);
    }
    const here = new Map((event.devices ?? []).map((device) => [device.id, device]));
    for (const id of here.keys()) {
      departed.delete(id);
      if (!this.known.has(id)) this.devices.push(id);
      this.known.add(id);
    }
    this.rounds.push(event);
    this.present.push(here);
    this.departed.push(departed);
  }

  get region(): Position {
    return this.start?.scenario.region_m ?? [100, 100, 100];
  }

  /** The network at a time between two rounds: arriving devices fade in, departing ones become wireframes. */
  stateAt(time: number, selected: string | null): NetworkState {
    if (!this.rounds.length) return EMPTY_NETWORK;
    const index = Math.min(Math.floor(time), this.rounds.length - 1);
    const next = Math.min(index + 1, this.rounds.length - 1);
    const fraction = next > index ? time - index : 0;
    const scenario = this.start?.scenario;
    const positions = this.rounds.slice(0, index + 1).map((round) => round.server.position_m);
    const server = interpolate(positions[index]!, this.rounds[next]!.server.position_m, ease(fraction));
    return {
      devices: [...this.presentDevices(index, next, fraction), ...this.departedDevices(index, fraction)],
      server,
      serverBefore: null,
      path: [...positions, server],
      boxes: scenario?.keep_out_m ?? [],
      candidates: scenario?.candidates_m ?? [],
      rivals: [],
      selected,
      links: { measure: "power", low: "0", high: watts(Math.max(...this.rounds[index]!.devices.map((device) => device.power_w), 0)) },
    };
  }

  private presentDevices(index: number, next: number, fraction: number): DeviceMarker[] {
    const round = this.rounds[index]!;
    const leaving = new Set(round.exited);
    const failed = new Set(round.link_failed);
    const maxPower = Math.max(...round.devices.map((device) => device.power_w), 1e-12);
    const markers: DeviceMarker[] = [];
    for (const device of round.devices) {
      if (!device.position_m) continue;
      const active = this.isActive(index, device.id);
      const state = failed.has(device.id) ? "failed" : active ? "active" : "off";
      const opacity = leaving.has(device.id) ? 1 - fraction : 1;
      const linked = state === "active" && opacity > 0.5;
      markers.push({ id: device.id, position: device.position_m, state, opacity,
        label: labelOf(device.id, state, device.executed_iterations ?? device.iterations), linkLoad: linked ? device.power_w / maxPower : null });
    }
    for (const [id, device] of this.present[next]!) {
      if (this.present[index]!.has(id) || !device.position_m || fraction === 0) continue;
      markers.push({ id, position: device.position_m, state: "off", opacity: fraction, linkLoad: null, label: `${id} enters` });
    }
    return markers;
  }

  private departedDevices(index: number, fraction: number): DeviceMarker[] {
    const marker = (id: string, position: Position, opacity: number): DeviceMarker =>
      ({ id, position, state: "departed", opacity, linkLoad: null, label: `${id}, cached` });
    const departed = [...this.departed[index]!].map(([id, position]) => marker(id, position, 1));
    const leaving = this.rounds[index]!.exited.flatMap((id) => {
      const position = this.present[index]!.get(id)?.position_m;
      return position && fraction > 0 ? [marker(id, position, fraction)] : [];
    });
    return [...departed, ...leaving];
  }

  /** What a device did in a round; undefined where it was absent. */
  deviceAt(index: number, id: string): RoundDevice | undefined {
    return this.present[index]?.get(id);
  }

  isActive(index: number, id: string): boolean {
    return this.deviceAt(index, id)?.active ?? this.rounds[index]!.active.includes(id);
  }

  /**
   * What the plan of a round changed: the server moved by more than a metre, or a device that stayed was switched on or off.
   * Empty for the first round and for a plan like the one before.
   */
  replan(index: number): string {
    const [before, now] = [this.rounds[index - 1], this.rounds[index]];
    if (!before || !now) return "";
    const moved = Math.hypot(...now.server.position_m.map((value, axis) => value - before.server.position_m[axis]!));
    const switched = now.devices.filter(({ id }) => this.present[index - 1]!.has(id) && this.isActive(index - 1, id) !== this.isActive(index, id));
    const parts = moved > 1 ? [`the server moves ${digits(moved, 2)} m`] : [];
    for (const [on, verb] of [[true, "switched on"], [false, "switched off"]] as const) {
      const ids = switched.filter(({ id }) => this.isActive(index, id) === on).map(({ id }) => id);
      if (ids.length) parts.push(`${shortList(ids)} ${ids.length === 1 ? "is" : "are"} ${verb}`);
    }
    return parts.join(", ");
  }

  /** A round in a sentence. */
  roundSummary(index: number): string {
    const round = this.rounds[index];
    if (!round) return "";
    const resting = restingDevices(round);
    return [`${round.active.length} of ${round.devices.length} devices active`, resting, this.happenings(index)].filter(Boolean).join(" · ");
  }

  /** What happened in a round: entries, exits, failed links and a changed plan. */
  happenings(index: number): string {
    const round = this.rounds[index];
    if (!round) return "";
    const parts: string[] = [];
    const add = (ids: string[], one: string, many: string) => {
      if (ids.length) parts.push(`${shortList(ids)} ${ids.length === 1 ? one : many}`);
    };
    add(round.entered, "enters", "enter");
    add(round.exited, "leaves", "leave");
    add(round.link_failed, "misses the delay limit", "miss the delay limit");
    return [...parts, this.replan(index)].filter(Boolean).join(" · ");
  }
}

const shortList = (ids: string[]): string => `${ids.slice(0, 4).join(", ")}${ids.length > 4 ? " and others" : ""}`;

/** How many devices rest, by reason. */
function restingDevices(round: RoundEvent): string {
  const counts = new Map<string, number>();
  for (const { reason } of round.devices) {
    if (reason) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => `${count} ${count === 1 ? "rests" : "rest"}: ${reason.replaceAll("_", " ")}`).join(" · ");
}

const labelOf = (id: string, state: DeviceState, iterations: number): string =>
  state === "active" ? `${id} · ${Number.isInteger(iterations) ? iterations : iterations.toFixed(1)} it`
    : state === "failed" ? `${id}, link failed` : id;

const ease = (fraction: number): number => fraction * fraction * (3 - 2 * fraction);

const interpolate = (from: Position, to: Position, fraction: number): Position =>
  from.map((value, axis) => value + (to[axis]! - value) * fraction) as Position;
