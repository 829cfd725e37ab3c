import type { Answer, Box, Device, Point, PlanRequest } from "../types";

/** What the user plans: the request, where it came from, what is selected. Tells who listens. */
export class Model {
  request!: PlanRequest;
  answer: Answer | null = null;
  scenario: string | null = null;
  name = "network";
  round = 0;
  rounds = 0;
  selected: string | null = null;
  version = 0;
  private text: { version: number; text: string } | null = null;
  private listeners = new Set<(what: "request" | "selection" | "whole") => void>();

  listen(listener: (what: "request" | "selection" | "whole") => void): void {
    this.listeners.add(listener);
  }

  private tell(what: "request" | "selection" | "whole"): void {
    this.listeners.forEach((listener) => listener(what));
  }

  /** Another network altogether. */
  load(request: PlanRequest, from: { name: string; scenario: string | null; round: number;
    rounds: number }): void {
    Object.assign(this, { request: structuredClone(request), ...from, selected: null, answer: null });
    this.version++;
    this.tell("whole");
  }

  change(edit: (request: PlanRequest) => void): void {
    edit(this.request);
    this.version++;
    this.tell("request");
  }

  select(key: string | null): void {
    if (key === this.selected) return;
    this.selected = key;
    this.tell("selection");
  }

  /** The request as text, written once for each version of it. */
  json(): string {
    if (this.text?.version !== this.version) {
      this.text = { version: this.version, text: JSON.stringify(this.request) };
    }
    return this.text!.text;
  }

  device(key = this.selected): Device | undefined {
    return this.request.devices.find((device) => `device:${device.id}` === key);
  }

  place(key: string): Point | null {
    const [kind, rest] = split(key);
    if (kind === "server") return this.request.server.position_m;
    if (kind === "device") return this.device(key)?.position_m ?? null;
    if (kind === "candidate") return this.request.candidates_m?.[Number(rest)] ?? null;
    const box = this.request.keep_out_m[Number(rest)];
    return box ? middle(box) : null;
  }

  move(key: string, to: Point): void {
    const [kind, rest] = split(key);
    this.change((request) => {
      if (kind === "server") request.server.position_m = to;
      else if (kind === "device") this.device(key)!.position_m = to;
      else if (kind === "candidate") request.candidates_m![Number(rest)] = to;
      else request.keep_out_m[Number(rest)] = shifted(request.keep_out_m[Number(rest)]!, to,
        request.region_m);
    });
  }

  addDevice(): void {
    const { devices, region_m } = this.request;
    const ids = new Set(devices.map((device) => device.id));
    let number = devices.length + 1;
    while (ids.has(`d${number}`)) number++;
    const like = this.device() ?? devices[devices.length - 1];
    const angle = number * 2.399963; // spreads newcomers around the middle
    const away = 0.12 * Math.sqrt(number % 12 + 1);
    const place: Point = [round1(region_m[0] * (0.5 + away * Math.cos(angle))),
      round1(region_m[1] * (0.5 + away * Math.sin(angle))), 0];
    const device = { ...structuredClone(like ?? {}), id: `d${number}`, position_m: place } as Device;
    this.change((request) => request.devices.push(device));
    this.select(`device:${device.id}`);
  }

  addBox(): void {
    const [x, y, z] = this.request.region_m;
    const box = [0.4 * x, 0.4 * y, 0, 0.6 * x, 0.6 * y, 0.4 * z].map(round1) as Box;
    this.change((request) => request.keep_out_m.push(box));
    this.select(`box:${this.request.keep_out_m.length - 1}`);
  }

  addCandidate(): void {
    const at = (this.answer?.server.position_m ?? this.request.server.position_m).map(round1) as Point;
    this.change((request) => (request.candidates_m ??= []).push(at));
    this.select(`candidate:${this.request.candidates_m!.length - 1}`);
  }

  remove(key = this.selected): void {
    if (!key || key === "server") return;
    const [kind, rest] = split(key);
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

export function split(key: string): [string, string] {
  const at = key.indexOf(":");
  return at < 0 ? [key, ""] : [key.slice(0, at), key.slice(at + 1)];
}

export const round1 = (value: number): number => Math.round(10 * value) / 10;

export const middle = (box: Box): Point =>
  [0, 1, 2].map((axis) => (box[axis]! + box[axis + 3]!) / 2) as Point;

function shifted(box: Box, to: Point, region: Point): Box {
  const from = middle(box);
  const moved = [0, 1, 2].map((axis) => {
    const half = (box[axis + 3]! - box[axis]!) / 2;
    return Math.min(Math.max(to[axis]!, half), region[axis]! - half) - from[axis]!;
  });
  return box.map((value, index) => round1(value + moved[index % 3]!)) as Box;
}
