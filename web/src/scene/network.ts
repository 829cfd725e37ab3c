import * as THREE from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import { colour, onTheme } from "../theme";
import type { Box, Point, Shells, Surface } from "../types";
import { drone } from "./drone";
import type { Stage } from "./stage";
import { lines } from "./stage";

export type Look = "active" | "off" | "failed" | "ghost";

/** A device as it is drawn; `link` in [0, 1] colours its line to the server, null: none. */
export interface Spot {
  id: string;
  at: Point;
  look: Look;
  fade: number; // 0: invisible, 1: whole
  link: number | null;
  label: string;
}

export interface Things {
  spots: Spot[];
  server: Point | null;
  before: Point | null;
  path: Point[];
  boxes: Box[];
  candidates: Point[];
  rivals: { label: string; at: Point }[];
  selected: string | null; // "device:ID", "server", "box:N", "candidate:N"
}

export const NOTHING: Things = { spots: [], server: null, before: null, path: [], boxes: [],
  candidates: [], rivals: [], selected: null };

const LABELLED = 40; // devices that have their names beside them
const MANY = 60; // devices from which they are drawn smaller

/** The network on a stage: instanced devices, links as one set of lines, names as text above. */
export class Network {
  things: Things = NOTHING;
  private group = new THREE.Group();
  private fixed = new THREE.Group(); // boxes, candidates, shells
  private heat: THREE.Mesh | null = null;
  private shells = new THREE.Group();
  private drone = drone("server");
  private shadow = drone("faint");
  private meshes: Record<string, THREE.InstancedMesh> = {};
  private links: LineSegments2 | null = null;
  private linkMaterial = new LineMaterial({ linewidth: 2.2, vertexColors: true });
  private stems: THREE.LineSegments | null = null;
  private trail: THREE.Group = new THREE.Group();
  private labels = new Map<string, HTMLElement>();
  private fixedKey = "";

  constructor(readonly stage: Stage) {
    stage.scene.add(this.group, this.fixed, this.shells, this.drone, this.shadow, this.trail);
    stage.afterFrame(() => this.placeLabels());
    onTheme(() => {
      this.fixedKey = "";
      this.drone.removeFromParent();
      this.shadow.removeFromParent();
      this.drone = drone("server");
      this.shadow = drone("faint");
      stage.scene.add(this.drone, this.shadow);
      this.draw(this.things);
    });
  }

  draw(things: Things): void {
    this.things = things;
    this.drawSpots();
    this.drawLinks();
    this.drawServer();
    this.drawFixed();
    this.drawLabels();
    this.stage.invalidate();
  }

  private scale(): number {
    return this.things.spots.length > MANY ? 0.55 : 1;
  }

  // --- devices ---------------------------------------------------------------------------------

  private drawSpots(): void {
    const kinds: Record<string, Spot[]> = {};
    for (const spot of this.things.spots) {
      if (spot.fade <= 0.02) continue;
      const shape = spot.at[2] > 0 ? "air" : "ground";
      (kinds[`${shape}-${spot.look === "ghost" ? "ghost" : "solid"}`] ??= []).push(spot);
    }
    for (const kind of ["air-solid", "ground-solid", "air-ghost", "ground-ghost"]) {
      this.fill(kind, kinds[kind] ?? []);
    }
    this.drawStems();
  }

  private fill(kind: string, spots: Spot[]): void {
    let mesh = this.meshes[kind];
    if (!mesh || mesh.instanceMatrix.count < spots.length) {
      mesh?.removeFromParent();
      mesh?.dispose();
      mesh = new THREE.InstancedMesh(shapeOf(kind), materialOf(kind), Math.max(16, 2 * spots.length));
      mesh.frustumCulled = false;
      this.meshes[kind] = mesh;
      this.group.add(mesh);
    }
    mesh.count = spots.length;
    const matrix = new THREE.Matrix4();
    const paint = new THREE.Color();
    spots.forEach((spot, index) => {
      const size = this.scale() * (0.4 + 0.6 * spot.fade) * (spot.look === "off" ? 0.8 : 1);
      matrix.makeScale(size, size, size).setPosition(this.stage.at(spot.at));
      mesh.setMatrixAt(index, matrix);
      mesh.setColorAt(index, paint.set(paintOf(spot.look)));
    });
    mesh.instanceMatrix.needsUpdate = true;
    if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
  }

