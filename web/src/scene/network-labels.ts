import type { Position } from "../types";
import { hasRings, isCrowd, isWarning } from "./device-layer";
import type { Label } from "./label-layer";
import { RULER_PRIORITY } from "./label-layer";
import type { NetworkState } from "./network-scene";
import type { Viewport } from "./viewport";

const APART = 6; // scene units from which another position of the server gets its own label
const SELECTED = 0;
const SERVER = 1;
const WARNING = 2; // devices that are off or failed
const SITE = 3;
const DEVICE = RULER_PRIORITY + 1;

/** The names of devices, servers, rivals, boxes and sites; which of them have room is decided elsewhere. */
export function networkLabels(state: NetworkState, viewport: Viewport): Label[] {
  const { devices, server, serverBefore, optimum, rivals, boxes, candidates, selected, serverLabels: texts } = state;
  const labels: Label[] = [];
  const add = (key: string, text: string, kind: string, position: Position, priority: number) => {
    const isSelected = key === selected;
    labels.push({ key, text, kind: isSelected ? `${kind} selected` : kind, at: viewport.toScene(position), priority: isSelected ? SELECTED : priority });
  };
  const apart = (one: Position, other: Position) => viewport.toScene(one).distanceTo(viewport.toScene(other)) > APART;
  if (server) add("planned", texts?.now ?? "server", "server", server, SERVER);
  if (server && optimum && apart(server, optimum)) add("optimum", texts?.optimum ?? "optimum", "server optimum", optimum, SERVER);
  if (serverBefore && (!server || apart(server, serverBefore))) add("server", texts?.before ?? "before", "before", serverBefore, SERVER);
  for (const { label, position } of rivals) add(`rival:${label}`, label, "rival", position, SITE);
  boxes.forEach((box, index) => add(`box:${index}`, `box ${index + 1}`, "box", topOfBox(box), SITE));
  candidates.forEach((position, index) => add(`candidate:${index}`, `site ${index + 1}`, "site", position, SITE));
  const remarkable = !isCrowd(devices) || hasRings(devices); // not where most of a crowd is off
  for (const device of devices) {
    if (device.opacity > 0.02 && !device.dimmed) add(`device:${device.id}`, device.label, device.state, device.position, remarkable && isWarning(device) ? WARNING : DEVICE);
  }
  return labels;
}

const topOfBox = (box: readonly number[]): Position => [(box[0]! + box[3]!) / 2, (box[1]! + box[4]!) / 2, box[5]!];
