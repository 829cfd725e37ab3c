/** The requests and responses of the HTTP API, as far as the page uses them. */

export type Position = [number, number, number];
export type Box = [number, number, number, number, number, number];

export interface Device {
  id: string;
  position_m: Position;
  max_power_w: number;
  importance: number;
  survival: number;
  payload_bits: number;
  flops_per_cycle: number;
  [other: string]: unknown;
}

export interface PlanRequest {
  schema: 1;
  region_m: Position;
  keep_out_m: Box[];
  candidates_m: Position[] | null;
  server: { position_m: Position };
  radio: { rate_model: "shannon" | "pade"; margin_db: number; [other: string]: unknown };
  max_delay_s: number;
  max_iterations: number;
  integer_iterations: boolean;
  weights: Record<Term, number>;
  movement: { min_flight_m: number; [other: string]: unknown };
  learning: Record<string, unknown>;
  devices: Device[];
}

export type Term = "convergence" | "transmission" | "processing" | "movement";

export interface DevicePlan {
  id: string;
  active: boolean;
  reason: "out_of_reach" | "clock_too_slow" | "battery" | "not_worth_it" | null;
  iterations: number;
  power_w: number;
  cpu_hz: number;
  delay_s: number | null;
  transmission_j: number;
  processing_j: number;
  link: "a2g" | "a2a" | null;
}

export interface Violation {
  device: string | null;
  constraint: string;
  value: number;
  limit: number;
}

export interface Plan {
  status: "optimal" | "time_limit" | "heuristic";
  solver: string;
  objective: number;
  gap: number | null;
  solve_seconds: number;
  server: { position_m: Position; path_m?: Position[] };
  terms: Record<string, number>;
  weighted: Record<Term, number>;
  violations: Violation[];
  devices: DevicePlan[];
  repaired?: Plan;
}

/** A setting's least change that ends a device's reason to rest. */
export interface LeastChange {
  setting: "max_delay_s" | "max_power_w" | "cpu_max_hz" | "compute_deadline_s" | "max_iterations" | "importance" |
    "weights.transmission";
  now: number;
  value: number;
  then: DevicePlan["reason"]; // why it would still rest
}

export interface RestingDevice {
  id: string;
  reason: NonNullable<DevicePlan["reason"]>;
  changes: LeastChange[]; // each ends this reason
}

export interface ObjectiveSurface {
  altitude_m: number;
  x_m: number[];
  y_m: number[];
  objective: (number | null)[][];
}

export interface ReachShells {
  elevation_deg: number[];
  shells: { id: string; link: string; radius_m: (number | null)[] }[];
}

export interface OpenedFile {
  kind: "request" | "scenario";
  request: PlanRequest;
  scenario: string | null;
  name: string;
  round: number;
  rounds: number;
  warnings: string[];
}

export interface Fault {
  field: string;
  found: string;
  allowed: string;
}

export interface Example {
  name: string;
  text: string;
}

export interface About {
  version: string;
  runs_dir: string; // names of runs are relative to it
  new_runs_dir: string;
  view: "introduction" | "run" | "compare"; // what the page shows first
  opened: string | null;
  methods: { name: string; about: string }[];
  datasets: string[];
  examples: string[];
}

export type RunStatus = "running" | "paused" | "unfinished" | "stopped" | "done" | "diverged";

/** Whether and at what cost a run reached a target; null where it did not. */
export interface TargetResult {
  metric: string;
  value: number;
  reached: boolean;
  round: number | null; // from 0, as in the events
  joules: number | null;
  seconds: number | null;
  bits: number | null;
}

export interface RunInfo {
  run: string;
  study: string;
  name: string;
  method: string;
  seed: number;
  status: RunStatus;
  rounds: number;
  done: number;
  dataset: string | null;
  score: string | null;
  targets: (TargetResult & { label: string })[];
  job: string | null;
  updated: number;
  note: string;
  fault: string | null;
}

/** The settings in which two runs differ, by dotted keys; values are JSON, null where a run lacks the setting. */
export interface SettingsDiff {
  differences: { setting: string; first: string | null; second: string | null }[];
  left_out: number;
}

export interface JobInfo {
  job: string;
  state: "running" | "paused" | "stopped" | "done" | "failed";
  command: string;
  log: string;
}

export interface RunList {
  runs_dir: string;
  runs: RunInfo[];
  jobs: JobInfo[];
  opened: string | null; // the run or the study that the studio was opened on
  left_out: number;
}

export interface RoundDevice extends DevicePlan {
  position_m?: Position;
  importance: number;
  executed_iterations?: number;
  circuit_j?: number;
  idle_j?: number;
  battery_j?: number; // what is left after the round
}

