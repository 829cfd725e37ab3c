import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Position } from "../types";

const ABOVE = 1000; // scene units of the upper camera above the ground
const FRAME = 100; // scene units that the upper camera shows vertically at zoom 1
const FIELD_DEG = 38;
const FIELD = 2 * Math.tan(THREE.MathUtils.degToRad(FIELD_DEG / 2)); // what is seen vertically from a distance of 1
const NEAR_DISTANCE = 60; // scene units from which a position is looked at
const NEAR_ZOOM = 2.5;
const FLIGHT_MS = 450;

interface Flight {
  begin: number;
  from: { target: THREE.Vector3; size: number };
  to: { target: THREE.Vector3; size: number };
}

/** Two cameras with their controls: one in perspective that orbits, one from above that pans and zooms. */
export class Cameras {
  readonly perspective = new THREE.PerspectiveCamera(FIELD_DEG, 1, 1, 3000);
  readonly above = new THREE.OrthographicCamera(-1, 1, 1, -1, 1, 2 * ABOVE);
  top = false;
  atHome = true; // not moved since the whole region was shown
  private orbit: OrbitControls;
  private map: OrbitControls;
  private flight: Flight | null = null;
  private aspect = 1;
  private held = false; // by the pointer
  private free = 1; // the share of the canvas's height that nothing covers

  constructor(canvas: HTMLCanvasElement, readonly hooks: { change: () => void; settled: () => void }) {
    this.perspective.up.set(0, 0, 1);
    this.above.up.set(0, 1, 0);
    this.orbit = new OrbitControls(this.perspective, canvas);
    this.map = new OrbitControls(this.above, canvas);
    Object.assign(this.orbit, { maxPolarAngle: Math.PI * 0.495, minDistance: 20, maxDistance: 600 });
    Object.assign(this.map, { enableRotate: false, enabled: false, zoomToCursor: true, minZoom: 0.3, maxZoom: 40,
      mouseButtons: { LEFT: THREE.MOUSE.PAN, MIDDLE: THREE.MOUSE.DOLLY, RIGHT: THREE.MOUSE.PAN },
      touches: { ONE: THREE.TOUCH.PAN, TWO: THREE.TOUCH.DOLLY_PAN } });
    for (const controls of [this.orbit, this.map]) {
      controls.enableDamping = false;
      controls.addEventListener("change", () => {
        if (this.held) this.atHome = false;
        hooks.change();
      });
      controls.addEventListener("start", () => { [this.flight, this.held] = [null, true]; });
      controls.addEventListener("end", () => {
        this.held = false;
        hooks.settled();
      });
    }
  }

  get current(): THREE.PerspectiveCamera | THREE.OrthographicCamera {
    return this.top ? this.above : this.perspective;
  }

  get controls(): OrbitControls {
    return this.top ? this.map : this.orbit;
  }

  /** Changes between the cameras; the other one looks at the same place from as far. */
  setTop(top: boolean): void {
    const [target, height] = [this.controls.target.clone(), this.unitsPerPixel(1)];
    this.flight = null;
    this.top = top;
    [this.orbit.enabled, this.map.enabled] = [!top, top];
    this.place(top ? target : target.setZ(this.orbit.target.z), top ? FRAME / height : height / FIELD);
    this.hooks.change();
  }

  /** Takes the size of the canvas in CSS pixels, and how much of its bottom is covered. */
  resize(width: number, height: number, covered: number): void {
    const aspect = width / height;
    this.aspect = this.perspective.aspect = aspect;
    this.free = Math.max(1 - covered / height, 0.5);
    for (const camera of [this.perspective, this.above]) camera.setViewOffset(width, height, 0, height * (1 - this.free) / 2, width, height);
    Object.assign(this.above, { left: -FRAME / 2 * aspect, right: FRAME / 2 * aspect, top: FRAME / 2, bottom: -FRAME / 2 });
    this.perspective.updateProjectionMatrix();
    this.above.updateProjectionMatrix();
  }

  /** Shows the whole region, whose sides are in scene units. */
  goHome([x, y, z]: Position): void {
    this.flight = null;
    this.atHome = true;
    if (this.top) {
      this.lookDown(x / 2, y / 2, Math.min(FRAME * this.free / (1.25 * y), FRAME * this.aspect / (1.35 * x)));
      return;
    }
    const far = 1.5 * Math.max(0.97 / this.free, 1.15 / this.aspect) * Math.hypot(x, y, z * 0.8);
    this.orbit.target.set(x / 2, y / 2, z * 0.4);
    this.perspective.position.set(x / 2 - far * 0.4, y / 2 - far * 0.8, z * 0.4 + far * 0.46);
    this.orbit.update();
    this.hooks.change();
  }

