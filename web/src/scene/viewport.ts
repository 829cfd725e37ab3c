import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { button, h } from "../dom";
import { colour, onThemeChange } from "../theme";
import type { Position } from "../types";
import { disposeChildren, lineSegments } from "./lines";

const SCENE_SIZE = 100; // the longest side of a region in scene units
const REST_MS = 220; // after this long without a change, the scene is drawn at full resolution
const SLOW_MS = 60; // a mean frame time above which moving scenes are drawn more coarsely
const AVERAGED_FRAMES = 8;
const SOFTWARE_DRAG_MS = 38; // between frames where the CPU renders and solves plans
const SOFTWARE_FRAME_MS = 28; // between frames where the CPU only renders: every second screen frame

/** A canvas with a camera that shows a region; it renders only when something has changed. */
export class Viewport {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(38, 1, 1, 3000);
  readonly overlay = document.createElement("div");
  readonly canvas: HTMLCanvasElement;
  readonly controls: OrbitControls;
  region: Position = [100, 100, 100];
  unit = 1; // scene units per metre
  frames: number[] = []; // times of the last frames
  dragging = false; // full resolution waits until a drag has ended
  private renderer: THREE.WebGLRenderer;
  private dirty = true;
  private software: boolean;
  private restRatio: number; // device pixels per CSS pixel at rest
  private movingRatio: number; // the same while something moves
  private lastChange = 0;
  private needsRefinement = false; // the last frame was drawn at the moving resolution
  private framesSinceStep = 0; // since the moving resolution was last reduced
  private beforeFrameSteps: ((now: number) => boolean)[] = [];
  private afterFrameSteps: (() => void)[] = [];
  private regionGroup = new THREE.Group();
  private sized = false;
  private rulerLabels: { label: HTMLElement; at: THREE.Vector3; shown: string }[] = [];

