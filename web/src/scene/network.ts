import * as THREE from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import { colour, onTheme } from "../theme";
import type { Box, Point, Shells, Surface } from "../types";
import { drone } from "./drone";
import type { Stage } from "./stage";
import { empty, lines, Strokes } from "./stage";

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
  private heat = heatPlane();
  private shells = new THREE.Group();
  private shellPaint = { // kept: a new material would be compiled anew
    skin: new THREE.MeshBasicMaterial({ transparent: true, depthWrite: false, side: THREE.DoubleSide }),
    wire: new THREE.MeshBasicMaterial({ transparent: true, depthWrite: false, wireframe: true, opacity: 0.12 }),
  };
  private drone = drone("server");
  private shadow = drone("faint");
  private meshes: Record<string, THREE.InstancedMesh> = {};
  private links: LineSegments2 | null = null;
  private linkMaterial = new LineMaterial({ linewidth: 2.2, vertexColors: true });
  private thin = new Strokes(new THREE.LineBasicMaterial({ vertexColors: true })); // links of a crowd
  private stems = new Strokes(new THREE.LineBasicMaterial());
  private hop = new Strokes(new THREE.LineDashedMaterial({ dashSize: 1.6, gapSize: 1.2 }));
  private trail = new Strokes(new THREE.LineBasicMaterial({ vertexColors: true }));
  private labels = new Map<string, HTMLElement>();
  private fixedKey = "";

  constructor(readonly stage: Stage) {
    stage.scene.add(this.group, this.fixed, this.shells, this.drone, this.shadow, this.heat,
      this.thin.object, this.stems.object, this.hop.object, this.trail.object);
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
    const ground = this.things.spots.length > MANY ? "plain" : "round";
    for (const spot of this.things.spots) {
      if (spot.fade <= 0.02) continue;
      const shape = spot.at[2] > 0 ? "air" : ground;
      (kinds[`${shape}-${spot.look === "ghost" ? "ghost" : "solid"}`] ??= []).push(spot);
    }
    for (const kind of new Set([...Object.keys(this.meshes), ...Object.keys(kinds)])) {
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
    const paints = paintsOf();
    spots.forEach((spot, index) => {
      const size = this.scale() * (0.4 + 0.6 * spot.fade) * (spot.look === "off" ? 0.8 : 1);
      matrix.makeScale(size, size, size).setPosition(this.stage.at(spot.at));
      mesh.setMatrixAt(index, matrix);
      mesh.setColorAt(index, paints[spot.look]);
    });
    mesh.instanceMatrix.needsUpdate = true;
    if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
  }

  /** From everything in the air a line down to where it is above the ground. */
  private drawStems(): void {
    const { spots, server } = this.things;
    const flying = spots.filter((spot) => spot.at[2] > 0 && spot.fade > 0.02).map((spot) => spot.at);
    const points = (server ? [...flying, server] : flying).flatMap((place) => {
      const at = this.stage.at(place);
      return [at.x, at.y, at.z, at.x, at.y, 0];
    });
    this.stems.material.color.set(colour("stem"));
    this.stems.set(points);
  }

  // --- links and the server ----------------------------------------------------------------------

  private drawLinks(): void {
    this.links?.removeFromParent();
    this.links?.geometry.dispose();
    this.links = null;
    this.thin.set([], []);
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
    if (this.things.spots.length > MANY) {
      this.thin.set(points, paints);
      return;
    }
    const geometry = new LineSegmentsGeometry();
    geometry.setPositions(points);
    geometry.setColors(paints);
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
    const hop = server && before ? [...this.stage.at(before).toArray(), ...this.stage.at(server).toArray()] : [];
    this.hop.material.color.set(colour("server"));
    this.hop.set(hop);
    this.drawTrail(path.map((point) => this.stage.at(point)));
  }

  /** Where the server has been, the latest most visible. */
  private drawTrail(places: THREE.Vector3[]): void {
    const [paint, paper] = [new THREE.Color(colour("server")), new THREE.Color(colour("ground"))];
    const shade = (index: number) => paper.clone().lerp(paint, 0.25 + 0.75 * index / places.length).toArray();
    const [points, paints]: [number[], number[]] = [[], []];
    for (let index = 1; index < places.length; index++) {
      points.push(...places[index - 1]!.toArray(), ...places[index]!.toArray());
      paints.push(...shade(index - 1), ...shade(index));
    }
    this.trail.set(points, paints);
  }

  // --- boxes, candidates, rivals -----------------------------------------------------------------

  private drawFixed(): void {
    const { boxes, candidates, selected, rivals } = this.things;
    const key = JSON.stringify([boxes, candidates, selected, rivals, this.stage.unit]);
    if (key === this.fixedKey) return;
    this.fixedKey = key;
    empty(this.fixed);
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
    this.heat.visible = surface !== null;
    this.stage.invalidate();
    if (!surface) return;
    const [x, y] = [this.stage.region[0] * this.stage.unit, this.stage.region[1] * this.stage.unit];
    this.heat.scale.set(x, y, 1);
    this.heat.position.set(x / 2, y / 2, surface.altitude_m * this.stage.unit);
    paintHeat(this.heat.material as THREE.MeshBasicMaterial, surface);
  }

  setShells(found: Shells | null, places: Map<string, Point>): void {
    for (const child of this.shells.children) (child as THREE.Mesh).geometry.dispose();
    this.shells.clear();
    this.stage.invalidate();
    const alone = found?.shells.length === 1;
    for (const paint of [this.shellPaint.skin, this.shellPaint.wire]) {
      paint.color.set(colour("device"));
      paint.clippingPlanes = this.stage.walls();
    }
    this.shellPaint.skin.opacity = alone ? 0.13 : 0.05;
    for (const shell of found?.shells ?? []) {
      const place = places.get(shell.id);
      if (!place) continue;
      const shape = shellShape(found!.elevation_deg, shell.radius_m, this.stage.unit, place[2] > 0,
        Math.max(...this.stage.region));
      const parts = [new THREE.Mesh(shape, this.shellPaint.skin)] as THREE.Object3D[];
      if (alone) parts.push(new THREE.Mesh(shape, this.shellPaint.wire));
      for (const part of parts) part.name = shell.id;
      this.shells.add(...parts);
    }
    this.moveShells(places);
  }

  moveShells(places: Map<string, Point>): void {
    for (const part of this.shells.children) part.position.copy(this.stage.at(places.get(part.name)!));
    this.stage.invalidate();
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
  const disc = new THREE.CylinderGeometry(1.7, 1.7, 1, kind.startsWith("round") ? 20 : 6);
  disc.rotateX(Math.PI / 2).translate(0, 0, 0.5);
  return disc;
}

function materialOf(kind: string): THREE.Material {
  if (kind.endsWith("ghost")) {
    return new THREE.MeshBasicMaterial({ wireframe: true, transparent: true, opacity: 0.85 });
  }
  return new THREE.MeshLambertMaterial();
}

const paintsOf = (): Record<Look, THREE.Color> => ({
  active: new THREE.Color(colour("device")), off: new THREE.Color(colour("off")),
  failed: new THREE.Color(colour("failed")), ghost: new THREE.Color(colour("ghost")),
});

function heatPlane(): THREE.Mesh {
  const material = new THREE.MeshBasicMaterial({ map: blankTexture(2, 2), transparent: true,
    side: THREE.DoubleSide, depthWrite: false });
  const plane = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), material);
  plane.renderOrder = -1;
  plane.visible = false;
  return plane;
}

