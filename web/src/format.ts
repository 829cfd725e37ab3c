/** Numbers, units and times as text. */

export function digits(value: number, count = 3): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(Number(value.toPrecision(count))); // 0.9996 has the places of 1.00
  if (size >= 1e6 || size < 1e-4) {
    return value.toExponential(Math.max(0, count - 1)).replace("e+", "e").replace("-", "−");
  }
  const places = Math.max(0, count - 1 - Math.floor(Math.log10(size)));
  return value.toFixed(Math.min(places, 8)).replace("-", "−");
}

export const percent = (part: number): string => `${digits(100 * Math.max(part, 0), 2)} %`;

/** Whether a value is 1000 or more of a unit, as it is shown. */
const rollsOver = (value: number, unit: number): boolean => Math.round(value / unit) >= 1000;

export function seconds(value: number): string {
  if (!rollsOver(value, 1e-6)) return `${digits(1e6 * value, 2)} µs`;
  return rollsOver(value, 1e-3) ? `${digits(value)} s` : `${digits(1e3 * value)} ms`;
}

export const hertz = (value: number): string =>
  rollsOver(value, 1e6) ? `${digits(value / 1e9)} GHz` : `${digits(value / 1e6)} MHz`;

export function watts(value: number): string {
  if (rollsOver(value, 1e-3) || value === 0) return `${digits(value)} W`;
  return rollsOver(value, 1e-6) ? `${digits(1e3 * value)} mW` : `${digits(1e6 * value)} µW`;
}

export function pValue(p: number | null): string {
  if (p === null) return "–";
  return p < 0.001 ? "< 0.001" : p < 0.1 ? p.toFixed(3) : p.toFixed(2);
}

export const plural = (count: number, word: string): string =>
  `${count} ${word}${count === 1 ? "" : "s"}`;

export function ago(time: number): string {
  const past = Math.max(0, Date.now() / 1000 - time);
  if (past < 60) return "now";
  if (past < 3600) return `${Math.floor(past / 60)} min ago`;
  if (past < 86_400) return `${Math.floor(past / 3600)} h ago`;
  return new Date(time * 1000).toLocaleDateString();
}

/** A whole number without decimals, another with two digits. */
export const shortNumber = (value: number): string =>
  Number.isInteger(value) ? String(value) : digits(value, 2);

/** A tick of an axis as short text, such as 15k or 1.5M; neighbouring ticks stay distinct. */
export function tickLabel(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return String(Number(value.toPrecision(5))).replace("e+", "e").replace(/^-/, "−");
  const [unit, letter] = size >= 1e6 ? [1e6, "M"] : size >= 1e4 ? [1e3, "k"] : [1, ""];
  return `${Number((value / unit!).toPrecision(5))}${letter}`.replace(/^-/, "−");
}

const FIRST_METHODS = ["mission", "sc-dn"];

/** Missions come first, then SC-DN, then all others, as in report/study.py. */
export const methodRank = (method: string): number =>
  FIRST_METHODS.includes(method) ? FIRST_METHODS.indexOf(method) : FIRST_METHODS.length;
