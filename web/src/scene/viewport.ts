import * as THREE from "three";
import type { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { colour, onThemeChange } from "../theme";
import type { Position } from "../types";
import { Cameras } from "./cameras";
import { LabelLayer } from "./label-layer";
import { disposeChildren } from "./lines";
import { regionObjects, rulerLabels, rulerStep } from "./region";
import "./scene.css";

const SCENE_SIZE = 100; // the longest side of a region in scene units
const REST_MS = 220; // after this long without a change, the scene is drawn at full resolution
const SLOW_MS = 60; // a mean frame time above which moving scenes are drawn more coarsely
const AVERAGED_FRAMES = 8;
const SOFTWARE_DRAG_MS = 38; // between frames where the CPU renders and solves plans
const SOFTWARE_FRAME_MS = 28; // between frames where the CPU only renders: every second screen frame

/** A canvas with a camera that shows a region; it renders only when something has changed. */
export class Viewport {
  readonly scene = new THREE.Scene();
  readonly canvas: HTMLCanvasElement;
  readonly cameras: Cameras;
  readonly labels: LabelLayer;
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
  private covered = 0;
  private regionGroup = new THREE.Group();
  private regionKnown = false; // it is not the default one
  private cameraListeners: (() => void)[] = [];
  private cameraOfAddress: string | null = null; // to be taken once the region is known

  constructor(readonly host: HTMLElement) {
    const software = this.software = drawsInSoftware();
    this.renderer = new THREE.WebGLRenderer({ antialias: !software, alpha: false });
    this.restRatio = software ? 1.5 : Math.min(devicePixelRatio, 2);
    this.movingRatio = software ? 1 : this.restRatio;
    this.renderer.localClippingEnabled = true;
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "The network in 3-D. T shows it from above, Home shows all of it, plus and minus zoom, brackets turn it.");
    this.labels = new LabelLayer(this);
    host.append(this.canvas, this.labels.element);
    this.cameras = new Cameras(this.canvas, { change: () => this.invalidate(), settled: () => this.cameraMoved() });
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x8899aa, 2.4), this.sun(), this.regionGroup);
    new ResizeObserver(() => this.resize()).observe(host);
    onThemeChange(() => this.buildRegion());
    this.canvas.addEventListener("keydown", (event) => this.handleKey(event));
    this.takeRegion(this.region);
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

  invalidate(): void {
    this.dirty = true;
    this.lastChange = performance.now();
  }

  private tick(now: number): void {
    requestAnimationFrame((next) => this.tick(next));
    if (!this.canvas.isConnected || this.host.offsetParent === null) return;
    const moving = [this.cameras.advance(now), ...this.beforeFrameSteps.map((step) => step(now))].some(Boolean);
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
    this.labels.place();
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

  /** Says how much of the scene's bottom is covered, in CSS pixels, so that the whole region is shown above. */
  coverBottom(pixels: number): void {
    this.covered = pixels;
    this.resize();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    this.cameras.resize(width, height, this.covered);
    if (this.cameras.atHome) this.cameras.goHome(this.sides);
    else if (this.cameraOfAddress !== null) this.setCamera(this.cameraOfAddress);
    this.invalidate();
  }

  setRegion(region: Position): void {
    const same = region.every((side, axis) => side === this.region[axis]);
    const camera = this.regionKnown ? null : this.cameraOfAddress;
    this.regionKnown = true;
    if (!same) this.takeRegion(region);
    if (camera !== null) this.setCamera(camera);
  }

  private takeRegion(region: Position): void {
    this.region = region;
    this.unit = SCENE_SIZE / Math.max(...region);
    this.buildRegion();
    this.resetCamera();
  }

  /** The region's sides in scene units. */
  private get sides(): Position {
    return this.region.map((side) => side * this.unit) as Position;
  }

  /** Planes that clip what extends beyond the region. */
  clippingPlanes(): THREE.Plane[] {
    const [x, y, z] = this.region.map((side) => side * this.unit) as Position;
    const wall = (nx: number, ny: number, nz: number, far: number) => new THREE.Plane(new THREE.Vector3(nx, ny, nz), far);
    return [wall(1, 0, 0, 0), wall(-1, 0, 0, x), wall(0, 1, 0, 0), wall(0, -1, 0, y), wall(0, 0, 1, 0), wall(0, 0, -1, z)];
  }

  // --- the camera --------------------------------------------------------------------------------

  get camera(): THREE.Camera {
    return this.cameras.current;
  }

  get controls(): OrbitControls {
    return this.cameras.controls;
  }

  get top(): boolean {
    return this.cameras.top;
  }

  /** Shows the whole region. */
  resetCamera(): void {
    this.cameras.goHome(this.sides);
    this.cameraMoved();
  }

  /** Looks from straight above, or in perspective. */
  setTop(top: boolean): void {
    if (top === this.top) return;
    this.cameras.setTop(top);
    this.labels.set("rulers", rulerLabels(this.region, this.unit, top));
    if (this.cameras.atHome) this.resetCamera();
    else this.cameraMoved();
  }

  flyTo(position: Position): void {
    this.cameras.flyTo(this.toScene(position));
  }

  onCamera(listener: () => void): void {
    this.cameraListeners.push(listener);
  }

  private cameraMoved(): void {
    this.cameraOfAddress = null;
    this.cameraListeners.forEach((listener) => listener());
  }

  /** The camera as text, in metres and degrees; null where it shows the whole region. */
  cameraText(): string | null {
    if (this.cameraOfAddress !== null) return this.cameraOfAddress;
    if (this.cameras.atHome) return null;
    return this.scaled(this.cameras.numbers(), 1 / this.unit).map((value) => Number(value.toFixed(1))).join();
  }

  /** Takes a camera as `cameraText` writes it; one that is not understood shows the whole region. */
  setCamera(text: string | null): void {
    const values = this.scaled((text ?? "").split(",").map(Number), this.unit);
    if (text === null || !this.cameras.setNumbers(values)) this.cameras.goHome(this.sides);
    else this.cameraOfAddress = text; // taken again when the canvas gets its size or the region is known
  }

  private scaled(values: number[], factor: number): number[] {
    return values.map((value, index) => (index === 3 || index === 4 ? value : value * factor)); // these are angles
  }

  /** T looks from above or in perspective, Home shows the whole region, + and − zoom, [ and ] turn. */
  private handleKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions: Record<string, () => void> = {
      t: () => this.setTop(!this.top), Home: () => this.resetCamera(),
      "+": () => this.cameras.zoom(1.25), "=": () => this.cameras.zoom(1.25), "-": () => this.cameras.zoom(0.8),
      "[": () => this.cameras.turn(-15), "]": () => this.cameras.turn(15),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
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

  private buildRegion(): void {
    disposeChildren(this.regionGroup);
    this.regionGroup.add(...regionObjects(this.sides, rulerStep(Math.max(...this.region)) * this.unit));
    this.labels.set("rulers", rulerLabels(this.region, this.unit, this.top));
    this.renderer.setClearColor(colour("page"));
    this.invalidate();
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
