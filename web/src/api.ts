import type { About, Example, Fault, JobInfo, MissionSettings, ObjectiveSurface, OpenedFile, Plan, PlanRequest,
  Position, ReachShells, RestingDevice, RunList, SettingsDiff, StudySummary } from "./types";

/** The faults with which the server refused a request; status 0 if it did not answer. */
export class ApiError extends Error {
  constructor(readonly faults: Fault[], readonly status: number) {
    super(faults.map((fault) => `${fault.field}: ${fault.found}, ${fault.allowed}`).join("\n"));
  }
}

async function send<T>(path: string, options: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError([{ field: "studio", found: "does not answer",
      allowed: "start it again with scdn studio" }], 0);
  }
  if (response.ok) return response.json() as Promise<T>;
  throw new ApiError(await faultsOf(response), response.status);
}

async function faultsOf(response: Response): Promise<Fault[]> {
  try {
    return ((await response.json()) as { faults: Fault[] }).faults;
  } catch {
    return [{ field: "studio", found: `answered ${response.status}`, allowed: "see the terminal in which it runs" }];
  }
}

function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = { "content-type": "application/json" };
  return send<T>(path, { method: "POST", headers, body: text, signal });
}

const queryString = (values: Record<string, string | number | string[]>): string => {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    for (const item of Array.isArray(value) ? value : [value]) parameters.append(key, String(item));
  }
  return parameters.toString();
};

/** A plan request, or its JSON, which can then be used for several requests. */
type RequestBody = PlanRequest | string;

export const api = {
  about: () => send<About>("/api/about"),
  examples: () => send<Example[]>("/api/examples"),
  plan: (request: RequestBody, solver: string, gap: number, seconds: number, signal?: AbortSignal) =>
    post<Plan>(`/api/plan?${queryString({ solver, gap, time_limit_s: seconds })}`, request, signal),
  surface: (request: RequestBody, altitude_m: number, points: number) =>
    post<ObjectiveSurface>(`/api/surface?${queryString({ altitude_m, points })}`, request),
  reach: (request: RequestBody) => post<ReachShells>("/api/reach", request),
  leastChanges: (request: RequestBody, [x_m, y_m, z_m]: Position) =>
    post<{ devices: RestingDevice[] }>(`/api/least-changes?${queryString({ x_m, y_m, z_m })}`, request),
  open: (name: string, text: string, round = 0) =>
    post<OpenedFile>("/api/open", { name, text, round }),
  devices: (name: string, text: string, request: PlanRequest) =>
    post<{ request: PlanRequest }>("/api/devices", { name, text, request }),
  scenario: (request: PlanRequest, scenario: string | null, name: string) =>
    post<{ text: string; lost: string[] }>("/api/scenario", { request, scenario, name }),
  runs: () => send<RunList>("/api/runs"),
  start: (form: { name: string; scenario: string; methods: string[]; seeds: number;
    rounds: number | null; mission: MissionSettings | null }) => post<JobInfo>("/api/runs", form),
  jobAction: (job: string, action: string) => post<JobInfo>("/api/jobs", { job, action }),
  deleteRun: (run: string) => send<{ deleted: string[] }>(`/api/runs?${queryString({ run })}`, { method: "DELETE" }),
  saveNote: (run: string, note: string) => post<{ run: string; note: string }>("/api/notes", { run, note }),
  settingsDiff: (run: string, other: string) => send<SettingsDiff>(`/api/settings-diff?${queryString({ run, other })}`),
  study: (run: string[], target: string[], reference?: string) =>
    send<StudySummary>(`/api/study?${queryString(reference ? { run, target, reference } : { run, target })}`),
  /** The address of a figure (`.png`, `.svg`) or a table (`.csv`) of a study. */
  studyFile: (kind: "png" | "svg" | "csv", query: Record<string, string | string[]>) => `/api/study.${kind}?${queryString(query)}`,
  openEvents: (run: string) => new EventSource(`/api/events?${queryString({ run })}`),
  openPoints: (study: string) => new EventSource(`/api/points?${queryString({ study })}`),
};
