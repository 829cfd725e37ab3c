import type { About, Answer, Fault, JobInfo, Opened, PlanRequest, RunList, Shells, Study,
  Surface } from "./types";

/** What the server refused, fault by fault; or that it could not be asked. */
export class Refusal extends Error {
  constructor(readonly faults: Fault[], readonly status: number) {
    super(faults.map((fault) => `${fault.field}: ${fault.found}, ${fault.allowed}`).join("\n"));
  }
}

async function ask<T>(path: string, options: RequestInit = {}): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refusal([{ field: "studio", found: "does not answer",
      allowed: "is it still running? Start it again with scdn studio" }], 0);
  }
  if (answer.ok) return answer.json() as Promise<T>;
  throw new Refusal(await faultsOf(answer), answer.status);
}

async function faultsOf(answer: Response): Promise<Fault[]> {
  try {
    return ((await answer.json()) as { faults: Fault[] }).faults;
  } catch {
    return [{ field: "studio", found: `answered ${answer.status}`, allowed: "see its terminal" }];
  }
}

function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = { "content-type": "application/json" };
  return ask<T>(path, { method: "POST", headers, body: text, signal });
}

const query = (table: Record<string, string | number | string[]>): string => {
  const found = new URLSearchParams();
  for (const [key, value] of Object.entries(table)) {
    for (const one of Array.isArray(value) ? value : [value]) found.append(key, String(one));
  }
  return found.toString();
};

/** `request` may be text already, so that it is written once for several questions. */
type Request = PlanRequest | string;

export const api = {
  about: () => ask<About>("/api/about"),
  examples: () => ask<{ name: string; text: string }[]>("/api/examples"),
  plan: (request: Request, solver: string, gap: number, seconds: number, signal?: AbortSignal) =>
    post<Answer>(`/api/plan?${query({ solver, gap, time_limit_s: seconds })}`, request, signal),
  surface: (request: Request, altitude_m: number, points: number) =>
    post<Surface>(`/api/surface?${query({ altitude_m, points })}`, request),
  reach: (request: Request) => post<Shells>("/api/reach", request),
  open: (name: string, text: string, round = 0) =>
    post<Opened>("/api/open", { name, text, round }),
  scenario: (request: PlanRequest, scenario: string | null, name: string) =>
    post<{ text: string }>("/api/scenario", { request, scenario, name }),
  runs: () => ask<RunList>("/api/runs"),
  start: (form: { name: string; scenario: string; methods: string[]; seeds: number;
    rounds: number | null }) => post<JobInfo>("/api/runs", form),
  act: (job: string, action: string) => post<JobInfo>("/api/jobs", { job, action }),
  study: (run: string[], reference?: string) =>
    ask<Study>(`/api/study?${query(reference ? { run, reference } : { run })}`),
  csvOf: (run: string[]) => `/api/study.csv?${query({ run })}`,
  pngOf: (run: string[], figure: string, reference: string) =>
    `/api/study.png?${query({ run, figure, reference })}`,
  eventsOf: (run: string) => new EventSource(`/api/events?${query({ run })}`),
  pointsOf: (study: string) => new EventSource(`/api/points?${query({ study })}`),
};
