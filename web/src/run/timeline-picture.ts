import { colour } from "../theme";
import type { Replay } from "./replay";

export const LANES = [
  { name: "enters", colour: "good" },
  { name: "leaves", colour: "danger" },
  { name: "link fails", colour: "failed" },
  { name: "replan", colour: "server" },
] as const;
export const LANE_PX = 11;
export const AXIS_PX = 16;
const FEW = 24; // devices with a bar each …
const SEVERAL = 48; // … and with a thin one; of more, only the number is drawn
const BARS_PX = 96;

/** The height of the part that shows the devices. */
export function devicesHeight(devices: number): number {
  if (devices > SEVERAL) return 40;
  return Math.max(12, devices * (devices > FEW ? 2 : Math.min(8, BARS_PX / FEW)));
}

export const hasBars = (devices: number): boolean => devices <= SEVERAL;

/** Draws all rounds of a run: a lane per kind of event, and who is present below. */
export function drawTimeline(canvas: HTMLCanvasElement, replay: Replay, total: number, selected: string | null, width: number): void {
  const height = LANES.length * LANE_PX + devicesHeight(replay.devices.length) + AXIS_PX;
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d")!;
  context.scale(ratio, ratio);
  const cell = width / Math.max(total, 1);
  drawLanes(context, replay, cell, width);
  if (hasBars(replay.devices.length)) drawBars(context, replay, cell, width, selected);
  else drawCounts(context, replay, cell, selected);
  drawAxis(context, total, cell, height);
}

function drawLanes(context: CanvasRenderingContext2D, replay: Replay, cell: number, width: number): void {
  const thickness = Math.max(1.5, Math.min(cell - 1, 6));
  LANES.forEach((lane, row) => {
    const top = row * LANE_PX;
    context.fillStyle = colour("soft");
    context.fillRect(0, top, width, LANE_PX - 1);
    context.fillStyle = colour(lane.colour);
    replay.rounds.forEach((round, index) => {
      const happened = row === 0 ? round.entered.length : row === 1 ? round.exited.length : row === 2 ? round.link_failed.length : replay.replan(index);
      if (happened) context.fillRect((index + 0.5) * cell - thickness / 2, top + 1, thickness, LANE_PX - 3);
    });
  });
}

/** A bar per device: coloured where it is active, grey where it rests, none where it is absent. */
function drawBars(context: CanvasRenderingContext2D, replay: Replay, cell: number, width: number, selected: string | null): void {
  const colours = { active: colour("device"), off: colour("off"), failed: colour("failed") };
  const pitch = devicesHeight(replay.devices.length) / Math.max(replay.devices.length, 1);
  replay.devices.forEach((id, row) => {
    const top = LANES.length * LANE_PX + row * pitch;
    if (id === selected) {
      context.fillStyle = colour("ink");
      context.fillRect(0, top + pitch / 2 - 0.5, width, 1);
    }
    let [from, state] = [0, ""];
    for (let index = 0; index <= replay.rounds.length; index++) {
      const next = index < replay.rounds.length ? stateOf(replay, index, id) : "";
      if (next === state) continue;
      if (state) {
        context.fillStyle = colours[state as keyof typeof colours];
        context.fillRect(from * cell, top, (index - from) * cell, pitch > 2 ? pitch - 1 : pitch - 0.5);
      }
      [from, state] = [index, next];
    }
  });
}

function stateOf(replay: Replay, index: number, id: string): "" | "active" | "off" | "failed" {
  if (!replay.deviceAt(index, id)) return "";
  if (replay.rounds[index]!.link_failed.includes(id)) return "failed";
  return replay.isActive(index, id) ? "active" : "off";
}

/** How many devices are present and active, and below it when the selected one was present. */
function drawCounts(context: CanvasRenderingContext2D, replay: Replay, cell: number, selected: string | null): void {
  const [top, height] = [LANES.length * LANE_PX + 2, devicesHeight(replay.devices.length) - 8];
  const most = Math.max(...replay.rounds.map((round) => round.devices.length), 1);
  const colours = { off: colour("off"), device: colour("device"), selected: colour("ink") };
  replay.rounds.forEach((round, index) => {
    const left = Math.floor(index * cell);
    const width = Math.floor((index + 1) * cell) - left; // whole pixels, without seams
    for (const [count, name] of [[round.devices.length, "off"], [round.active.length, "device"]] as const) {
      context.fillStyle = colours[name];
      context.fillRect(left, top + height * (1 - count / most), width, height * count / most);
    }
    if (!selected || !replay.deviceAt(index, selected)) return;
    context.fillStyle = colours.selected;
    context.fillRect(left, top + height + 2, width, 3);
  });
}

function drawAxis(context: CanvasRenderingContext2D, total: number, cell: number, height: number): void {
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find((rounds) => rounds * cell >= 34) ?? 10_000;
  context.fillStyle = colour("muted");
  context.font = "11px system-ui";
  context.textAlign = "center";
  context.textBaseline = "bottom";
  for (let round = step === 1 ? 1 : step; round <= total; round += step) {
    const x = Math.min(Math.max((round - 0.5) * cell, 8), total * cell - 10);
    context.fillText(String(round), x, height);
  }
}