  private lookDown(x: number, y: number, zoom: number): void {
    this.map.target.set(x, y, 0);
    this.above.position.set(x, y, ABOVE);
    this.above.zoom = Math.min(Math.max(zoom, this.map.minZoom), this.map.maxZoom);
    this.above.updateProjectionMatrix();
    this.map.update();
    this.hooks.change();
  }

  // --- as numbers --------------------------------------------------------------------------------

  /** From above: x, y and the visible width. In perspective: x, y, z, azimuth, elevation, distance. In scene units and degrees. */
  numbers(): number[] {
    const { x, y, z } = this.controls.target;
    if (this.top) return [x, y, FRAME * this.aspect / this.above.zoom];
    const sphere = new THREE.Spherical().setFromVector3(this.perspective.position.clone().sub(this.orbit.target).applyAxisAngle(X_AXIS, -Math.PI / 2));
    return [x, y, z, THREE.MathUtils.radToDeg(sphere.theta), 90 - THREE.MathUtils.radToDeg(sphere.phi), sphere.radius];
  }

  /** Takes numbers of the kind that `numbers` returns; false if these are none. */
  setNumbers(values: number[]): boolean {
    if (values.length !== (this.top ? 3 : 6) || !values.every(Number.isFinite)) return false;
    const [x, y, z, azimuth, elevation, distance] = values as [number, number, number, number, number, number];
    if (this.top ? z <= 0 : distance <= 0) return false;
    this.flight = null;
    this.atHome = false;
    if (this.top) this.lookDown(x, y, FRAME * this.aspect / z);
    else {
      const offset = new THREE.Vector3().setFromSphericalCoords(distance, THREE.MathUtils.degToRad(90 - elevation),
        THREE.MathUtils.degToRad(azimuth)).applyAxisAngle(X_AXIS, Math.PI / 2);
      this.orbit.target.set(x, y, z);
      this.perspective.position.copy(this.orbit.target).add(offset);
      this.orbit.update();
      this.hooks.change();
    }
    return true;
  }

  // --- movements ---------------------------------------------------------------------------------

  /** Scene units per CSS pixel where the camera looks, for a canvas of this height. */
  unitsPerPixel(height: number): number {
    if (this.top) return FRAME / this.above.zoom / height;
    const distance = this.perspective.position.distanceTo(this.orbit.target);
    return FIELD * distance / height;
  }

  private get size(): number {
    return this.top ? this.above.zoom : this.perspective.position.distanceTo(this.orbit.target);
  }

  /** Moves the view to a position, and close to it. */
  flyTo(point: THREE.Vector3): void {
    const size = this.top ? Math.max(this.size, NEAR_ZOOM) : Math.min(this.size, NEAR_DISTANCE);
    const target = this.top ? point.clone().setZ(0) : point.clone();
    this.atHome = false;
    this.flight = { begin: performance.now(), from: { target: this.controls.target.clone(), size: this.size }, to: { target, size } };
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.flight.begin = -Infinity;
    this.hooks.change();
  }

  /** Continues a flight; whether it goes on. */
  advance(now: number): boolean {
    if (!this.flight) return false;
    const { begin, from, to } = this.flight;
    const part = Math.min(Math.max((now - begin) / FLIGHT_MS, 0), 1);
    const eased = part * part * (3 - 2 * part);
    this.place(from.target.clone().lerp(to.target, eased), from.size * (to.size / from.size) ** eased);
    if (part < 1) return true;
    this.flight = null;
    this.hooks.settled();
    return false;
  }

  private place(target: THREE.Vector3, size: number): void {
    if (this.top) {
      this.lookDown(target.x, target.y, size);
      return;
    }
    const direction = this.perspective.position.clone().sub(this.orbit.target).normalize();
    this.orbit.target.copy(target);
    this.perspective.position.copy(target).addScaledVector(direction, size);
    this.orbit.update();
  }

  zoom(factor: number): void {
    this.atHome = false;
    this.place(this.controls.target.clone(), this.top ? this.size * factor : this.size / factor);
    this.hooks.change();
    this.hooks.settled();
  }

  turn(degrees: number): void {
    if (this.top) return;
    const values = this.numbers();
    values[3]! += degrees;
    this.setNumbers(values);
    this.hooks.settled();
  }
}

const X_AXIS = new THREE.Vector3(1, 0, 0);
