import * as THREE from "three";

/** Line segments that change often: one buffer that grows, one material that is kept. */
export class DynamicLines {
  readonly object: THREE.LineSegments;
  private capacity = 0;

  constructor(readonly material: THREE.LineBasicMaterial) {
    this.object = new THREE.LineSegments(new THREE.BufferGeometry(), material);
    this.object.frustumCulled = false;
  }

  set(points: number[], colours?: number[]): void {
    const { geometry } = this.object;
    if (points.length > this.capacity) {
      this.capacity = 2 * points.length;
      geometry.dispose();
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(this.capacity), 3));
      if (colours) geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(this.capacity), 3));
    }
    this.fill("position", points);
    if (colours) this.fill("color", colours);
    geometry.setDrawRange(0, points.length / 3);
    if (this.material instanceof THREE.LineDashedMaterial && points.length) this.object.computeLineDistances();
  }

  private fill(name: string, values: number[]): void {
    const attribute = this.object.geometry.getAttribute(name) as THREE.BufferAttribute | undefined;
    if (!attribute) return;
    attribute.array.set(values);
    attribute.needsUpdate = true;
  }
}

export function lineSegments(points: number[], colour: string): THREE.LineSegments {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  return new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: colour }));
}

/** Removes the children of a group and frees their graphics memory. */
export function disposeChildren(group: THREE.Object3D): void {
  for (const child of [...group.children]) {
    child.removeFromParent();
    child.traverse((object) => {
      const { geometry, material } = object as THREE.Mesh;
      geometry?.dispose();
      for (const each of material ? [material].flat() : []) {
        (each as THREE.MeshBasicMaterial).map?.dispose();
        each.dispose();
      }
    });
  }
}