export interface RoundEvent {
  event: "round";
  round: number;
  active: string[];
  entered: string[];
  exited: string[];
  link_failed: string[];
  server: { position_m: Position; movement_j: number; battery_j?: number };
  devices: RoundDevice[];
  forecast?: { expected_loss?: number | null; validation_loss?: number | null; measured?: Record<string, number> } | null;
  arrivals?: { id: string; staleness: number }[]; // of an asynchronous round
  seconds: number; // of computing, as measured
  metrics: Record<string, number | null | Record<string, number>>;
  plan: { objective: number; gap: number | null; solve_seconds: number };
}

export interface EndEvent {
  event: "end";
  mission?: { goal?: string | null; target?: string | null; ended?: string | null; priced_j?: number | null;
    bound_j?: number | null } | null;
}

/** What a mission is to reach, as in a scenario's [mission]. */
export interface MissionSettings {
  goal?: string;
  target?: string;
  budget_j?: number;
  deadline_s?: number;
}

export interface StartEvent {
  event: "start";
  scenario: { prices?: { device: number; server: number } | null; name?: string; region_m?: Position; keep_out_m?: Box[];
    candidates_m?: Position[] | null; server?: { position_m?: Position | null };
    learning?: { rounds?: number; dataset?: string } };
  method: string;
  seed: number;
}

export interface RoundPoint {
  round: number;
  joules: number;
  iterations: number | null;
  executed_iterations: number | null;
  active: number;
  present: number;
  top1?: number | null;
  top3?: number | null;
  macro_f1?: number | null;
  mse?: number | null;
  test_loss?: number | null;
  [metric: string]: number | null | undefined;
}

/** The headline metric of a run. */
export interface Score {
  metric: string;
  higher_is_better: boolean;
  unit: string;
}

export interface PointsMessage {
  run: string;
  method?: string;
  seed?: number;
  rounds?: number;
  score?: Score; // where the scenario names its metrics
  first: boolean;
  points: RoundPoint[];
  over: boolean;
}

export interface MethodResult {
  method: string;
  mean: number | null; // null in a ranked measure, which has medians
  std: number | null;
  seeds: number;
  difference: number | null;
  low: number | null;
  high: number | null;
  p_t: number | null;
  p_flip: number | null;
  verdict: string | null;
  median: number | null; // null where half of the runs or more failed
  failed: number;
  p_rank: number | null;
}

export interface MethodTotal {
  method: string;
  mean: number;
  std: number | null;
  seeds: number;
}

export interface Measure {
  key: string;
  label: string;
  unit: string;
  better: number;
  main: boolean;
  values: MethodResult[];
  ranked: boolean;
  failure: string; // what failing means: not reached, diverged, …
}

export interface ChartData {
  name: string;
  title: string;
  about: string;
  x_label: string;
  y_label: string;
  low: number;
  high: number;
  lines: { method: string; x: number[]; y: number[]; low: number[] | null; high: number[] | null; dashed: boolean;
    step: boolean }[];
  levels: { label: string; value: number; name_at: number; target: boolean }[];
  log_x: boolean;
  solid: string; // what solid and dashed lines show, where they differ in it
  dashed: string;
}

/** Which method to choose; the sentences are the server's. */
export interface Verdict {
  setting: string; // empty where all runs are compared together
  target: string | null;
  choice: string | null;
  certainty: string; // decided, no clear difference, too few seeds to tell, one method, nobody
  headline: string;
  evidence: string[];
  reservations: string[];
  joules: number | null;
  seconds: number | null;
  score: number | null;
  reached: number | null;
  seeds: number;
  next_best: string | null;
  factor: number | null;
  p: number | null;
}

export interface ParetoPoint {
  method: string;
  setting: string;
  seed: number | null; // null: the mean of a method
  score: number;
  joules: number;
  seconds: number;
  status: string;
  run: number | null; // its number among the study's runs
}

/** Final scores against what they cost. */
export interface ParetoChart {
  metric: string;
  label: string;
  unit: string;
  higher_is_better: boolean;
  settings: string[];
  runs: ParetoPoint[];
  means: ParetoPoint[];
  fronts: { cost: string; setting: string; methods: string[] }[];
  bounds: { method: string; setting: string; joules: number }[];
  targets: number[];
  log_costs: string[]; // costs that a logarithmic scale shows better
  notes: string[];
}

export interface StudySummary {
  methods: string[];
  reference: string;
  seeds: number[];
  metric: string;
  targets: string[]; // such as top3=95
  runs: { method: string; seed: number; targets: TargetResult[] }[];
  notes: string[];
  missions: string[]; // what missions used, and what no plan needs less than
  measures: Measure[];
  charts: ChartData[];
  ledger: { methods: string[]; terms: Record<string, number[]>; totals: MethodTotal[] };
  verdicts: Verdict[];
  pareto: ParetoChart;
  run_names: string[]; // of `runs`, in the same order
  figures: string[];
  tables: string[];
}
