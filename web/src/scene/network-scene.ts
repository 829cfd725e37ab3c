import * as THREE from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import { colour, onThemeChange } from "../theme";
import type { Box, Position } from "../types";
import { DeviceLayer, isCrowd } from "./device-layer";
import { droneMesh } from "./drone";
import { disposeChildren, DynamicLines, lineSegments } from "./lines";
import { networkLabels } from "./network-labels";
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
  dimmed?: boolean; // drawn faintly and without a name, since others are looked for
}

/** What the colours of links mean, as text. */
export interface LinkScale {
  measure: string; // such as "power needed"
  low: string;
  high: string;
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
  optimum?: Position | null; // where the plan has the server, if it is drawn elsewhere
  serverLabels?: { now: string; before: string; optimum?: string }; // instead of "server", "before" and "optimum"
  links?: LinkScale;
  selected: string | null; // "device:ID", "server" (before), "planned", "box:N", "candidate:N"
}

export const EMPTY_NETWORK: NetworkState = { devices: [], server: null, serverBefore: null, path: [], boxes: [],
  candidates: [], rivals: [], selected: null };

const NAMES_IN_CROWD = 12; // of devices about which there is nothing to say

/** Draws a network in a viewport: devices, links as one set of lines, servers, sites, and names. */
export class NetworkScene {
  state: NetworkState = EMPTY_NETWORK;
  readonly objectiveMap: ObjectiveMap;
  readonly reachShells: ReachShellLayer;
  private devices: DeviceLayer;
  private group = new THREE.Group();
  private listeners: (() => void)[] = [];
  private sites = new THREE.Group(); // boxes, candidates, rivals
  private drawnSites = ""; // what `sites` shows
  private drone = droneMesh("server");
  private droneBefore = droneMesh("faint", 0.55);
  private droneOptimum = droneMesh("server", 0.35);
  private links: LineSegments2 | null = null;
  private linkMaterial = new LineMaterial({ linewidth: 2.2, vertexColors: true });
  private thinLinks = new DynamicLines(new THREE.LineBasicMaterial({ vertexColors: true })); // of a crowd
  private stems = new DynamicLines(new THREE.LineBasicMaterial());
  private moveLine = new DynamicLines(new THREE.LineDashedMaterial({ dashSize: 1.6, gapSize: 1.2 }));
  private trail = new DynamicLines(new THREE.LineBasicMaterial({ vertexColors: true }));

  constructor(readonly viewport: Viewport) {
    this.devices = new DeviceLayer(viewport);
    viewport.scene.add(this.group, this.devices.group, this.sites, this.drone, this.droneBefore, this.droneOptimum,
      this.thinLinks.object, this.stems.object, this.moveLine.object, this.trail.object);
    this.reachShells = new ReachShellLayer(viewport, () => this.notify());
    this.objectiveMap = new ObjectiveMap(viewport, () => this.notify());
    onThemeChange(() => this.changeTheme());
  }

  private changeTheme(): void {
    this.drawnSites = "";
    for (const drone of [this.drone, this.droneBefore, this.droneOptimum]) drone.removeFromParent();
    [this.drone, this.droneBefore, this.droneOptimum] = [droneMesh("server"), droneMesh("faint", 0.55), droneMesh("server", 0.35)];
    this.viewport.scene.add(this.drone, this.droneBefore, this.droneOptimum);
    this.draw(this.state);
  }

  draw(state: NetworkState): void {
    this.state = state;
    this.devices.draw(state.devices, state.selected);
    this.drawStems();
    this.drawLinks();
    this.drawServer();
    this.drawSites();
    this.viewport.labels.mostOrdinary = isCrowd(state.devices) ? NAMES_IN_CROWD : Infinity;
    this.viewport.labels.set("network", networkLabels(state, this.viewport));
    this.viewport.invalidate();
    this.notify();
  }

  /** Calls a listener whenever something else is drawn. */
  onDraw(listener: () => void): void {
    this.listeners.push(listener);
  }

  private notify(): void {
    this.listeners.forEach((listener) => listener());
  }

  /** Draws a line from everything in the air down to the ground. */
  private drawStems(): void {
    const { devices, server } = this.state;
    const flying = devices.filter((device) => device.position[2] > 0 && device.opacity > 0.02 && !device.dimmed).map((device) => device.position);
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
      if (device.linkLoad === null || device.dimmed) continue;
      const from = this.viewport.toScene(device.position);
      const { r, g, b } = low.clone().lerp(high, Math.min(1, Math.max(0, device.linkLoad)));
      points.push(from.x, from.y, from.z, to.x, to.y, to.z);
      colours.push(r, g, b, r, g, b);
    }
    if (!points.length) return;
    if (isCrowd(devices)) {
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
    const { server, serverBefore, optimum, path } = this.state;
    const [to, from, best] = [server, serverBefore, optimum].map((position) => position && this.viewport.toScene(position));
    for (const [drone, at] of [[this.drone, to], [this.droneBefore, from], [this.droneOptimum, best]] as const) {
      drone.visible = !!at;
      if (at) drone.position.copy(at);
    }
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
