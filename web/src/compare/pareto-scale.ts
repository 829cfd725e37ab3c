/** An axis of the Pareto view: where values are drawn, and the ticks. */
export interface Scale {
  at: (value: number) => number;
  ticks: number[];
}

/** A scale from `low` to `high` in pixels that holds all values with a margin. */
export function makeScale(values: number[], from: number, to: number, log: boolean): Scale {
  const [low, high] = log ? logLimits(values) : limits(values);
  const place = log ? Math.log10 : (value: number) => value;
  const [first, last] = [place(low), place(high)];
  const most = Math.max(2, Math.round(Math.abs(to - from) / 70));
  return {
    at: (value) => from + (to - from) * (place(value) - first) / (last - first),
    ticks: log ? logTicks(low, high, most) : linearTicks(low, high, most),
  };
}

function limits(values: number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = 0.08 * (high - low) || 0.05 * Math.abs(high) || 1;
  return [low >= 0 && low < margin ? 0 : low - margin, high + margin];
}

function logLimits(values: number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = (high / low) ** 0.08 * 1.05;
  return [low / margin, high * margin];
}

function linearTicks(low: number, high: number, most: number): number[] {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (([1, 2, 5, 10].find((part) => part * power >= rough)) ?? 10);
  const ticks: number[] = [];
  for (let n = Math.ceil(low / step); n * step <= high + 1e-9 * step; n++) ticks.push(Number((n * step).toPrecision(12)));
  return ticks;
}

function logTicks(low: number, high: number, most: number): number[] {
  const inside = (parts: number[], every = 1): number[] => {
    const ticks: number[] = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      if (power % every === 0) ticks.push(...parts.map((part) => Number((part * 10 ** power).toPrecision(12))));
    }
    return ticks.filter((tick) => tick >= low && tick <= high);
  };
  const candidates = [inside([1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]), inside([1, 2, 5]), inside([1, 3]), inside([1]), inside([1], 2)];
  const chosen = candidates.find((ticks) => ticks.length <= most && ticks.length > 1);
  return chosen ?? linearTicks(low, high, most).filter((tick) => tick > 0);
}
