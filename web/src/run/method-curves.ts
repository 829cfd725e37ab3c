import type { Curve } from "../chart";
import { methodStyles } from "../theme";
import type { RoundPoint } from "../types";

export interface RunPoints {
  method: string;
  seed: number;
  points: RoundPoint[];
}

export const THIS_RUN = "this run"; // its name among the hidden series

/** A curve per method (mean and standard deviation over its runs) and one of the chosen run. */
export function methodCurves(runs: RunPoints[], methods: string[], chosen: RunPoints | null, key: string, hidden: Set<string>): Curve[] {
  const styles = methodStyles(methods);
  const severalSeeds = methods.some((method) => runs.filter((run) => run.method === method).length > 1);
  const curves = methods.filter((method) => !hidden.has(method)).map((method): Curve => {
    const own = runs.filter((run) => run.method === method);
    const { colour, matched } = styles.get(method)!;
    const bold = !severalSeeds && method === chosen?.method;
    return { label: method, colour, dash: matched ? [2, 3] : undefined, width: bold ? 3 : 1.4, ...meanAndBand(own, key) };
  });
  if (!severalSeeds || !chosen || hidden.has(THIS_RUN)) return curves;
  return [...curves, { label: `${chosen.method}, seed ${chosen.seed}`, colour: styles.get(chosen.method)!.colour, width: 3,
    x: chosen.points.map((point) => point.round + 1), y: chosen.points.map((point) => point[key] ?? null) }];
}

/** The mean over the runs that have a value in a round, and one standard deviation on both sides. */
export function meanAndBand(runs: RunPoints[], key: string): Pick<Curve, "x" | "y" | "low" | "high"> {
  const values = new Map<number, number[]>();
  for (const { points } of runs) {
    for (const point of points) {
      const known = values.get(point.round) ?? [];
      if (point[key] != null) known.push(point[key]);
      values.set(point.round, known);
    }
  }
  const rounds = [...values.keys()].sort((a, b) => a - b);
  const means = rounds.map((round) => mean(values.get(round)!));
  const spreads = rounds.map((round) => deviation(values.get(round)!));
  const edge = (sign: number) => means.map((value, at) => (value === null ? null : value + sign * spreads[at]!));
  return { x: rounds.map((round) => round + 1), y: means, ...(runs.length > 1 ? { low: edge(-1), high: edge(1) } : {}) };
}

const mean = (values: number[]): number | null =>
  values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;

/** The standard deviation of a sample; 0 of a single value. */
function deviation(values: number[]): number {
  if (values.length < 2) return 0;
  const centre = mean(values)!;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1));
}