  private drawStems(): void {
    this.stems?.removeFromParent();
    this.stems?.geometry.dispose();
    const points: number[] = [];
    for (const spot of this.things.spots) {
      if (spot.at[2] <= 0 || spot.fade <= 0.02) continue;
      const at = this.stage.at(spot.at);
      points.push(at.x, at.y, at.z, at.x, at.y, 0);
    }
    this.stems = lines(points, colour("stem"));
    this.group.add(this.stems);
  }

  // --- links and the server ----------------------------------------------------------------------

  private drawLinks(): void {
    this.links?.removeFromParent();
    this.links?.geometry.dispose();
    this.links = null;
    const server = this.things.server;
    if (!server) return;
    const to = this.stage.at(server);
    const [points, paints]: [number[], number[]] = [[], []];
    const [low, high] = [new THREE.Color(colour("low")), new THREE.Color(colour("high"))];
    for (const spot of this.things.spots) {
      if (spot.link === null) continue;
      const from = this.stage.at(spot.at);
      const paint = low.clone().lerp(high, Math.min(1, Math.max(0, spot.link)));
      points.push(from.x, from.y, from.z, to.x, to.y, to.z);
      paints.push(paint.r, paint.g, paint.b, paint.r, paint.g, paint.b);
    }
    if (!points.length) return;
    const geometry = new LineSegmentsGeometry();
    geometry.setPositions(points);
    geometry.setColors(paints);
    this.linkMaterial.linewidth = this.things.spots.length > MANY ? 1 : 2.2;
    this.links = new LineSegments2(geometry, this.linkMaterial);
    this.links.frustumCulled = false;
    this.group.add(this.links);
  }

  private drawServer(): void {
    const { server, before, path } = this.things;
    this.drone.visible = server !== null;
    if (server) this.drone.position.copy(this.stage.at(server));
    this.shadow.visible = before !== null;
    if (before) this.shadow.position.copy(this.stage.at(before));
    this.trail.clear();
    if (server && before) this.trail.add(dashed(this.stage.at(before), this.stage.at(server)));
    if (server) {
      const foot = this.stage.at([server[0], server[1], 0]);
      this.trail.add(lines([...this.stage.at(server).toArray(), ...foot.toArray()], colour("stem")));
    }
    if (path.length > 1) this.trail.add(trailOf(path.map((point) => this.stage.at(point))));
  }

  // --- boxes, candidates, rivals -----------------------------------------------------------------

  private drawFixed(): void {
    const { boxes, candidates, selected, rivals } = this.things;
    const key = JSON.stringify([boxes, candidates, selected, rivals, this.stage.unit]);
    if (key === this.fixedKey) return;
    this.fixedKey = key;
    this.fixed.clear();
    boxes.forEach((box, index) => this.fixed.add(this.box(box, selected === `box:${index}`)));
    candidates.forEach((place, index) => {
      this.fixed.add(this.pin(place, colour("candidate"), selected === `candidate:${index}`));
    });
    for (const rival of rivals) this.fixed.add(this.pin(rival.at, colour("muted"), false));
  }

  private box(box: Box, selected: boolean): THREE.Object3D {
    const [low, high] = [this.stage.at(box.slice(0, 3)), this.stage.at(box.slice(3, 6))];
    const shape = new THREE.BoxGeometry(...high.clone().sub(low).toArray());
    const inside = new THREE.Mesh(shape, new THREE.MeshBasicMaterial({ color: colour("box"),
      transparent: true, opacity: selected ? 0.3 : 0.18, depthWrite: false }));
    const edges = new THREE.LineSegments(new THREE.EdgesGeometry(shape),
      new THREE.LineBasicMaterial({ color: colour("box") }));
    const both = new THREE.Group().add(inside, edges);
    both.position.copy(low.add(high).multiplyScalar(0.5));
    return both;
  }

  private pin(place: Point, paint: string, selected: boolean): THREE.Object3D {
    const at = this.stage.at(place);
    const mark = new THREE.Mesh(new THREE.OctahedronGeometry(selected ? 2.4 : 1.7),
      new THREE.MeshBasicMaterial({ color: paint, wireframe: true }));
    mark.position.copy(at);
    const stem = lines([at.x, at.y, at.z, at.x, at.y, 0], colour("stem"));
    return new THREE.Group().add(mark, stem);
  }

