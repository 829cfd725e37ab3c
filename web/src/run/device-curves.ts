import type { Replay } from "./replay";

interface DeviceCurve {
  name: string;
  title: string;
  missing: string; // said where nothing is recorded
  lines: { label: string; y: (number | null)[]; planned?: boolean }[];
}

/** What a run's events say of a device over the rounds; null where it was absent or nothing was recorded. */
export function deviceCurves(replay: Replay, device: string): DeviceCurve[] {
  const line = (label: string, value: (index: number) => number | null | undefined, planned = false) => {
    const y = replay.rounds.map((_, index) => (replay.deviceAt(index, device) ? value(index) ?? null : null));
    return y.some((number) => number !== null) ? [{ label, y, planned }] : [];
  };
  const here = (index: number) => replay.deviceAt(index, device)!;
  const stale = replay.rounds.map((round) => largest(round.arrivals?.filter(({ id }) => id === device).map(({ staleness }) => staleness)));
  return [
    { name: "iterations", title: "Iterations", missing: "iterations", lines: [
      ...line("planned", (index) => here(index).iterations, true), ...line("executed", (index) => here(index).executed_iterations)] },
    { name: "power", title: "Transmit power, W", missing: "power", lines: line("power", (index) => here(index).power_w) },
    { name: "battery", title: "Battery after the round, J", missing: "battery (it has none)", lines: line("battery", (index) => here(index).battery_j) },
    { name: "contribution", title: "Measured contribution to a lower loss", missing: "measured contribution (only missions measure it)",
      lines: line("contribution", (index) => replay.rounds[index]!.forecast?.measured?.[device]) },
    { name: "staleness", title: "Staleness: other reports since its previous one", missing: "staleness (only asynchronous methods have it)",
      lines: line("staleness", (index) => stale[index]) },
  ];
}

/** The largest number of a list; null of an empty one. */
const largest = (values: number[] | undefined): number | null => (values?.length ? Math.max(...values) : null);
