import type { RunInfo } from "../types";

const FIELDS: Record<string, (run: RunInfo) => string> = {
  method: (run) => run.method,
  status: (run) => run.status,
  data: (run) => run.dataset ?? "",
  name: (run) => run.name,
  seed: (run) => String(run.seed),
};

/** Whether a run has every word of a filter; `seed:3` asks one field for exactly this value. */
export function matches(run: RunInfo, filter: string): boolean {
  const all = [run.run, run.name, run.method, run.status, run.dataset ?? "", `seed ${run.seed}`, run.note].join("\n").toLowerCase();
  return filter.toLowerCase().split(/\s+/).filter(Boolean).every((word) => {
    const [name, value] = word.split(":", 2) as [string, string | undefined];
    const field = FIELDS[name];
    if (!field || value === undefined) return all.includes(word);
    return !value || field(run).toLowerCase() === value; // no value is typed in yet
  });
}