  // --- the objective at an altitude, and how far devices are heard -----------------------------------

  setHeat(surface: Surface | null): void {
    this.heat?.removeFromParent();
    if (this.heat) {
      this.heat.geometry.dispose();
      const material = this.heat.material as THREE.MeshBasicMaterial;
      material.map?.dispose();
      material.dispose();
    }
    this.heat = null;
    this.stage.invalidate();
    if (!surface) return;
    const [x, y] = [this.stage.region[0] * this.stage.unit, this.stage.region[1] * this.stage.unit];
    const material = new THREE.MeshBasicMaterial({ map: heatTexture(surface), transparent: true,
      side: THREE.DoubleSide, depthWrite: false });
    this.heat = new THREE.Mesh(new THREE.PlaneGeometry(x, y), material);
    this.heat.position.set(x / 2, y / 2, surface.altitude_m * this.stage.unit);
    this.heat.renderOrder = -1;
    this.stage.scene.add(this.heat);
  }

  setShells(found: Shells | null, places: Map<string, Point>): void {
    for (const child of this.shells.children) (child as THREE.Mesh).geometry.dispose();
    this.shells.clear();
    this.stage.invalidate();
    const alone = found?.shells.length === 1;
    for (const shell of found?.shells ?? []) {
      const place = places.get(shell.id);
      if (!place) continue;
      const shape = shellShape(found!.elevation_deg, shell.radius_m, this.stage.unit, place[2] > 0,
        Math.max(...this.stage.region));
      const paint = { color: colour("device"), transparent: true, depthWrite: false, clippingPlanes: this.stage.walls() };
      const mesh = new THREE.Mesh(shape, new THREE.MeshBasicMaterial({ ...paint,
        opacity: alone ? 0.13 : 0.05, side: THREE.DoubleSide }));
      mesh.position.copy(this.stage.at(place));
      if (alone) {
        mesh.add(new THREE.LineSegments(new THREE.WireframeGeometry(shape),
          new THREE.LineBasicMaterial({ ...paint, opacity: 0.14 })));
      }
      this.shells.add(mesh);
    }
  }

  // --- names ---------------------------------------------------------------------------------------

  private drawLabels(): void {
    const { spots, server, before, rivals, selected } = this.things;
    const wanted = new Map<string, [string, string]>();
    if (server) wanted.set("server", ["server", "the server"]);
    if (before && server && this.stage.at(before).distanceTo(this.stage.at(server)) > 6) {
      wanted.set("before", ["before", "before"]);
    }
    for (const rival of rivals) wanted.set(`rival:${rival.label}`, ["rival", rival.label]);
    for (const spot of spots) {
      const chosen = selected === `device:${spot.id}`;
      if (spot.fade <= 0.02 || (spots.length > LABELLED && !chosen)) continue;
      wanted.set(`device:${spot.id}`, [`${spot.look}${chosen ? " chosen" : ""}`, spot.label]);
    }
    for (const [key, label] of this.labels) {
      if (!wanted.has(key)) {
        label.remove();
        this.labels.delete(key);
      }
    }
    for (const [key, [kind, text]] of wanted) {
      let label = this.labels.get(key);
      if (!label) {
        label = document.createElement("span");
        this.labels.set(key, label);
        this.stage.overlay.append(label);
      }
      if (label.className !== `name ${kind}`) label.className = `name ${kind}`;
      if (label.textContent !== text) label.textContent = text;
    }
  }

  private placeLabels(): void {
    const places = new Map<string, Point>(this.things.spots.map((s) => [`device:${s.id}`, s.at]));
    if (this.things.server) places.set("server", this.things.server);
    if (this.things.before) places.set("before", this.things.before);
    for (const rival of this.things.rivals) places.set(`rival:${rival.label}`, rival.at);
    const taken: { x: number; y: number; wide: number }[] = [];
    for (const [key, label] of this.labels) {
      const place = places.get(key);
      const seen = place ? this.stage.onScreen(place) : null;
      label.hidden = seen === null;
      if (!seen) continue;
      const spot = freeSpot(seen, 7 * (label.textContent?.length ?? 0) + 10, taken);
      label.style.transform = `translate(${spot.x.toFixed(1)}px, ${spot.y.toFixed(1)}px)`;
    }
  }
}

