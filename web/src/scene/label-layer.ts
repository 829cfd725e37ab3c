import type * as THREE from "three";
import type { Viewport } from "./viewport";

/** A text at a point of the scene. */
export interface Label {
  key: string;
  text: string;
  kind: string; // CSS classes; a "mark" is centred on its point, a "name" is placed beside it
  at: THREE.Vector3; // in scene units
  priority: number; // lower ones are placed first
}

export const RULER_PRIORITY = 4;
const LAST_PRIORITY = 5;
const HEIGHT = 17; // CSS pixels, as in scene.css
const LONGEST = 190;
const GAP = 2; // between two labels

interface Rectangle {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface Shown {
  element: HTMLElement;
  transform: string;
}

/** HTML text over the scene of which no two pieces overlap: what has no room is hidden. */
export class LabelLayer {
  readonly element = document.createElement("div");
  mostOrdinary = 40; // labels of the last priority: more of them say nothing at a glance
  private sources = new Map<string, Label[]>();
  private ordered: Label[] | null = null;
  private shown = new Map<string, Shown>();
  private sides = new Map<string, number>(); // on which side of its point a label was, so that it stays there
  private widths = new Map<string, number>();
  private probe = document.createElement("span");
  private obstacles = new Map<Element, Rectangle>(); // panels over the scene
  private observer = new ResizeObserver(() => this.measureObstacles());

  constructor(private viewport: Viewport) {
    this.element.className = "overlay";
    this.probe.style.visibility = "hidden";
    this.element.append(this.probe);
    this.observer.observe(viewport.host);
  }

  set(source: string, labels: Label[]): void {
    this.sources.set(source, labels);
    this.ordered = null;
  }

  /** Keeps labels away from an element over the scene. */
  avoid(element: Element): void {
    this.obstacles.set(element, { left: 0, top: 0, right: 0, bottom: 0 });
    this.observer.observe(element);
  }

  private measureObstacles(): void {
    const origin = this.viewport.host.getBoundingClientRect();
    for (const element of this.obstacles.keys()) {
      const { left, top, right, bottom } = element.getBoundingClientRect();
      this.obstacles.set(element, { left: left - origin.left, top: top - origin.top, right: right - origin.left, bottom: bottom - origin.top });
    }
    this.viewport.invalidate();
  }

  /** Places as many labels as have room, those that matter most first. */
  place(): void {
    this.ordered ??= [...this.sources.values()].flat().sort((one, other) => one.priority - other.priority);
    const { clientWidth, clientHeight } = this.element;
    const taken = [...this.obstacles.values()];
    const placed = new Map<string, { label: Label; x: number; y: number }>();
    let last = 0;
    for (const label of this.ordered) {
      if (label.priority >= LAST_PRIORITY && last >= this.mostOrdinary) break;
      const projected = label.at.clone().project(this.viewport.camera);
      if (projected.z > 1 || Math.abs(projected.x) > 1.1 || Math.abs(projected.y) > 1.1) continue;
      const [x, y] = [(projected.x + 1) * clientWidth / 2, (1 - projected.y) * clientHeight / 2];
      const rectangle = this.freeRectangle(label, x, y, taken, clientWidth, clientHeight);
      if (!rectangle) continue;
      taken.push(rectangle);
      placed.set(label.key, { label, x: rectangle.left, y: rectangle.top });
      if (label.priority >= LAST_PRIORITY) last++;
    }
    this.write(placed);
  }

  private freeRectangle(label: Label, x: number, y: number, taken: Rectangle[], width: number, height: number): Rectangle | null {
    const size = this.width(label);
    const sides = label.kind === "mark" ? [[-size / 2, -HEIGHT / 2]]
      : [[9, -HEIGHT - 1], [9, 1], [-9 - size, -HEIGHT - 1], [-9 - size, 1], [9, -2 * HEIGHT], [9, HEIGHT]];
    const before = this.sides.get(label.key) ?? 0;
    for (let index = 0; index < sides.length; index++) {
      const side = index === 0 ? before % sides.length : index <= before ? index - 1 : index;
      const [left, top] = [x + sides[side]![0]!, y + sides[side]![1]!];
      const rectangle = { left, top, right: left + size, bottom: top + HEIGHT };
      if (left < 0 || top < 0 || rectangle.right > width || rectangle.bottom > height || taken.some((other) => overlap(rectangle, other))) continue;
      if (side !== before) this.sides.set(label.key, side);
      return rectangle;
    }
    return null;
  }

  /** The width of a label in CSS pixels, measured once for each text. */
  private width({ text, kind }: Label): number {
    const key = `${kind}\n${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      if (this.widths.size > 5000) this.widths.clear();
      this.probe.className = classes(kind);
      this.probe.textContent = text;
      width = Math.min(Math.ceil(this.probe.getBoundingClientRect().width), LONGEST);
      this.probe.textContent = this.probe.className = "";
      if (width > 0) this.widths.set(key, width);
    }
    return width;
  }

  /** Changes the page only where a label has moved, come or gone. */
  private write(placed: Map<string, { label: Label; x: number; y: number }>): void {
    for (const [key, { element }] of this.shown) {
      if (placed.has(key)) continue;
      element.remove();
      this.shown.delete(key);
    }
    for (const [key, { label, x, y }] of placed) {
      let shown = this.shown.get(key);
      if (!shown) {
        shown = { element: document.createElement("span"), transform: "" };
        shown.element.dataset.label = key;
        this.shown.set(key, shown);
        this.element.append(shown.element);
      }
      const { element } = shown;
      const transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
      if (element.className !== classes(label.kind)) element.className = classes(label.kind);
      if (element.textContent !== label.text) element.textContent = label.text;
      if (shown.transform !== transform) element.style.transform = shown.transform = transform;
    }
  }
}

const classes = (kind: string): string => (kind === "mark" ? kind : `name ${kind}`);

const overlap = (one: Rectangle, other: Rectangle): boolean => one.left < other.right + GAP && other.left < one.right + GAP &&
  one.top < other.bottom + GAP && other.top < one.bottom + GAP;
