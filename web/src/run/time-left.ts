import type { RunInfo } from "../types";
import type { Replay } from "./replay";

const RECENT = 10; // rounds

/** How long a running run will go on, from the median time of its last rounds; empty where it cannot be told. */
export function timeLeft(run: RunInfo, replay: Replay): string {
  const rounds = run.rounds - replay.rounds.length;
  const times = replay.rounds.slice(-RECENT).map(({ seconds }) => seconds).filter(Number.isFinite).sort((a, b) => a - b);
  if (run.status !== "running" || replay.over || rounds <= 0 || !times.length) return "";
  const early = replay.start?.method === "mission"; // it ends as soon as it has reached its target
  const text = duration(rounds * times[Math.floor(times.length / 2)]!);
  return `${early && !text.startsWith("less") ? "at most " : ""}${text} left`;
}

export function duration(seconds: number): string {
  if (seconds < 50) return "less than a minute";
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `about ${Math.max(minutes, 1)} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `about ${hours} h` : `about ${Math.round(hours / 24)} days`;
}
