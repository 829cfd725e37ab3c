/** The wildfire network, its plan and what would happen instead, computed by the studio's server. */

import { api } from "../api";
import { figures } from "./figures";
import type { Device, Plan, PlanRequest, Position, RestingDevice } from "../types";

const EXAMPLE = "wildfire.toml";
const GAP = 1e-4;
const SECONDS = 10;

export interface Story {
  example: string;
  request: PlanRequest;
  plan: Plan;
  stay: Plan; // the best plan for a server that stays where it is
  gsp: Plan;
  unheard: RestingDevice[]; // from the server's start, and what would help them
}

export async function tellStory(): Promise<Story> {
  const examples = await api.examples();
  const { name, text } = examples.find((example) => example.name === EXAMPLE)!;
  const request = withReports((await api.open(name, text)).request, figures.report_bits);
  const start = request.server.position_m;
  const [plan, stay, gsp, resting] = await Promise.all([
    api.plan(request, "exact", GAP, SECONDS),
    api.plan({ ...request, candidates_m: [start] }, "exact", GAP, SECONDS),
    api.plan(request, "gsp", GAP, SECONDS),
    api.leastChanges(request, start),
  ]);
  return { example: name, request, plan, stay, gsp, unheard: resting.devices };
}

/** The request with reports as long as in the runs, which is unknown where their data set has not been fetched. */
function withReports(request: PlanRequest, payload_bits: number): PlanRequest {
  return { ...request, devices: request.devices.map((device) => ({ ...device, payload_bits })) };
}

export const distance = (from: Position, to: Position): number => Math.hypot(...from.map((value, axis) => value - to[axis]!));

export const heard = (plan: Plan): number => plan.devices.filter((device) => device.active).length;

/** The most iterations that a device's processor finishes in time at its full clock. */
export function mostIterations(request: PlanRequest, device: Device): number {
  const { batch_size, steps_per_iteration, compute_deadline_s } = request.learning as Record<string, number>;
  const cycles = 3 * batch_size! * steps_per_iteration! * Number(device.connections) / device.flops_per_cycle;
  return Math.min(Math.floor(Number(device.cpu_max_hz) * compute_deadline_s! / cycles), request.max_iterations);
}

/** How far the server flies, round what is in its way. */
export function flightLength(plan: Plan): number {
  const path = plan.server.path_m ?? [];
  return path.slice(1).reduce((sum, to, index) => sum + distance(path[index]!, to), 0);
}
