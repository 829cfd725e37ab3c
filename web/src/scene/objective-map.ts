import * as THREE from "three";
import { digits } from "../format";
import { colour, onThemeChange } from "../theme";
import type { ObjectiveSurface } from "../types";
import { contour, labelPoint } from "./contours";
import { RULER_PRIORITY } from "./label-layer";
import { DynamicLines } from "./lines";
import type { Viewport } from "./viewport";

const CLEAR_FROM = 0.9; // the share of positions from which on the map is clear
const CONTOURS = [0.25, 0.5, 0.75]; // parts of the colour scale that are drawn as lines
const FINE = 41; // points a side from which on lines are drawn: while something is dragged, there are fewer

/** The values that the colours of the map stand for. */
export interface MapScale {
  altitude_m: number;
  lowest: number;
  middle: number; // in the middle of the colour scale, which is logarithmic
  clear: number; // from here on the map is clear
  highest: number;
}

/** The objective over the server's positions at one altitude, as a shaded plane. */
export class ObjectiveMap {
  scale: MapScale | null = null; // null: no map is shown
  contours = 0; // lines of equal objective that are shown
  private surface: ObjectiveSurface | null = null;
  private lines = new DynamicLines(new THREE.LineBasicMaterial({ transparent: true, opacity: 0.7 }));
  private mesh: THREE.Mesh<THREE.PlaneGeometry, THREE.MeshBasicMaterial>;
  private ray = new THREE.Raycaster();

  constructor(private viewport: Viewport, private onChange: () => void) {
    const material = new THREE.MeshBasicMaterial({ map: blankTexture(2, 2), transparent: true,
      side: THREE.DoubleSide, depthWrite: false });
    this.mesh = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), material);
    this.mesh.renderOrder = -1;
    this.mesh.visible = false;
    viewport.scene.add(this.mesh, this.lines.object);
    onThemeChange(() => this.show(this.surface));
  }

  show(surface: ObjectiveSurface | null): void {
    this.scale = surface && scaleOf(surface);
    this.surface = this.scale && surface;
    this.mesh.visible = this.scale !== null;
    this.viewport.invalidate();
    if (surface && this.scale) {
      const { region, unit } = this.viewport;
      const [x, y] = [region[0] * unit, region[1] * unit];
      this.mesh.scale.set(x, y, 1);
      this.mesh.position.set(x / 2, y / 2, surface.altitude_m * unit);
      paint(this.mesh.material, surface, this.scale);
    }
    this.drawContours();
    this.onChange();
  }

  /** Draws lines of equal objective, each with its number. */
  private drawContours(): void {
    const { surface, scale, viewport: { region, unit, labels } } = this;
    const fine = surface !== null && scale !== null && surface.x_m.length >= FINE && scale.clear > scale.lowest;
    const contours = !fine ? [] : CONTOURS.map((part) => contour(surface, valueAt(scale, part))).filter(({ segments }) => segments.length);
    const height = (surface?.altitude_m ?? 0) * unit;
    const at = (x: number, y: number) => new THREE.Vector3(x * region[0] * unit, y * region[1] * unit, height);
    this.contours = contours.length;
    this.lines.material.color.set(colour("shade"));
    this.lines.set(contours.flatMap(({ segments }) => segments.flatMap((x, index) => (index % 2 ? [] : at(x, segments[index + 1]!).toArray()))));
    labels.set("contours", contours.map((line) => ({ key: `contour:${line.value}`, text: digits(line.value, 3), kind: "contour",
      at: at(...labelPoint(line)), priority: RULER_PRIORITY })));
  }

  /** The position on the map under a point of the canvas, in CSS pixels, and the objective there. */
  valueUnder(x: number, y: number): { x_m: number; y_m: number; objective: number | null } | null {
    const { surface, viewport: { canvas, camera, unit, region } } = this;
    if (!surface) return null;
    const pointer = new THREE.Vector2(2 * x / canvas.clientWidth - 1, 1 - 2 * y / canvas.clientHeight);
    this.ray.setFromCamera(pointer, camera);
    const plane = new THREE.Plane(new THREE.Vector3(0, 0, 1), -surface.altitude_m * unit);
    const hit = this.ray.ray.intersectPlane(plane, new THREE.Vector3());
    const [x_m, y_m] = hit ? [hit.x / unit, hit.y / unit] : [-1, -1];
    if (x_m < 0 || y_m < 0 || x_m > region[0] || y_m > region[1]) return null;
    return { x_m, y_m, objective: interpolated(surface.objective, x_m / region[0], y_m / region[1]) };
  }
}

/** The value between four points of a grid; null if the server may not be at one of them. */
function interpolated(rows: (number | null)[][], right: number, up: number): number | null {
  const [columns, lines] = [rows[0]!.length - 1, rows.length - 1];
  const [column, line] = [Math.min(Math.floor(right * columns), columns - 1), Math.min(Math.floor(up * lines), lines - 1)];
  const [across, along] = [right * columns - column, up * lines - line];
  const corners = [rows[line]![column]!, rows[line]![column + 1]!, rows[line + 1]![column]!, rows[line + 1]![column + 1]!];
  if (corners.some((value) => value === null)) return null;
  const [a, b, c, d] = corners as [number, number, number, number];
  return (a * (1 - across) + b * across) * (1 - along) + (c * (1 - across) + d * across) * along;
}

/** The values of the colours; null where the server may be nowhere at this altitude. */
function scaleOf(surface: ObjectiveSurface): MapScale | null {
  const sorted = surface.objective.flat().filter((value): value is number => value !== null).sort((a, b) => a - b);
  if (!sorted.length) return null;
  const [lowest, highest] = [sorted[0]!, sorted.at(-1)!];
  const clear = sorted[Math.floor(CLEAR_FROM * (sorted.length - 1))]!;
  const ends = { altitude_m: surface.altitude_m, lowest, clear, highest, middle: 0 };
  return { ...ends, middle: valueAt(ends, 0.5) };
}

/** The objective at a part of the colour scale. */
const valueAt = ({ lowest, clear }: MapScale, part: number): number => lowest + Math.expm1(part * Math.log1p(clear - lowest));

function blankTexture(columns: number, rows: number): THREE.DataTexture {
  const texture = new THREE.DataTexture(new Uint8Array(4 * rows * columns), columns, rows);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.magFilter = texture.minFilter = THREE.LinearFilter;
  return texture;
}

/** How opaque the map is at a part of its colour scale. */
export const mapOpacity = (part: number): number => 0.82 * Math.max(0.03, (1 - Math.min(1, part)) ** 1.3);

/** Paints low objectives opaque and high ones clear; forbidden positions stay unpainted. */
function paint(material: THREE.MeshBasicMaterial, surface: ObjectiveSurface, { lowest, clear }: MapScale): void {
  const [rows, columns] = [surface.objective.length, surface.objective[0]!.length];
  const image = material.map!.image as { width: number; height: number };
  if (image.width !== columns || image.height !== rows) {
    material.map!.dispose();
    material.map = blankTexture(columns, rows);
  }
  const data = (material.map!.image as unknown as { data: Uint8Array }).data;
  const range = Math.max(Math.log1p(clear - lowest), 1e-9);
  const shade = new THREE.Color(colour("shade")).convertLinearToSRGB().toArray().map((c) => 255 * c);
  let offset = 0;
  for (const row of surface.objective) {
    for (const value of row) {
      data.set(shade, offset);
      data[offset + 3] = value === null ? 0 : 255 * mapOpacity(Math.log1p(value - lowest) / range);
      offset += 4;
    }
  }
  material.map!.needsUpdate = true;
}
