import { h, setChildren, setText } from "../dom";
import { digits } from "../format";
import { hasRings } from "./device-layer";
import { mapOpacity } from "./objective-map";
import type { DeviceState, NetworkScene, NetworkState } from "./network-scene";

const NARROW_PX = 680; // of the window: below, the legend is closed at first
const OPEN_PX = 100; // what it covers of the scene, as a rule
const CLOSED_PX = 28;
const STATES: [DeviceState, string][] = [["active", "active"], ["off", "off"], ["failed", "link failed"], ["departed", "departed, embeddings cached"]];

/** A symbol and what it stands for; a scale also has the texts at its ends and marks between. */
export interface LegendEntry {
  kind: string;
  text: string;
  scale?: string[];
}

/** What a scene shows, as entries of a legend: everything that is drawn, and nothing else. */
export function legendEntries({ state, objectiveMap, reachShells, viewport }: NetworkScene): LegendEntry[] {
  const map = objectiveMap.scale;
  const { server, serverBefore, optimum, serverLabels, selected } = state;
  const devices = state.devices.filter(({ opacity }) => opacity > 0.02);
  const flying = devices.some(({ position }) => position[2] > 0);
  const entries: (LegendEntry | false | null)[] = STATES.map(([kind, text]) => {
    const count = devices.filter((device) => device.state === kind).length;
    const ringed = kind !== "active" && kind !== "departed" && hasRings(devices);
    return count > 0 && { kind: ringed ? `${kind} ringed` : kind, text: `${text} (${count})` };
  });
  entries.push(
    flying && { kind: "flying", text: "flying" },
    devices.some(({ dimmed }) => dimmed) && { kind: "dimmed", text: "not in the filter" },
    devices.some(({ id }) => selected === `device:${id}`) && { kind: "ring", text: "selected" },
    server && { kind: "server", text: optimum ? "server where you put it" : serverLabels?.now ?? "server" },
    !!optimum && { kind: "optimum", text: serverLabels?.optimum ?? "optimum" },
    serverBefore && { kind: "before", text: serverLabels?.before ?? "server before" },
    server && serverBefore && { kind: "flight", text: "flight in the round" },
    state.path.length > 1 && { kind: "path", text: "path of the server" },
    !viewport.top && (devices.some(({ position, dimmed }) => position[2] > 0 && !dimmed) || (server?.[2] ?? 0) > 0 || [...state.candidates, ...state.rivals.map(({ position }) => position)].some((position) => position[2] > 0)) &&
      { kind: "stem", text: "height" },
    state.boxes.length > 0 && { kind: "box", text: `keep-out box (${state.boxes.length})` },
    state.candidates.length > 0 && { kind: "site", text: `candidate site (${state.candidates.length})` },
    state.rivals.length > 0 && { kind: "rival", text: "server of a rival" },
    reachShells.count > 0 && { kind: "shell", text: "where the server hears it at full power" },
    objectiveMap.contours > 0 && { kind: "contour", text: "equal objective" },
    server && devices.some(({ linkLoad, dimmed }) => linkLoad !== null && !dimmed) && linkEntry(state),
    map && { kind: "map", text: `objective (weighted cost), server at ${digits(map.altitude_m)} m`,
      scale: [map.lowest, map.middle, map.clear].map((value) => digits(value, 4)).concat(`highest ${digits(map.highest, 4)}`) });
  return entries.filter((entry): entry is LegendEntry => !!entry);
}

const linkEntry = ({ links }: NetworkState): LegendEntry =>
  ({ kind: "links", text: `link: ${links?.measure ?? "load"}`, scale: [links?.low ?? "lowest", links?.high ?? "highest"] });

/** The legend of a scene, which follows what it shows, and the objective under the pointer. */
export class Legend {
  readonly element: HTMLDetailsElement;
  private entries = h("ul");
  private pointer = h("output", { class: "pointer", "aria-live": "off" });
  private shown = "";
  private under: { x: number; y: number } | null = null; // the pointer, in CSS pixels of the canvas

  constructor(private scene: NetworkScene) {
    const { viewport } = scene;
    this.element = h("details", { class: "legend" }, h("summary", {}, "Legend"), this.entries);
    viewport.host.append(this.element);
    viewport.labels.avoid(this.element);
    this.element.open = innerWidth > NARROW_PX;
    const cover = () => viewport.coverBottom(this.element.open ? OPEN_PX : CLOSED_PX);
    this.element.addEventListener("toggle", cover);
    cover();
    scene.onDraw(() => this.follow());
    viewport.onCamera(() => this.follow());
    for (const type of ["pointermove", "pointerdown", "pointerleave"] as const) {
      viewport.canvas.addEventListener(type, (event) => {
        this.under = type === "pointerleave" ? null : { x: event.offsetX, y: event.offsetY };
        this.read();
      });
    }
    this.follow();
  }

  private follow(): void {
    const entries = legendEntries(this.scene);
    const now = JSON.stringify(entries);
    if (now === this.shown) return;
    this.shown = now;
    this.read();
    setChildren(this.entries, ...entries.map((entry) => h("li", { class: `entry ${entry.kind}`, "data-kind": entry.kind.split(" ")[0] },
      ...(entry.scale ? this.scaleParts(entry) : [h("i"), h("span", {}, entry.text)]))));
    this.element.hidden = !entries.length;
  }

  private scaleParts({ kind, text, scale }: LegendEntry): HTMLElement[] {
    const ramp = h("i", { class: "ramp" });
    if (kind === "map") {
      const stops = [0, 0.25, 0.5, 0.75, 1].map((part) => `color-mix(in srgb, var(--shade) ${(100 * mapOpacity(part)).toFixed(0)}%, transparent)`);
      ramp.style.background = `linear-gradient(to right, ${stops.join()})`;
    }
    const [marks, more] = kind === "map" ? [scale!.slice(0, 3), scale![3]] : [scale!, null];
    return [h("span", {}, text), h("span", { class: "scale" }, ramp, h("span", {}, ...marks.map((mark) => h("small", {}, mark)))),
      ...(more ? [h("small", {}, more), this.pointer] : [])];
  }

  /** Says the objective under the pointer. */
  private read(): void {
    const value = this.under && this.scene.objectiveMap.valueUnder(this.under.x, this.under.y);
    setText(this.pointer, !value ? "" : `here (${value.x_m.toFixed(0)}, ${value.y_m.toFixed(0)} m): ${value.objective === null ? "not allowed" : digits(value.objective, 4)}`);
  }
}
