import * as THREE from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import { colour, onThemeChange } from "../theme";
import type { Box, Position } from "../types";
import { droneMesh } from "./drone";
import { NetworkLabels } from "./labels";
import { disposeChildren, DynamicLines, lineSegments } from "./lines";
import { ObjectiveMap } from "./objective-map";
import { ReachShellLayer } from "./reach-shell-layer";
import type { Viewport } from "./viewport";

export type DeviceState = "active" | "off" | "failed" | "departed";

/** A device as it is drawn. */
export interface DeviceMarker {
  id: string;
  position: Position;
  state: DeviceState;
  opacity: number;
  linkLoad: number | null; // in [0, 1], the colour of its line to the server; null: no line
  label: string;
}

/** Everything that the scene shows of a network. */
export interface NetworkState {
  devices: DeviceMarker[];
  server: Position | null;
  serverBefore: Position | null;
  path: Position[];
  boxes: Box[];
  candidates: Position[];
  rivals: { label: string; position: Position }[];
  serverLabels?: { now: string; before: string }; // instead of "server" and "before"
  selected: string | null; // "device:ID", "server", "box:N", "candidate:N"
}

export const EMPTY_NETWORK: NetworkState = { devices: [], server: null, serverBefore: null, path: [], boxes: [],
  candidates: [], rivals: [], selected: null };

const CROWD = 60; // from this many devices on, they are drawn smaller and simpler

/** Draws a network in a viewport: instanced devices, links as one set of lines, labels as text. */
export class NetworkScene {
  state: NetworkState = EMPTY_NETWORK;
  readonly objectiveMap: ObjectiveMap;
  readonly reachShells: ReachShellLayer;
  private labels: NetworkLabels;
  private group = new THREE.Group();
  private sites = new THREE.Group(); // boxes, candidates, rivals
  private drawnSites = ""; // what `sites` shows
  private drone = droneMesh("server");
  private droneBefore = droneMesh("faint");
  private meshes: Record<string, THREE.InstancedMesh> = {};
  private links: LineSegments2 | null = null;
  private linkMaterial = new LineMaterial({ linewidth: 2.2, vertexColors: true });
  private thinLinks = new DynamicLines(new THREE.LineBasicMaterial({ vertexColors: true })); // of a crowd
  private stems = new DynamicLines(new THREE.LineBasicMaterial());
  private moveLine = new DynamicLines(new THREE.LineDashedMaterial({ dashSize: 1.6, gapSize: 1.2 }));
  private trail = new DynamicLines(new THREE.LineBasicMaterial({ vertexColors: true }));

  constructor(private viewport: Viewport) {
    viewport.scene.add(this.group, this.sites, this.drone, this.droneBefore, this.thinLinks.object,
      this.stems.object, this.moveLine.object, this.trail.object);
    this.reachShells = new ReachShellLayer(viewport);
    this.objectiveMap = new ObjectiveMap(viewport);
    this.labels = new NetworkLabels(viewport);
    onThemeChange(() => {
      this.drawnSites = "";
      this.drone.removeFromParent();
      this.droneBefore.removeFromParent();
      this.drone = droneMesh("server");
      this.droneBefore = droneMesh("faint");
      viewport.scene.add(this.drone, this.droneBefore);
      this.draw(this.state);
    });
  }

  draw(state: NetworkState): void {
    this.state = state;
    this.drawDevices();
    this.drawStems();
    this.drawLinks();
    this.drawServer();
    this.drawSites();
    this.labels.show(state);
    this.viewport.invalidate();
  }

  private get crowded(): boolean {
    return this.state.devices.length > CROWD;
  }

  // --- devices ---------------------------------------------------------------------------------

  private drawDevices(): void {
    const byKind: Record<string, DeviceMarker[]> = {};
    for (const device of this.state.devices) {
      if (device.opacity <= 0.02) continue;
      const shape = device.position[2] > 0 ? "air" : this.crowded ? "hexagon" : "disc";
      (byKind[`${shape}-${device.state === "departed" ? "wireframe" : "solid"}`] ??= []).push(device);
    }
    for (const kind of new Set([...Object.keys(this.meshes), ...Object.keys(byKind)])) {
      this.fillMesh(kind, byKind[kind] ?? []);
    }
  }

  private fillMesh(kind: string, devices: DeviceMarker[]): void {
    let mesh = this.meshes[kind];
    if (!mesh || mesh.instanceMatrix.count < devices.length) {
      mesh?.removeFromParent();
      mesh?.dispose();
      mesh = new THREE.InstancedMesh(deviceGeometry(kind), deviceMaterial(kind), Math.max(16, 2 * devices.length));
      mesh.frustumCulled = false;
      this.meshes[kind] = mesh;
      this.group.add(mesh);
    }
    mesh.count = devices.length;
    const matrix = new THREE.Matrix4();
    const colours = deviceColours();
    const scale = this.crowded ? 0.55 : 1;
    devices.forEach((device, index) => {
      const size = scale * (0.4 + 0.6 * device.opacity) * (device.state === "off" ? 0.8 : 1);
      matrix.makeScale(size, size, size).setPosition(this.viewport.toScene(device.position));
      mesh.setMatrixAt(index, matrix);
      mesh.setColorAt(index, colours[device.state]);
    });
    mesh.instanceMatrix.needsUpdate = true;
    if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
  }