  constructor(readonly host: HTMLElement) {
    const software = this.software = drawsInSoftware();
    this.renderer = new THREE.WebGLRenderer({ antialias: !software, alpha: false });
    this.restRatio = software ? 1.5 : Math.min(devicePixelRatio, 2);
    this.movingRatio = software ? 1 : this.restRatio;
    this.renderer.localClippingEnabled = true;
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "The network in 3-D");
    this.overlay.className = "overlay";
    host.append(this.canvas, this.overlay);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = false;
    this.controls.maxPolarAngle = Math.PI * 0.495;
    this.controls.minDistance = 20;
    this.controls.maxDistance = 600;
    this.controls.addEventListener("change", () => this.invalidate());
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x8899aa, 2.4), this.sun(), this.regionGroup);
    new ResizeObserver(() => this.resize()).observe(host);
    onThemeChange(() => this.buildRegion());
    this.setRegion(this.region);
    this.resetCamera();
    requestAnimationFrame((now) => this.tick(now));
  }

  private sun(): THREE.Light {
    const sun = new THREE.DirectionalLight(0xffffff, 1.2);
    sun.position.set(40, -60, 120);
    return sun;
  }

  /** Calls `step` before each frame; it returns whether it needs another one. */
  beforeFrame(step: (now: number) => boolean): void {
    this.beforeFrameSteps.push(step);
  }

  afterFrame(step: () => void): void {
    this.afterFrameSteps.push(step);
  }

  invalidate(): void {
    this.dirty = true;
    this.lastChange = performance.now();
  }

  private tick(now: number): void {
    requestAnimationFrame((next) => this.tick(next));
    if (!this.canvas.isConnected || this.host.offsetParent === null) return;
    const moving = this.beforeFrameSteps.map((step) => step(now)).some(Boolean);
    if (moving) this.invalidate();
    if (this.software && now - (this.frames.at(-1) ?? 0) < (this.dragging ? SOFTWARE_DRAG_MS : SOFTWARE_FRAME_MS)) return;
    const resting = !this.dragging && now - this.lastChange > REST_MS;
    if (!this.dirty && !(this.needsRefinement && resting)) return;
    if (this.dirty) this.adaptResolution(now);
    this.needsRefinement = this.dirty;
    this.render(this.dirty ? this.movingRatio : this.restRatio);
    this.dirty = false;
  }

  private render(ratio: number): void {
    if (this.renderer.getPixelRatio() !== ratio) this.renderer.setPixelRatio(ratio);
    this.renderer.render(this.scene, this.camera);
    this.placeRulerLabels();
    this.afterFrameSteps.forEach((step) => step());
  }

  /** Reduces the moving resolution step by step where frames take long. */
  private adaptResolution(now: number): void {
    this.frames.push(now);
    if (this.frames.length > 2000) this.frames.splice(0, 1000);
    const recent = this.frames.slice(-AVERAGED_FRAMES);
    const took = (now - recent[0]!) / (recent.length - 1);
    this.framesSinceStep++;
    if (recent.length < AVERAGED_FRAMES || this.framesSinceStep < AVERAGED_FRAMES || took < SLOW_MS || took > REST_MS) return;
    this.framesSinceStep = 0;
    this.movingRatio = Math.max(0.5, this.movingRatio - 0.25);
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (!width || !height) return;
    const first = !this.sized;
    this.sized = true;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (first) this.resetCamera();
    this.invalidate();
  }

  setRegion(region: Position): void {
    const same = region.every((side, axis) => side === this.region[axis]);
    if (same && this.regionGroup.children.length) return;
    this.region = region;
    this.unit = SCENE_SIZE / Math.max(...region);
    this.buildRegion();
    this.resetCamera();
  }

  /** Planes that clip what extends beyond the region. */
  clippingPlanes(): THREE.Plane[] {
    const [x, y, z] = this.region.map((side) => side * this.unit) as Position;
    const wall = (nx: number, ny: number, nz: number, far: number) => new THREE.Plane(new THREE.Vector3(nx, ny, nz), far);
    return [wall(1, 0, 0, 0), wall(-1, 0, 0, x), wall(0, 1, 0, 0), wall(0, -1, 0, y), wall(0, 0, 1, 0), wall(0, 0, -1, z)];
  }

  /** Moves the camera to where the whole region is in view. */
  resetCamera(): void {
    const [x, y, z] = this.region.map((side) => side * this.unit) as Position;
    const middle = z * 0.4;
    this.controls.target.set(x / 2, y / 2, middle);
    const narrow = Math.max(1, 1.15 / this.camera.aspect);
    const far = 1.5 * narrow * Math.hypot(x, y, z * 0.8);
    this.camera.position.set(x / 2 - far * 0.4, y / 2 - far * 0.8, middle + far * 0.46);
    this.controls.update();
    this.invalidate();
  }

  toScene(point: readonly number[]): THREE.Vector3 {
    return new THREE.Vector3(point[0]! * this.unit, point[1]! * this.unit, point[2]! * this.unit);
  }

  /** A position in canvas pixels; null behind the camera. */
  toScreen(point: readonly number[]): { x: number; y: number } | null {
    const projected = this.toScene(point).project(this.camera);
    if (projected.z > 1) return null;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    return { x: (projected.x + 1) * width / 2, y: (1 - projected.y) * height / 2 };
  }

  /** Builds the ground, the edges and the rulers of the region. */
  private buildRegion(): void {
    disposeChildren(this.regionGroup);
    const [x, y, z] = this.region.map((side) => side * this.unit) as Position;
    const ground = new THREE.Mesh(new THREE.PlaneGeometry(x, y),
      new THREE.MeshBasicMaterial({ color: colour("ground"), side: THREE.DoubleSide }));
    ground.position.set(x / 2, y / 2, -0.15);
    this.regionGroup.add(ground, this.gridLines(x, y), this.edges(x, y, z));
    this.buildRulers(x, y);
    this.renderer.setClearColor(colour("page"));
    this.invalidate();
  }

  private gridLines(x: number, y: number): THREE.LineSegments {
    const points: number[] = [];
    const step = rulerStep(Math.max(...this.region)) * this.unit;
    for (let at = 0; at <= x + 1e-6; at += step) points.push(at, 0, 0, at, y, 0);
    for (let at = 0; at <= y + 1e-6; at += step) points.push(0, at, 0, x, at, 0);
    return lineSegments(points, colour("grid"));
  }

  private edges(x: number, y: number, z: number): THREE.LineSegments {
    const corners = [[0, 0], [x, 0], [x, y], [0, y]];
    const points: number[] = [];
    corners.forEach(([cx, cy], index) => {
      const [nx, ny] = corners[(index + 1) % 4]!;
      points.push(cx!, cy!, 0, cx!, cy!, z, cx!, cy!, z, nx!, ny!, z, cx!, cy!, 0, nx!, ny!, 0);
    });
    return lineSegments(points, colour("edge"));
  }

  /** Adds labels in metres along three edges. */
  private buildRulers(x: number, y: number): void {
    this.rulerLabels.forEach(({ label }) => label.remove());
    this.rulerLabels = [];
    const mark = (text: string, at: Position) => {
      const label = h("span", { class: "mark" }, text);
      this.overlay.prepend(label);
      this.rulerLabels.push({ label, at: new THREE.Vector3(...at), shown: "" });
    };
    const step = rulerStep(Math.max(...this.region));
    const along = (axis: number, first: number, position: (at: number) => Position) => {
      for (let at = first; at <= this.region[axis]! + 1e-6; at += step) mark(`${Number(at.toPrecision(6))}`, position(at * this.unit));
    };
    along(0, 0, (at) => [at, -4, 0]);
    along(1, step, (at) => [x + 4, at, 0]);
    along(2, step, (at) => [-4, -2, at]);
    const between = 0.25 * step * this.unit;
    mark("x, m", [x / 2 + between, -11, 0]);
    mark("y, m", [x + 15, y / 2 + between, 0]);
    mark("z, m", [-13, -6, this.region[2] * this.unit / 2 + between]);
  }

  /** Moves the ruler labels with the camera; those that stay are not touched. */
  private placeRulerLabels(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    for (const ruler of this.rulerLabels) {
      const projected = ruler.at.clone().project(this.camera);
      const shown = `translate(${((projected.x + 1) * width / 2).toFixed(1)}px, ${((1 - projected.y) * height / 2).toFixed(1)}px)`;
      if (shown === ruler.shown) continue;
      ruler.shown = shown;
      ruler.label.style.transform = `${shown} translate(-50%, -50%)`;
      ruler.label.hidden = projected.z > 1;
    }
  }
}

/** Whether the CPU renders, so that every pixel is expensive. */
function drawsInSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const debugInfo = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = debugInfo ? String(gl!.getParameter(debugInfo.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

function rulerStep(longest: number): number {
  const rough = longest / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 2.5, 5, 10].map((n) => n * power).find((step) => step >= rough * 0.99) ?? rough;
}

/** Adds a toolbar over the scene, with a button that resets the camera. */
export function toolbar(viewport: Viewport): HTMLElement {
  const reset = button("Show the whole region", () => viewport.resetCamera(), { icon: "home", quiet: true });
  const bar = h("div", { class: "tools" }, reset);
  viewport.host.append(bar);
  return bar;
}
