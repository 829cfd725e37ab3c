import { digits } from "../format";
import type { LeastChange, Plan, RestingDevice } from "../types";

type Reason = RestingDevice["reason"];

const REASONS: Record<Reason, string> = {
  out_of_reach: "is out of reach",
  clock_too_slow: "has too slow a clock for one iteration",
  not_worth_it: "is not worth its energy",
  battery: "saves its battery",
};

const THEN: Record<Reason, string> = {
  out_of_reach: "it would be out of reach",
  clock_too_slow: "its clock would be too slow",
  not_worth_it: "it would not be worth its energy",
  battery: "it would save its battery",
};

/** Four digits without trailing zeros: the values are rounded to them, so that they suffice. */
const exact = (value: number): string => String(Number(value.toPrecision(4)));

function withUnit(value: number, unit: string, smaller: [number, string][]): string {
  const [size, name] = smaller.find(([size]) => value >= size) ?? smaller.at(-1)!;
  return `${exact(value / size)} ${name}${unit}`;
}

const SECONDS: [number, string][] = [[1, ""], [1e-3, "m"], [1e-6, "µ"]];
const WATTS: [number, string][] = [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
const HERTZ: [number, string][] = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];

function settingText({ setting, now, value }: LeastChange): string {
  const more = now > 0 ? ` (${digits(Math.ceil(100 * Math.log10(value / now)) / 10, 2)} dB more)` : "";
  switch (setting) {
    case "max_delay_s": return `a delay limit of ${withUnit(value, "s", SECONDS)}`;
    case "max_power_w": return `a transmit limit of ${withUnit(value, "W", WATTS)}${more}`;
    case "cpu_max_hz": return `a clock of ${withUnit(value, "Hz", HERTZ)}`;
    case "compute_deadline_s": return `a compute deadline of ${withUnit(value, "s", SECONDS)}`;
    case "max_iterations": return "a limit of 1 iteration";
    case "importance": return `an importance of ${exact(value)}`;
    case "weights.transmission": return `a transmission weight of ${exact(value)}`;
  }
}

/** What would help one device, such as "a delay limit of 55 ms would do, or …". */
export function remedyText(changes: LeastChange[]): string {
  if (!changes.length) return "no single setting would help.";
  const enough = changes.filter((change) => change.then === null).map(settingText);
  if (enough.length) return `${[`${enough[0]} would do`, ...enough.slice(1)].join(", or ")}.`;
  const sentences = [...new Set(changes.map((change) => change.then!))].map((then) =>
    `with ${changes.filter((change) => change.then === then).map(settingText).join(" or ")} ${THEN[then]}`);
  return `${sentences.join("; ")}.`;
}

/** By how much the easiest change that would do differs from what is set. */
function effort(device: RestingDevice | undefined): number {
  const enough = (device?.changes ?? []).filter((change) => change.then === null && change.now > 0);
  return Math.min(...enough.map(({ now, value }) => Math.abs(Math.log(value / now))), Number.MAX_VALUE);
}

/** Why devices rest and what would help, a sentence each: the selected one, then those that need the least. */
export function restingLines(plan: Plan, known: RestingDevice[], most: number, selected: string | null): string[] {
  const found = new Map(known.map((device) => [device.id, device])); // empty while it is computed
  const resting = plan.devices.filter((device) => !device.active)
    .sort((one, other) => effort(found.get(one.id)) - effort(found.get(other.id)));
  const first = resting.filter(({ id }) => `device:${id}` === selected);
  return [...new Set([...first, ...resting])].slice(0, most).map(({ id, reason }) => {
    const why = `${id} ${REASONS[reason ?? "not_worth_it"]}`;
    const device = found.get(id);
    return device ? `${why}: ${remedyText(device.changes)}` : `${why}.`;
  });
}