  /** Draws a line from everything in the air down to the ground. */
  private drawStems(): void {
    const { devices, server } = this.state;
    const flying = devices.filter((device) => device.position[2] > 0 && device.opacity > 0.02).map((device) => device.position);
    const points = (server ? [...flying, server] : flying).flatMap((position) => {
      const { x, y, z } = this.viewport.toScene(position);
      return [x, y, z, x, y, 0];
    });
    this.stems.material.color.set(colour("stem"));
    this.stems.set(points);
  }

  // --- links and the server ----------------------------------------------------------------------

  private drawLinks(): void {
    this.links?.removeFromParent();
    this.links?.geometry.dispose();
    this.links = null;
    this.thinLinks.set([], []);
    const { devices, server } = this.state;
    if (!server) return;
    const to = this.viewport.toScene(server);
    const [points, colours]: [number[], number[]] = [[], []];
    const [low, high] = [new THREE.Color(colour("low")), new THREE.Color(colour("high"))];
    for (const device of devices) {
      if (device.linkLoad === null) continue;
      const from = this.viewport.toScene(device.position);
      const { r, g, b } = low.clone().lerp(high, Math.min(1, Math.max(0, device.linkLoad)));
      points.push(from.x, from.y, from.z, to.x, to.y, to.z);
      colours.push(r, g, b, r, g, b);
    }
    if (!points.length) return;
    if (this.crowded) {
      this.thinLinks.set(points, colours);
      return;
    }
    const geometry = new LineSegmentsGeometry();
    geometry.setPositions(points);
    geometry.setColors(colours);
    this.links = new LineSegments2(geometry, this.linkMaterial);
    this.links.frustumCulled = false;
    this.group.add(this.links);
  }

  private drawServer(): void {
    const { server, serverBefore, path } = this.state;
    const [to, from] = [server, serverBefore].map((position) => position && this.viewport.toScene(position));
    this.drone.visible = !!to;
    if (to) this.drone.position.copy(to);
    this.droneBefore.visible = !!from;
    if (from) this.droneBefore.position.copy(from);
    this.moveLine.material.color.set(colour("server"));
    this.moveLine.set(to && from ? [...from.toArray(), ...to.toArray()] : []);
    this.drawTrail(path.map((position) => this.viewport.toScene(position)));
  }

  /** Draws the server's past positions, the latest most visible. */
  private drawTrail(positions: THREE.Vector3[]): void {
    const [strong, faint] = [new THREE.Color(colour("server")), new THREE.Color(colour("ground"))];
    const shade = (index: number) => faint.clone().lerp(strong, 0.25 + 0.75 * index / positions.length).toArray();
    const [points, colours]: [number[], number[]] = [[], []];
    for (let index = 1; index < positions.length; index++) {
      points.push(...positions[index - 1]!.toArray(), ...positions[index]!.toArray());
      colours.push(...shade(index - 1), ...shade(index));
    }
    this.trail.set(points, colours);
  }

  // --- boxes, candidates, rivals -----------------------------------------------------------------

  private drawSites(): void {
    const { boxes, candidates, selected, rivals } = this.state;
    const content = JSON.stringify([boxes, candidates, selected, rivals, this.viewport.unit]);
    if (content === this.drawnSites) return;
    this.drawnSites = content;
    disposeChildren(this.sites);
    boxes.forEach((box, index) => this.sites.add(this.boxMesh(box, selected === `box:${index}`)));
    candidates.forEach((position, index) => {
      this.sites.add(this.siteMesh(position, "candidate", selected === `candidate:${index}`));
    });
    for (const { position } of rivals) this.sites.add(this.siteMesh(position, "muted", false));
  }

  private boxMesh(box: Box, selected: boolean): THREE.Object3D {
    const [low, high] = [this.viewport.toScene(box.slice(0, 3)), this.viewport.toScene(box.slice(3, 6))];
    const geometry = new THREE.BoxGeometry(...high.clone().sub(low).toArray());
    const inside = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ color: colour("box"),
      transparent: true, opacity: selected ? 0.3 : 0.18, depthWrite: false }));
    const edges = new THREE.LineSegments(new THREE.EdgesGeometry(geometry),
      new THREE.LineBasicMaterial({ color: colour("box") }));
    const both = new THREE.Group().add(inside, edges);
    both.position.copy(low.add(high).multiplyScalar(0.5));
    return both;
  }

  private siteMesh(position: Position, colourName: string, selected: boolean): THREE.Object3D {
    const { x, y, z } = this.viewport.toScene(position);
    const mark = new THREE.Mesh(new THREE.OctahedronGeometry(selected ? 2.4 : 1.7),
      new THREE.MeshBasicMaterial({ color: colour(colourName), wireframe: true }));
    mark.position.set(x, y, z);
    return new THREE.Group().add(mark, lineSegments([x, y, z, x, y, 0], colour("stem")));
  }
}

function deviceGeometry(kind: string): THREE.BufferGeometry {
  if (kind.startsWith("air")) return new THREE.OctahedronGeometry(1.9);
  const disc = new THREE.CylinderGeometry(1.7, 1.7, 1, kind.startsWith("disc") ? 20 : 6);
  disc.rotateX(Math.PI / 2).translate(0, 0, 0.5);
  return disc;
}

function deviceMaterial(kind: string): THREE.Material {
  if (kind.endsWith("wireframe")) {
    return new THREE.MeshBasicMaterial({ wireframe: true, transparent: true, opacity: 0.85 });
  }
  return new THREE.MeshLambertMaterial();
}

const deviceColours = (): Record<DeviceState, THREE.Color> => ({
  active: new THREE.Color(colour("device")), off: new THREE.Color(colour("off")),
  failed: new THREE.Color(colour("failed")), departed: new THREE.Color(colour("departed")),
});