function blankTexture(columns: number, rows: number): THREE.DataTexture {
  const texture = new THREE.DataTexture(new Uint8Array(4 * rows * columns), columns, rows);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.magFilter = texture.minFilter = THREE.LinearFilter;
  return texture;
}

/** Good places are deep, poor ones clear; where the server may not be, nothing. */
function paintHeat(material: THREE.MeshBasicMaterial, surface: Surface): void {
  const [rows, columns] = [surface.objective.length, surface.objective[0]!.length];
  const image = material.map!.image as { width: number; height: number };
  if (image.width !== columns || image.height !== rows) {
    material.map!.dispose();
    material.map = blankTexture(columns, rows);
  }
  const data = (material.map!.image as unknown as { data: Uint8Array }).data;
  const known = surface.objective.flat().filter((value): value is number => value !== null);
  const sorted = known.sort((a, b) => a - b);
  const [low, high] = [sorted[0] ?? 0, sorted[Math.floor(0.9 * (sorted.length - 1))] ?? 0];
  const whole = Math.max(Math.log1p(high - low), 1e-9);
  const paint = new THREE.Color(colour("shade")).convertLinearToSRGB().toArray().map((c) => 255 * c);
  let at = 0;
  for (const row of surface.objective) {
    for (const value of row) {
      data.set(paint, at);
      const worse = value === null ? 1 : Math.min(1, Math.log1p(value - low) / whole);
      data[at + 3] = value === null ? 0 : 210 * Math.max(0.03, (1 - worse) ** 1.3);
      at += 4;
    }
  }
  material.map!.needsUpdate = true;
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
