import { h, setChildren, svg } from "../dom";
import type { Box, Position } from "../types";
import { LabelPlacer } from "./label-placer";

export interface MapDevice {
  id: string;
  position: Position;
  state: "present" | "unheard" | "departed";
  note?: string; // below its name
  always?: boolean; // whether the note is shown where there is little room
  load?: number; // of its link to the server, from 0 to 1; none without
}

export interface MapPicture {
  about: string; // for those who do not see it
  region: Position;
  devices: MapDevice[];
  server: { position: Position; note: string };
  before?: { position: Position; note: string };
  path?: Position[];
  rock?: Box;
  caption?: string;
  fire?: { centre: [number, number]; radius: number; note: string };
}

const MARGIN = 10;
const LITTLE_ROOM = 480; // px
const TREE_STEP = 46;

/** A network from above, north up, with labels of a readable size at any width. */
export class NetworkMap {
  readonly element = h("div", { class: "map-frame" });
  private picture: MapPicture | null = null;
  private size = 0;

  constructor() {
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(picture: MapPicture): void {
    this.picture = picture;
    this.size = 0;
    this.draw();
  }

  private draw(): void {
    const size = Math.floor(Math.min(this.element.clientWidth, this.element.clientHeight));
    if (!this.picture || size < 50 || size === this.size) return;
    this.size = size;
    setChildren(this.element, draw(this.picture, size));
  }
}

function draw(picture: MapPicture, size: number): SVGElement {
  const scale = (size - 2 * MARGIN) / Math.max(picture.region[0], picture.region[1]);
  const at = ([x, y]: readonly number[]): [number, number] => [MARGIN + x! * scale, size - MARGIN - y! * scale];
  const labels = new LabelPlacer(size, size < LITTLE_ROOM ? 12 : 14);
  const shapes = [...trees(size), ...fire(picture, at, scale, labels), ...rock(picture, at, labels)];
  const server = at(picture.server.position);
  for (const { position } of picture.devices) labels.avoid(...at(position), 11);
  labels.avoid(...server, 20);
  for (const device of picture.devices) {
    if (device.load === undefined) continue;
    shapes.push(link(at(device.position), server, device.load));
    labels.avoidLine(at(device.position), server);
  }
  if (picture.path) shapes.push(svg("polyline", { class: "flight", points: picture.path.map((p) => at(p).join(",")).join(" ") }));
  if (picture.before) {
    labels.avoid(...at(picture.before.position), 18);
    shapes.push(drone(...at(picture.before.position), "before"));
    labels.add(...at(picture.before.position), 20, [picture.before.note], "before");
  }
  shapes.push(drone(...server, ""));
  labels.add(...server, 24, [picture.server.note], "server");
  for (const device of picture.devices) {
    const [x, y] = at(device.position);
    shapes.push(marker(x, y, device));
    const note = size < LITTLE_ROOM && !device.always ? undefined : device.note;
    labels.add(x, y, 13, note ? [device.id, note] : [device.id], device.state);
  }
  shapes.push(...scaleBar(scale, picture.caption ?? ""));
  return svg("svg", { class: "network-map", width: size, height: size, viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": picture.about },
    svg("rect", { class: "forest", x: 0.5, y: 0.5, width: size - 1, height: size - 1, rx: 12 }), ...shapes, ...labels.draw());
}

/** Trees at fixed places, a little off a grid. */
function trees(size: number): SVGElement[] {
  const found: SVGElement[] = [];
  for (let row = 0; row * TREE_STEP < size - 30; row++) {
    for (let column = 0; column * TREE_STEP < size - 30; column++) {
      const x = 22 + column * TREE_STEP + 13 * Math.sin(7 * row + 3 * column);
      const y = 26 + row * TREE_STEP + 13 * Math.cos(5 * row + 11 * column);
      found.push(svg("path", { class: "tree", d: `M${x.toFixed(1)} ${(y - 8).toFixed(1)}l6 12h-12z` }));
    }
  }
  return found;
}

function fire(picture: MapPicture, at: (p: readonly number[]) => [number, number], scale: number, labels: LabelPlacer): SVGElement[] {
  if (!picture.fire) return [];
  const [x, y] = at(picture.fire.centre);
  labels.add(x - 10, y - picture.fire.radius * scale * 0.55, 0, [picture.fire.note], "fire");
  return [svg("clipPath", { id: "forest" }, svg("rect", { width: "100%", height: "100%", rx: 12 })),
    svg("circle", { class: "fire", cx: x, cy: y, r: picture.fire.radius * scale, "clip-path": "url(#forest)" })];
}

function rock(picture: MapPicture, at: (p: readonly number[]) => [number, number], labels: LabelPlacer): SVGElement[] {
  if (!picture.rock) return [];
  const [left, bottom] = at(picture.rock);
  const [right, top] = at(picture.rock.slice(3));
  labels.avoid((left + right) / 2, (top + bottom) / 2, (right - left) / 2);
  labels.add((left + right) / 2, (top + bottom) / 2, (right - left) / 2 + 3, ["rock"], "rock");
  return [svg("rect", { class: "rock", x: left, y: top, width: right - left, height: bottom - top, rx: 3 })];
}

function link([x1, y1]: [number, number], [x2, y2]: [number, number], load: number): SVGElement {
  const line = svg("line", { class: "link", x1, y1, x2, y2 });
  line.style.setProperty("--load", `${Math.round(100 * load)}%`);
  return line;
}

/** A device: a dot under the trees, a ring around it where it floats above them, a cross where it has left. */
function marker(x: number, y: number, device: MapDevice): SVGElement {
  const parts = [svg("circle", { cx: x, cy: y, r: 8 })];
  if (device.position[2] > 0) parts.push(svg("circle", { class: "ring", cx: x, cy: y, r: 11.5 }));
  if (device.state === "departed") parts.push(svg("path", { d: `M${x - 6} ${y - 6}l12 12m0 -12l-12 12` }));
  return svg("g", { class: `device ${device.state}` }, ...parts);
}

function drone(x: number, y: number, kind: string): SVGElement {
  const rotors = [[-1, -1], [1, -1], [-1, 1], [1, 1]].map(([dx, dy]) =>
    svg("circle", { cx: x + 11 * dx!, cy: y + 11 * dy!, r: 6 }));
  return svg("g", { class: `drone ${kind}` }, svg("path", { d: `M${x - 11} ${y - 11}l22 22m0 -22l-22 22` }),
    ...rotors, svg("rect", { x: x - 6, y: y - 6, width: 12, height: 12, rx: 3 }));
}

/** A scale at the top, and what the picture's colours say. */
function scaleBar(scale: number, caption: string): SVGElement[] {
  const [x, y, length] = [18, 26, 500 * scale];
  return [svg("path", { class: "scale-bar", d: `M${x} ${y - 6}v6h${length}v-6` }),
    svg("text", { class: "map-label scale-text", x: x + length + 8, y }, "500 m"),
    svg("text", { class: "map-label scale-text", x, y: y + 24 }, caption)];
}
