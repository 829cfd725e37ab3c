/** Recorded results that the introduction shows; web/introduction_data.py writes them. */

import type { Position } from "../types";
import recorded from "./figures.json";

/** What a method's runs cost until a target, in the median; null where half of them miss it. */
export interface MethodCost {
  method: string;
  runs: number;
  reached: number;
  joules: number | null;
  seconds: number | null;
  cheaper: number; // runs that take fewer joules than the mission of the same seed, by more than 1 %
  dearer: number;
}

export interface Departure {
  kept: number[]; // top-3 accuracy after each round, in per cent
  kept_future: (number | null)[]; // of events that departed devices did not see
  forgotten: number[];
  exited: string[][];
  fire: { round: number; centre_m: [number, number]; radius_m: number };
  region_m: Position;
  server_m: Position; // in the round of the fire, as are the devices
  devices: { id: string; position_m: Position }[];
  runs: number;
  mean_change: { kept: number; forgotten: number };
}

type Costs = Record<"top3=95" | "top3=97", MethodCost[]>;

export const figures = recorded as unknown as {
  report_bits: number; // what a device sends in a round
  departure: Departure;
  networks: { wildfire: Costs; "smart-grid": Costs };
};

/** The method whose runs reach the target with the fewest joules in the median. */
export function cheapest(costs: MethodCost[]): MethodCost {
  return costs.reduce((best, other) => ((other.joules ?? Infinity) < (best.joules ?? Infinity) ? other : best));
}
