import * as THREE from "three";
import { colour } from "../theme";
import type { ObjectiveSurface } from "../types";
import type { Viewport } from "./viewport";

/** The objective over the server's positions at one altitude, as a shaded plane. */
export class ObjectiveMap {
  private mesh: THREE.Mesh<THREE.PlaneGeometry, THREE.MeshBasicMaterial>;

  constructor(private viewport: Viewport) {
    const material = new THREE.MeshBasicMaterial({ map: blankTexture(2, 2), transparent: true,
      side: THREE.DoubleSide, depthWrite: false });
    this.mesh = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), material);
    this.mesh.renderOrder = -1;
    this.mesh.visible = false;
    viewport.scene.add(this.mesh);
  }

  show(surface: ObjectiveSurface | null): void {
    this.mesh.visible = surface !== null;
    this.viewport.invalidate();
    if (!surface) return;
    const { region, unit } = this.viewport;
    const [x, y] = [region[0] * unit, region[1] * unit];
    this.mesh.scale.set(x, y, 1);
    this.mesh.position.set(x / 2, y / 2, surface.altitude_m * unit);
    paint(this.mesh.material, surface);
  }
}

function blankTexture(columns: number, rows: number): THREE.DataTexture {
  const texture = new THREE.DataTexture(new Uint8Array(4 * rows * columns), columns, rows);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.magFilter = texture.minFilter = THREE.LinearFilter;
  return texture;
}

/** Paints low objectives opaque and high ones clear; forbidden positions stay unpainted. */
function paint(material: THREE.MeshBasicMaterial, surface: ObjectiveSurface): void {
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
  const range = Math.max(Math.log1p(high - low), 1e-9);
  const shade = new THREE.Color(colour("shade")).convertLinearToSRGB().toArray().map((c) => 255 * c);
  let offset = 0;
  for (const row of surface.objective) {
    for (const value of row) {
      data.set(shade, offset);
      const excess = value === null ? 1 : Math.min(1, Math.log1p(value - low) / range);
      data[offset + 3] = value === null ? 0 : 210 * Math.max(0.03, (1 - excess) ** 1.3);
      offset += 4;
    }
  }
  material.map!.needsUpdate = true;
}
