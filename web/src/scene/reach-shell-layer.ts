import * as THREE from "three";
import { colour } from "../theme";
import type { Position, ReachShells } from "../types";
import type { Viewport } from "./viewport";

/** Surfaces within which the server hears a device at full power. */
export class ReachShellLayer {
  private group = new THREE.Group();
  // Materials are kept, since a new one would have to be compiled.
  private surface = new THREE.MeshBasicMaterial({ transparent: true, depthWrite: false, side: THREE.DoubleSide });
  private wireframe = new THREE.MeshBasicMaterial({ transparent: true, depthWrite: false, wireframe: true, opacity: 0.12 });

  count = 0; // shells that are shown

  constructor(private viewport: Viewport, private onChange: () => void) {
    viewport.scene.add(this.group);
  }

  show(reach: ReachShells | null, positions: Map<string, Position>): void {
    for (const child of this.group.children) (child as THREE.Mesh).geometry.dispose();
    this.group.clear();
    this.viewport.invalidate();
    const single = reach?.shells.length === 1;
    for (const material of [this.surface, this.wireframe]) {
      material.color.set(colour("device"));
      material.clippingPlanes = this.viewport.clippingPlanes();
    }
    this.surface.opacity = single ? 0.13 : 0.05;
    for (const shell of reach?.shells ?? []) {
      const position = positions.get(shell.id);
      if (!position) continue;
      const geometry = shellGeometry(reach!.elevation_deg, shell.radius_m, this.viewport.unit, position[2] > 0,
        Math.max(...this.viewport.region));
      const meshes = [this.surface, ...(single ? [this.wireframe] : [])].map((material) => new THREE.Mesh(geometry, material));
      for (const mesh of meshes) mesh.name = shell.id;
      this.group.add(...meshes);
    }
    this.move(positions);
    this.count = new Set(this.group.children.map((mesh) => mesh.name)).size;
    this.onChange();
  }

  move(positions: Map<string, Position>): void {
    for (const mesh of this.group.children) mesh.position.copy(this.viewport.toScene(positions.get(mesh.name)!));
    this.viewport.invalidate();
  }
}

/** The radius by elevation, rotated around the vertical; mirrored downwards for a flying device. */
function shellGeometry(elevations: number[], radii: (number | null)[], unit: number, flies: boolean,
  longestSide: number): THREE.BufferGeometry {
  const outline = elevations.map((degrees, index) => {
    const radius = Math.min(radii[index] ?? longestSide, 2 * longestSide) * unit;
    const angle = degrees * Math.PI / 180;
    return new THREE.Vector2(Math.max(radius * Math.cos(angle), 0.001), radius * Math.sin(angle));
  });
  const below = flies ? outline.slice(1).reverse().map((point) => new THREE.Vector2(point.x, -point.y)) : [];
  const geometry = new THREE.LatheGeometry([...below, ...outline], 36);
  geometry.rotateX(Math.PI / 2);
  return geometry;
}
