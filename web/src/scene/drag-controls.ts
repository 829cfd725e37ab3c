import * as THREE from "three";
import type { Position } from "../types";
import type { Viewport } from "./viewport";

export interface Handle {
  key: string;
  position: Position;
}

const PICK_RADIUS_PX = { mouse: 16, touch: 30, pen: 20 } as Record<string, number>;

/** Selects the handle nearest to the pointer and drags it: horizontally, or vertically with Shift. */
export class DragControls {
  vertical = false; // set by the toolbar, for touch screens without a Shift key
  private ray = new THREE.Raycaster();
  private held: { handle: Handle; plane: THREE.Plane; offset: THREE.Vector3; up: boolean; y: number } | null = null;

  constructor(readonly viewport: Viewport, readonly handles: () => Handle[],
    readonly hooks: {
      pick: (key: string | null) => void;
      move: (key: string, to: Position) => void;
      done: (key: string) => void;
    }) {
    const canvas = viewport.canvas;
    // Captured before the camera's own listener, so that dragging a handle does not rotate the view.
    canvas.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.up(event));
  }

  private nearestHandle(event: PointerEvent): Handle | null {
    const box = this.viewport.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, nearest]: [number, Handle | null] = [PICK_RADIUS_PX[event.pointerType] ?? 16, null];
    for (const handle of this.handles()) {
      const projected = this.viewport.toScreen(handle.position);
      if (!projected) continue;
      const distance = Math.hypot(projected.x - x, projected.y - y);
      if (distance < best) [best, nearest] = [distance, handle];
    }
    return nearest;
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const handle = this.nearestHandle(event);
    if (!handle) {
      this.press = { x: event.clientX, y: event.clientY };
      return;
    }
    this.hooks.pick(handle.key);
    this.viewport.controls.enabled = false;
    this.viewport.dragging = true;
    this.viewport.canvas.setPointerCapture(event.pointerId);
    this.hold(handle, event, event.shiftKey || this.vertical);
    event.preventDefault();
  }

  private press: { x: number; y: number } | null = null;

  private hold(handle: Handle, event: PointerEvent, up: boolean): void {
    const at = this.viewport.toScene(handle.position);
    const normal = new THREE.Vector3(0, 0, 1);
    if (up && !this.viewport.top) this.viewport.camera.getWorldDirection(normal).setZ(0).normalize();
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, at);
    const hit = this.hit(event, plane) ?? at.clone();
    this.held = { handle: { ...handle }, plane, offset: at.sub(hit), up, y: event.clientY };
  }

  private hit(event: PointerEvent, plane: THREE.Plane): THREE.Vector3 | null {
    const box = this.viewport.canvas.getBoundingClientRect();
    const pointer = new THREE.Vector2(2 * (event.clientX - box.left) / box.width - 1,
      1 - 2 * (event.clientY - box.top) / box.height);
    this.ray.setFromCamera(pointer, this.viewport.camera);
    return this.ray.ray.intersectPlane(plane, new THREE.Vector3());
  }

  private moved(event: PointerEvent): void {
    if (!this.held) {
      if (event.pointerType === "mouse" && event.buttons === 0) {
        const handle = this.nearestHandle(event);
        this.viewport.canvas.style.cursor = handle ? "grab" : "";
      }
      return;
    }
    const up = event.shiftKey || this.vertical;
    if (up !== this.held.up) this.hold(this.held.handle, event, up);
    const hit = this.hit(event, this.held.plane);
    if (!hit) return;
    const to = hit.add(this.held.offset).divideScalar(this.viewport.unit);
    const [x, y, z] = this.held.handle.position;
    const target: Position = !this.held.up ? [to.x, to.y, z] : [x, y, this.viewport.top ? z + this.lifted(event) : to.z];
    const inside = target.map((value, axis) =>
      Math.round(10 * Math.min(Math.max(value, 0), this.viewport.region[axis]!)) / 10) as Position;
    this.held.handle.position = inside;
    this.hooks.move(this.held.handle.key, inside);
  }

  /** By how much the pointer lifts a handle that is seen from above, in metres. */
  private lifted(event: PointerEvent): number {
    const metres = (this.held!.y - event.clientY) * this.viewport.cameras.unitsPerPixel(this.viewport.canvas.clientHeight) / this.viewport.unit;
    this.held!.y = event.clientY;
    return metres;
  }

  private up(event: PointerEvent): void {
    if (this.held) {
      this.viewport.controls.enabled = true;
      this.viewport.dragging = false;
      if (this.viewport.canvas.hasPointerCapture(event.pointerId)) {
        this.viewport.canvas.releasePointerCapture(event.pointerId);
      }
      this.hooks.done(this.held.handle.key);
      this.held = null;
      return;
    }
    const clicked = this.press && Math.hypot(event.clientX - this.press.x, event.clientY - this.press.y) < 4;
    if (clicked) this.hooks.pick(null);
    this.press = null;
  }
}
