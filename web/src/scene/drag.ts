import * as THREE from "three";
import type { Point } from "../types";
import type { Stage } from "./stage";

export interface Handle {
  key: string;
  at: Point;
  movable: boolean;
}

const NEAR = { mouse: 16, touch: 30, pen: 20 } as Record<string, number>;

/** Picks the nearest thing under the pointer and moves it: across, or up and down with Shift. */
export class Dragger {
  vertical = false; // the toolbar's choice, for those without a Shift key
  private ray = new THREE.Raycaster();
  private held: { handle: Handle; plane: THREE.Plane; offset: THREE.Vector3; up: boolean } | null = null;

  constructor(readonly stage: Stage, readonly handles: () => Handle[],
    readonly hooks: {
      pick: (key: string | null) => void;
      move: (key: string, to: Point) => void;
      done: (key: string) => void;
      hover?: (key: string | null) => void;
    }) {
    const canvas = stage.canvas;
    // Before the camera's own listener, so that a held thing does not turn the view.
    canvas.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.up(event));
  }

  private near(event: PointerEvent): Handle | null {
    const box = this.stage.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, found]: [number, Handle | null] = [NEAR[event.pointerType] ?? 16, null];
    for (const handle of this.handles()) {
      const seen = this.stage.onScreen(handle.at);
      if (!seen) continue;
      const far = Math.hypot(seen.x - x, seen.y - y);
      if (far < best) [best, found] = [far, handle];
    }
    return found;
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const handle = this.near(event);
    if (!handle) {
      this.press = { x: event.clientX, y: event.clientY };
      return;
    }
    this.hooks.pick(handle.key);
    if (!handle.movable) return;
    this.stage.controls.enabled = false;
    this.stage.held = true;
    this.stage.canvas.setPointerCapture(event.pointerId);
    this.hold(handle, event, event.shiftKey || this.vertical);
    event.preventDefault();
  }

  private press: { x: number; y: number } | null = null;

  private hold(handle: Handle, event: PointerEvent, up: boolean): void {
    const at = this.stage.at(handle.at);
    const normal = new THREE.Vector3(0, 0, 1);
    if (up) this.stage.camera.getWorldDirection(normal).setZ(0).normalize();
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, at);
    const hit = this.hit(event, plane) ?? at.clone();
    this.held = { handle: { ...handle }, plane, offset: at.sub(hit), up };
  }

  private hit(event: PointerEvent, plane: THREE.Plane): THREE.Vector3 | null {
    const box = this.stage.canvas.getBoundingClientRect();
    const spot = new THREE.Vector2(2 * (event.clientX - box.left) / box.width - 1,
      1 - 2 * (event.clientY - box.top) / box.height);
    this.ray.setFromCamera(spot, this.stage.camera);
    return this.ray.ray.intersectPlane(plane, new THREE.Vector3());
  }

  private moved(event: PointerEvent): void {
    if (!this.held) {
      if (event.pointerType === "mouse" && event.buttons === 0) {
        const handle = this.near(event);
        this.stage.canvas.style.cursor = handle ? (handle.movable ? "grab" : "pointer") : "";
        this.hooks.hover?.(handle?.key ?? null);
      }
      return;
    }
    const up = event.shiftKey || this.vertical;
    if (up !== this.held.up) this.hold(this.held.handle, event, up);
    const hit = this.hit(event, this.held.plane);
    if (!hit) return;
    const to = hit.add(this.held.offset).divideScalar(this.stage.unit);
    const [x, y, z] = this.held.handle.at;
    const wanted: Point = this.held.up ? [x, y, to.z] : [to.x, to.y, z];
    const inside = wanted.map((value, axis) =>
      Math.round(10 * Math.min(Math.max(value, 0), this.stage.region[axis]!)) / 10) as Point;
    this.held.handle.at = inside;
    this.hooks.move(this.held.handle.key, inside);
  }

  private up(event: PointerEvent): void {
    if (this.held) {
      this.stage.controls.enabled = true;
      this.stage.held = false;
      if (this.stage.canvas.hasPointerCapture(event.pointerId)) {
        this.stage.canvas.releasePointerCapture(event.pointerId);
      }
      this.hooks.done(this.held.handle.key);
      this.held = null;
      return;
    }
    const still = this.press && Math.hypot(event.clientX - this.press.x, event.clientY - this.press.y) < 4;
    if (still) this.hooks.pick(null);
    this.press = null;
  }
}
