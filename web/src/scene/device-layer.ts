import * as THREE from "three";
import { colour } from "../theme";
import type { DeviceMarker, DeviceState } from "./network-scene";
import type { Viewport } from "./viewport";

const CROWD = 60; // from this many devices on, they are drawn smaller and simpler
const FEW = 0.2; // in a crowd, up to this share of devices that are off or failed is drawn large
const SIZE_IN_CROWD = 0.55;
const DIMMED = 0.9; // how far the colour of a dimmed device is on its way to the ground's

export const isCrowd = (devices: readonly DeviceMarker[]): boolean => devices.length > CROWD;

/** Whether the few devices of a crowd that are off or failed are drawn large and with a ring, so that they are seen. */
export const hasRings = (devices: readonly DeviceMarker[]): boolean =>
  isCrowd(devices) && devices.filter(isWarning).length <= FEW * devices.length;

/** Draws devices as instances: discs on the ground, octahedra in the air, and rings around those to be seen. */
export class DeviceLayer {
  readonly group = new THREE.Group();
  private meshes: Record<string, THREE.InstancedMesh> = {};

  constructor(private viewport: Viewport) {}

  draw(devices: DeviceMarker[], selected: string | null): void {
    const crowded = isCrowd(devices);
    const colours = deviceColours();
    const few = hasRings(devices);
    const byKind: Record<string, DeviceMarker[]> = {};
    for (const device of devices) {
      if (device.opacity <= 0.02) continue;
      const shape = device.position[2] > 0 ? "air" : crowded ? "hexagon" : "disc";
      (byKind[`${shape}-${device.state === "departed" ? "wireframe" : "solid"}`] ??= []).push(device);
    }
    const size = (device: DeviceMarker) => (0.4 + 0.6 * device.opacity) * (device.dimmed ? 0.6 : 1) *
      (crowded ? (few && isWarning(device) ? 1.35 : SIZE_IN_CROWD) : device.state === "off" ? 0.8 : 1);
    for (const kind of new Set([...Object.keys(this.meshes), ...Object.keys(byKind)])) {
      if (kind !== "ring") this.fillMesh(kind, byKind[kind] ?? [], size, (device) => (device.dimmed ? colours.dimmed : colours.plain)[device.state]);
    }
    const isSelected = ({ id }: DeviceMarker) => selected === `device:${id}`;
    const [accent, ink] = [new THREE.Color(colour("accent")), new THREE.Color(colour("ink"))];
    this.fillMesh("ring", devices.filter((device) => device.opacity > 0.02 && (isSelected(device) || (few && isWarning(device) && !device.dimmed))),
      (device) => Math.max(size(device), SIZE_IN_CROWD), (device) => (isSelected(device) ? accent : ink));
  }

  private fillMesh(kind: string, devices: DeviceMarker[], size: (device: DeviceMarker) => number,
    colourOf: (device: DeviceMarker) => THREE.Color): void {
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
    devices.forEach((device, index) => {
      const scale = size(device);
      matrix.makeScale(scale, scale, scale).setPosition(this.viewport.toScene(device.position));
      mesh.setMatrixAt(index, matrix);
      mesh.setColorAt(index, colourOf(device));
    });
    mesh.instanceMatrix.needsUpdate = true;
    if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
  }
}

export const isWarning = ({ state }: DeviceMarker): boolean => state === "off" || state === "failed";

function deviceGeometry(kind: string): THREE.BufferGeometry {
  if (kind === "ring") return new THREE.TorusGeometry(3.1, 0.28, 6, 32);
  if (kind.startsWith("air")) return new THREE.OctahedronGeometry(1.9);
  const disc = new THREE.CylinderGeometry(1.7, 1.7, 1, kind.startsWith("disc") ? 20 : 6);
  disc.rotateX(Math.PI / 2).translate(0, 0, 0.5);
  return disc;
}

function deviceMaterial(kind: string): THREE.Material {
  if (kind === "ring") return new THREE.MeshBasicMaterial();
  if (kind.endsWith("wireframe")) {
    return new THREE.MeshBasicMaterial({ wireframe: true, transparent: true, opacity: 0.85 });
  }
  return new THREE.MeshLambertMaterial();
}

function deviceColours(): Record<"plain" | "dimmed", Record<DeviceState, THREE.Color>> {
  const ground = new THREE.Color(colour("ground"));
  const plain = { active: new THREE.Color(colour("device")), off: new THREE.Color(colour("off")),
    failed: new THREE.Color(colour("failed")), departed: new THREE.Color(colour("departed")) };
  const dim = (bright: THREE.Color) => bright.clone().lerp(ground, DIMMED);
  return { plain, dimmed: { active: dim(plain.active), off: dim(plain.off), failed: dim(plain.failed), departed: dim(plain.departed) } };
}