/** A place for a name that covers no other: at its thing, or a line or two above or below. */
function freeSpot(at: { x: number; y: number }, wide: number,
  taken: { x: number; y: number; wide: number }[]): { x: number; y: number } {
  const covered = (y: number) => taken.some((other) => Math.abs(other.y - y) < 17 &&
    at.x < other.x + other.wide && other.x < at.x + wide);
  const shift = [0, 18, -18, 36, -36].find((step) => !covered(at.y + step)) ?? 0;
  const spot = { x: at.x, y: at.y + shift, wide };
  taken.push(spot);
  return spot;
}

function shapeOf(kind: string): THREE.BufferGeometry {
  if (kind.startsWith("air")) return new THREE.OctahedronGeometry(1.9);
  const disc = new THREE.CylinderGeometry(1.7, 1.7, 1, 20);
  disc.rotateX(Math.PI / 2).translate(0, 0, 0.5);
  return disc;
}

function materialOf(kind: string): THREE.Material {
  if (kind.endsWith("ghost")) {
    return new THREE.MeshBasicMaterial({ wireframe: true, transparent: true, opacity: 0.85 });
  }
  return new THREE.MeshStandardMaterial({ roughness: 0.65, metalness: 0 });
}

const paintOf = (look: Look): string =>
  colour({ active: "device", off: "off", failed: "failed", ghost: "ghost" }[look]);

function dashed(from: THREE.Vector3, to: THREE.Vector3): THREE.Line {
  const line = new THREE.Line(new THREE.BufferGeometry().setFromPoints([from, to]),
    new THREE.LineDashedMaterial({ color: colour("server"), dashSize: 1.6, gapSize: 1.2 }));
  line.computeLineDistances();
  return line;
}

function trailOf(points: THREE.Vector3[]): THREE.Line {
  const paint = new THREE.Color(colour("server"));
  const paper = new THREE.Color(colour("ground"));
  const geometry = new THREE.BufferGeometry().setFromPoints(points);
  const paints = points.flatMap((_, index) =>
    paper.clone().lerp(paint, 0.25 + 0.75 * index / points.length).toArray());
  geometry.setAttribute("color", new THREE.Float32BufferAttribute(paints, 3));
  return new THREE.Line(geometry, new THREE.LineBasicMaterial({ vertexColors: true }));
}

/** Good places are deep, poor ones clear; where the server may not be, nothing. */
function heatTexture(surface: Surface): THREE.DataTexture {
  const [rows, columns] = [surface.objective.length, surface.objective[0]!.length];
  const known = surface.objective.flat().filter((value): value is number => value !== null);
  const low = Math.min(...known);
  const sorted = known.slice().sort((a, b) => a - b);
  const high = sorted[Math.floor(0.9 * (sorted.length - 1))] ?? low;
  const paint = new THREE.Color(colour("shade"));
  const data = new Uint8Array(4 * rows * columns);
  surface.objective.forEach((row, r) => row.forEach((value, c) => {
    const at = 4 * (r * columns + c);
    const worse = value === null ? 1 : Math.log1p(value - low) / Math.max(Math.log1p(high - low), 1e-9);
    const sRgb = paint.clone().convertLinearToSRGB();
    data[at] = 255 * sRgb.r;
    data[at + 1] = 255 * sRgb.g;
    data[at + 2] = 255 * sRgb.b;
    data[at + 3] = value === null ? 0 : 210 * Math.max(0.03, (1 - Math.min(1, worse)) ** 1.3);
  }));
  const texture = new THREE.DataTexture(data, columns, rows);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.magFilter = texture.minFilter = THREE.LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

/** The radius by elevation, turned around the vertical; below too where the device flies. */
function shellShape(elevations: number[], radii: (number | null)[], unit: number, flies: boolean,
  most: number): THREE.BufferGeometry {
  const outline = elevations.map((degrees, index) => {
    const radius = Math.min(radii[index] ?? most, 2 * most) * unit;
    const up = degrees * Math.PI / 180;
    return new THREE.Vector2(Math.max(radius * Math.cos(up), 0.001), radius * Math.sin(up));
  });
  const below = flies ? outline.slice(1).reverse().map((p) => new THREE.Vector2(p.x, -p.y)) : [];
  const shape = new THREE.LatheGeometry([...below, ...outline], 36);
  shape.rotateX(Math.PI / 2);
  return shape;
}
