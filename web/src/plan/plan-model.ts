import type { Box, Device, Plan, PlanRequest, Position } from "../types";
import { History } from "./history";

/** "network": another one was loaded; "what-if": the server is tried elsewhere, or no more. */
export type Change = "request" | "network" | "selection" | "what-if";

/** Whether a change is one of the network, not of what is looked at. */
export const isEdit = (change: Change): boolean => change === "request" || change === "network";

/** The file that a network comes from. */
export interface Source {
  kind: "request" | "scenario";
  name: string;
  scenario: string | null;
  round: number;
  rounds: number;
  example?: string | null; // the example that it is, unchanged
}

/** A network as text, to go back to. */
export interface Snapshot {
  source: Source;
  text: string;
}

const EMPTY: Source = { kind: "request", name: "network", scenario: null, round: 0, rounds: 0 };

/** The plan request that the user edits, its plan and the selection; notifies its listeners. */
export class PlanModel {
  request!: PlanRequest;
  plan: Plan | null = null;
  whatIf: Position | null = null; // where the server is tried
  whatIfPlan: Plan | null = null; // the plan with the server there
  source = EMPTY;
  readonly history = new History<Snapshot>();
  selected: string | null = null;
  version = 0;
  private cachedText: { version: number; text: string } | null = null;
  private listeners = new Set<(change: Change) => void>();

  onChange(listener: (change: Change) => void): void {
    this.listeners.add(listener);
  }

  private notify(change: Change): void {
    this.listeners.forEach((listener) => listener(change));
  }

  /** Replaces the network. */
  load(request: PlanRequest, source: Source): void {
    if (this.request) this.history.record(this.snapshot(), true);
    [this.selected, this.whatIf, this.whatIfPlan] = [null, null, null];
    this.replace({ text: JSON.stringify(request), source });
  }

  get name(): string {
    return this.source.name;
  }

  snapshot(): Snapshot {
    return { source: this.source, text: this.requestText() };
  }

  /** Goes back to the network before the last change, or forward again. */
  undo(): void {
    const before = this.history.undo(this.snapshot());
    if (before) this.replace(before);
  }

  redo(): void {
    const after = this.history.redo(this.snapshot());
    if (after) this.replace(after);
  }

  private replace({ text, source }: Snapshot): void {
    this.request = JSON.parse(text) as PlanRequest;
    this.source = { kind: source.kind, name: source.name, scenario: source.scenario, round: source.round, rounds: source.rounds,
      example: source.example ?? null };
    if (this.selected && !this.position(this.selected)) this.selected = null;
    [this.plan, this.whatIfPlan] = [null, null];
    this.version++;
    this.notify("network");
  }

  change(edit: (request: PlanRequest) => void): void {
    this.history.record(this.snapshot());
    edit(this.request);
    if (this.source.example) this.source = { ...this.source, example: null };
    this.version++;
    this.notify("request");
  }

  select(key: string | null): void {
    if (key === this.selected) return;
    this.selected = key;
    this.notify("selection");
  }

  /** Tries the server at a position; null: back to the optimum. */
  setWhatIf(position: Position | null): void {
    if (position === null && this.whatIf === null) return;
    this.whatIf = position;
    if (position === null) this.whatIfPlan = null;
    this.notify("what-if");
    if (position === null && this.selected === "planned") this.select(null);
  }

  /** The plan that is drawn and listed: with the server where it is tried, or the best one. */
  get shownPlan(): Plan | null {
    return this.whatIf ? this.whatIfPlan ?? this.plan : this.plan;
  }

  /** The request as JSON, made once for each version. */
  requestText(): string {
    if (this.cachedText?.version !== this.version) {
      this.cachedText = { version: this.version, text: JSON.stringify(this.request) };
    }
    return this.cachedText!.text;
  }

  device(key = this.selected): Device | undefined {
    return this.request.devices.find((device) => `device:${device.id}` === key);
  }

