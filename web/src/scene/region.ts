import * as THREE from "three";
import { colour } from "../theme";
import type { Position } from "../types";
import type { Label } from "./label-layer";
import { RULER_PRIORITY } from "./label-layer";
import { lineSegments } from "./lines";

/** The ground, its grid and the edges of a region whose sides are in scene units. */
export function regionObjects([x, y, z]: Position, gridStep: number): THREE.Object3D[] {
  const ground = new THREE.Mesh(new THREE.PlaneGeometry(x, y),
    new THREE.MeshBasicMaterial({ color: colour("ground"), side: THREE.DoubleSide }));
  ground.position.set(x / 2, y / 2, -0.15);
  return [ground, gridLines(x, y, gridStep), edges(x, y, z)];
}

function gridLines(x: number, y: number, step: number): THREE.LineSegments {
  const points: number[] = [];
  for (let at = 0; at <= x + 1e-6; at += step) points.push(at, 0, 0, at, y, 0);
  for (let at = 0; at <= y + 1e-6; at += step) points.push(0, at, 0, x, at, 0);
  return lineSegments(points, colour("grid"));
}

function edges(x: number, y: number, z: number): THREE.LineSegments {
  const corners = [[0, 0], [x, 0], [x, y], [0, y]];
  const points: number[] = [];
  corners.forEach(([cx, cy], index) => {
    const [nx, ny] = corners[(index + 1) % 4]!;
    points.push(cx!, cy!, 0, cx!, cy!, z, cx!, cy!, z, nx!, ny!, z, cx!, cy!, 0, nx!, ny!, 0);
  });
  return lineSegments(points, colour("edge"));
}

/** Labels in metres along three edges; from above, along two. */
export function rulerLabels(region: Position, unit: number, top: boolean): Label[] {
  const [x, y] = [region[0] * unit, region[1] * unit];
  const labels: Label[] = [];
  const mark = (text: string, ...at: Position) =>
    labels.push({ key: `ruler:${labels.length}`, text, kind: "mark", at: new THREE.Vector3(...at), priority: RULER_PRIORITY });
  const step = rulerStep(Math.max(...region));
  const along = (axis: number, first: number, position: (at: number) => Position) => {
    for (let at = first; at <= region[axis]! + 1e-6; at += step) mark(`${Number(at.toPrecision(6))}`, ...position(at * unit));
  };
  const between = 0.25 * step * unit;
  mark("x, m", x / 2 + between, -11, 0);
  mark("y, m", x + 15, y / 2 + between, 0);
  if (!top) mark("z, m", -13, -6, region[2] * unit / 2 + between);
  along(0, 0, (at) => [at, -4, 0]);
  along(1, step, (at) => [x + 4, at, 0]);
  if (!top) along(2, step, (at) => [-4, -2, at]);
  return labels;
}

export function rulerStep(longest: number): number {
  const rough = longest / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 2.5, 5, 10].map((n) => n * power).find((step) => step >= rough * 0.99) ?? rough;
}
