import type { Position } from "../types";
import type { NetworkState } from "./network-scene";
import type { Viewport } from "./viewport";

const MAX_LABELS = 40; // with more devices, only the selected one is labelled
const LINE_HEIGHT = 18; // CSS pixels
const BEFORE_DISTANCE = 6; // scene units from which the server's old position gets its own label

interface Label {
  text: string;
  kind: string;
  position: Position;
}

/** Names of devices, server and rivals, as HTML text over the scene. */
export class NetworkLabels {
  private labels = new Map<string, Label>();
  private elements = new Map<string, HTMLElement>();

  constructor(private viewport: Viewport) {
    viewport.afterFrame(() => this.place());
  }

  show(state: NetworkState): void {
    this.labels = this.labelsOf(state);
    for (const [key, element] of this.elements) {
      if (this.labels.has(key)) continue;
      element.remove();
      this.elements.delete(key);
    }
    for (const [key, { text, kind }] of this.labels) {
      let element = this.elements.get(key);
      if (!element) {
        element = document.createElement("span");
        this.elements.set(key, element);
        this.viewport.overlay.append(element);
      }
      if (element.className !== `name ${kind}`) element.className = `name ${kind}`;
      if (element.textContent !== text) element.textContent = text;
    }
  }

  private labelsOf({ devices, server, serverBefore, rivals, selected, serverLabels }: NetworkState): Map<string, Label> {
    const labels = new Map<string, Label>();
    if (server) labels.set("server", { kind: "server", text: serverLabels?.now ?? "server", position: server });
    if (server && serverBefore && this.distance(server, serverBefore) > BEFORE_DISTANCE) {
      labels.set("before", { kind: "before", text: serverLabels?.before ?? "before", position: serverBefore });
    }
    for (const { label, position } of rivals) labels.set(`rival:${label}`, { kind: "rival", text: label, position });
    for (const device of devices) {
      const isSelected = selected === `device:${device.id}`;
      if (device.opacity <= 0.02 || (devices.length > MAX_LABELS && !isSelected)) continue;
      const kind = `${device.state}${isSelected ? " selected" : ""}`;
      labels.set(`device:${device.id}`, { kind, text: device.label, position: device.position });
    }
    return labels;
  }

  private distance(from: Position, to: Position): number {
    return this.viewport.toScene(from).distanceTo(this.viewport.toScene(to));
  }

  /** Moves the labels with the camera. */
  private place(): void {
    const taken: Rectangle[] = [];
    for (const [key, element] of this.elements) {
      const anchor = this.viewport.toScreen(this.labels.get(key)!.position);
      element.hidden = anchor === null;
      if (!anchor) continue;
      const { x, y } = freeRectangle(anchor, 7 * (element.textContent?.length ?? 0) + 10, taken);
      element.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
  }
}

interface Rectangle {
  x: number;
  y: number;
  width: number;
}

/** A place for a label that covers no other: at its anchor, or a line or two above or below. */
function freeRectangle({ x, y }: { x: number; y: number }, width: number, taken: Rectangle[]): Rectangle {
  const covered = (top: number) => taken.some((other) => Math.abs(other.y - top) < LINE_HEIGHT - 1 &&
    x < other.x + other.width && other.x < x + width);
  const shift = [0, 1, -1, 2, -2].find((lines) => !covered(y + lines * LINE_HEIGHT)) ?? 0;
  const rectangle = { x, y: y + shift * LINE_HEIGHT, width };
  taken.push(rectangle);
  return rectangle;
}