  position(key: string): Position | null {
    const [kind, rest] = splitKey(key);
    if (kind === "server") return this.request.server.position_m;
    if (kind === "planned") return this.whatIf ?? this.plan?.server.position_m ?? null;
    if (kind === "device") return this.device(key)?.position_m ?? null;
    if (kind === "candidate") return this.request.candidates_m?.[Number(rest)] ?? null;
    const box = this.request.keep_out_m[Number(rest)];
    return box ? boxCentre(box) : null;
  }

  move(key: string, to: Position): void {
    if (!this.position(key)) return; // an undo has removed it during the drag
    const [kind, rest] = splitKey(key);
    if (kind === "planned") {
      this.setWhatIf(to);
      return;
    }
    this.change((request) => {
      if (kind === "server") request.server.position_m = to;
      else if (kind === "device") this.device(key)!.position_m = to;
      else if (kind === "candidate") request.candidates_m![Number(rest)] = to;
      else request.keep_out_m[Number(rest)] = movedBox(request.keep_out_m[Number(rest)]!, to,
        request.region_m);
    });
  }

  addDevice(): void {
    const { devices, region_m } = this.request;
    const ids = new Set(devices.map((device) => device.id));
    let number = devices.length + 1;
    while (ids.has(`d${number}`)) number++;
    const template = this.device() ?? devices[devices.length - 1];
    const angle = number * 2.399963; // the golden angle spreads new devices around the centre
    const distance = 0.12 * Math.sqrt(number % 12 + 1);
    const position: Position = [roundToDecimetre(region_m[0] * (0.5 + distance * Math.cos(angle))),
      roundToDecimetre(region_m[1] * (0.5 + distance * Math.sin(angle))), 0];
    const device = { ...structuredClone(template ?? {}), id: `d${number}`, position_m: position } as Device;
    this.change((request) => request.devices.push(device));
    this.select(`device:${device.id}`);
  }

  addBox(): void {
    const [x, y, z] = this.request.region_m;
    const box = [0.4 * x, 0.4 * y, 0, 0.6 * x, 0.6 * y, 0.4 * z].map(roundToDecimetre) as Box;
    this.change((request) => request.keep_out_m.push(box));
    this.select(`box:${this.request.keep_out_m.length - 1}`);
  }

  addCandidate(): void {
    const position = (this.plan?.server.position_m ?? this.request.server.position_m).map(roundToDecimetre) as Position;
    this.change((request) => (request.candidates_m ??= []).push(position));
    this.select(`candidate:${this.request.candidates_m!.length - 1}`);
  }

  remove(key = this.selected): void {
    if (key === "planned") this.setWhatIf(null);
    if (!key || key === "server" || key === "planned") return;
    const [kind, rest] = splitKey(key);
    this.change((request) => {
      if (kind === "device") {
        request.devices = request.devices.filter((device) => device.id !== rest);
      } else if (kind === "box") request.keep_out_m.splice(Number(rest), 1);
      else {
        request.candidates_m!.splice(Number(rest), 1);
        if (!request.candidates_m!.length) request.candidates_m = null;
      }
    });
    this.select(null);
  }
}

function splitKey(key: string): [string, string] {
  const at = key.indexOf(":");
  return at < 0 ? [key, ""] : [key.slice(0, at), key.slice(at + 1)];
}

const roundToDecimetre = (value: number): number => Math.round(10 * value) / 10;

export const boxCentre = (box: Box): Position =>
  [0, 1, 2].map((axis) => (box[axis]! + box[axis + 3]!) / 2) as Position;

function movedBox(box: Box, to: Position, region: Position): Box {
  const from = boxCentre(box);
  const moved = [0, 1, 2].map((axis) => {
    const half = (box[axis + 3]! - box[axis]!) / 2;
    return Math.min(Math.max(to[axis]!, half), region[axis]! - half) - from[axis]!;
  });
  return box.map((value, index) => roundToDecimetre(value + moved[index % 3]!)) as Box;
}
