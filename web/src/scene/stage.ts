import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { icon } from "../dom";
import { colour, onTheme } from "../theme";
import type { Point } from "../types";

const SIZE = 100; // the longest side of a region in scene units
const CALM_MS = 220; // without a change for this long, a fine picture is drawn
const SLOW_MS = 60; // between two frames, over so many of them: then moving pictures get coarser
const SOME = 8;
const SPARING_MS = 38; // between frames where the processor draws and has plans to make, too
const EVEN_MS = 28; // and where it only draws: every second frame of a screen

/** A canvas with a camera on a region; it draws when something has changed, not all the time. */
export class Stage {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(38, 1, 1, 3000);
  readonly overlay = document.createElement("div");
  readonly canvas: HTMLCanvasElement;
  readonly controls: OrbitControls;
  region: Point = [100, 100, 100];
  unit = 1; // scene units per metre
  frames: number[] = []; // when the last frames were drawn
  held = false; // something is being dragged: no time for fine pictures
  private renderer: THREE.WebGLRenderer;
  private dirty = true;
  private software: boolean;
  private fine: number; // pixels per CSS pixel at rest
  private quick: number; // and while something moves
  private changed = 0; // when something last changed
  private coarse = false; // whether the last frame should be drawn again, finely
  private sinceStep = 0; // frames since pictures last got coarser
  private before: ((now: number) => boolean)[] = [];
  private after: (() => void)[] = [];
  private frame = new THREE.Group();
  private shaped = false;
  private marks: { label: HTMLElement; at: THREE.Vector3; shown: string }[] = [];

  constructor(readonly host: HTMLElement) {
    const software = this.software = drawsInSoftware();
    this.renderer = new THREE.WebGLRenderer({ antialias: !software, alpha: false });
    this.fine = software ? 1.5 : Math.min(devicePixelRatio, 2);
    this.quick = software ? 1 : this.fine;
    this.renderer.localClippingEnabled = true;
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.overlay.className = "overlay";
    host.append(this.canvas, this.overlay);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = false;
    this.controls.maxPolarAngle = Math.PI * 0.495;
    this.controls.minDistance = 20;
    this.controls.maxDistance = 600;
    this.controls.addEventListener("change", () => this.invalidate());
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x8899aa, 2.4), this.sun(), this.frame);
    new ResizeObserver(() => this.resize()).observe(host);
    onTheme(() => this.build());
    this.setRegion(this.region);
    this.home();
    requestAnimationFrame((now) => this.tick(now));
  }

  private sun(): THREE.Light {
    const sun = new THREE.DirectionalLight(0xffffff, 1.2);
    sun.position.set(40, -60, 120);
    return sun;
  }

  /** Runs before each frame; whoever returns true wants another frame. */
  beforeFrame(step: (now: number) => boolean): void {
    this.before.push(step);
  }

  afterFrame(step: () => void): void {
    this.after.push(step);
  }

  invalidate(): void {
    this.dirty = true;
    this.changed = performance.now();
  }

  private tick(now: number): void {
    requestAnimationFrame((next) => this.tick(next));
    if (!this.canvas.isConnected || this.host.offsetParent === null) return;
    const moving = this.before.map((step) => step(now)).some(Boolean);
    if (moving) this.invalidate();
    if (this.software && now - (this.frames.at(-1) ?? 0) < (this.held ? SPARING_MS : EVEN_MS)) return;
    const calm = !this.held && now - this.changed > CALM_MS;
    if (!this.dirty && !(this.coarse && calm)) return;
    if (this.dirty) this.adapt(now);
    this.coarse = this.dirty;
    this.render(this.dirty ? this.quick : this.fine);
    this.dirty = false;
  }

  private render(ratio: number): void {
    if (this.renderer.getPixelRatio() !== ratio) this.renderer.setPixelRatio(ratio);
    this.renderer.render(this.scene, this.camera);
    this.placeMarks();
    this.after.forEach((step) => step());
  }

  /** Moving pictures get coarser, step by step, where frames take long. */
  private adapt(now: number): void {
    this.frames.push(now);
    if (this.frames.length > 2000) this.frames.splice(0, 1000);
    const recent = this.frames.slice(-SOME);
    const took = (now - recent[0]!) / (recent.length - 1);
    this.sinceStep++;
    if (recent.length < SOME || this.sinceStep < SOME || took < SLOW_MS || took > CALM_MS) return;
    this.sinceStep = 0;
    this.quick = Math.max(0.5, this.quick - 0.25);
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (!width || !height) return;
    const first = !this.shaped;
    this.shaped = true;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (first) this.home();
    this.invalidate();
  }

  setRegion(region: Point): void {
    const same = region.every((side, axis) => side === this.region[axis]);
    if (same && this.frame.children.length) return;
    this.region = region;
    this.unit = SIZE / Math.max(...region);
    this.build();
    this.home();
  }

  /** Planes that cut off what reaches out of the region. */
  walls(): THREE.Plane[] {
    const [x, y, z] = this.region.map((side) => side * this.unit) as Point;
    const wall = (nx: number, ny: number, nz: number, far: number) => new THREE.Plane(new THREE.Vector3(nx, ny, nz), far);
    return [wall(1, 0, 0, 0), wall(-1, 0, 0, x), wall(0, 1, 0, 0), wall(0, -1, 0, y), wall(0, 0, 1, 0), wall(0, 0, -1, z)];
  }

  /** The camera where the whole region is in view. */
  home(): void {
    const [x, y, z] = this.region.map((side) => side * this.unit) as Point;
    const middle = z * 0.4;
    this.controls.target.set(x / 2, y / 2, middle);
    const narrow = Math.max(1, 1.15 / this.camera.aspect);
    const far = 1.5 * narrow * Math.hypot(x, y, z * 0.8);
    this.camera.position.set(x / 2 - far * 0.4, y / 2 - far * 0.8, middle + far * 0.46);
    this.controls.update();
    this.invalidate();
  }

  at(point: readonly number[]): THREE.Vector3 {
    return new THREE.Vector3(point[0]! * this.unit, point[1]! * this.unit, point[2]! * this.unit);
  }

  /** Where a place is on the canvas, in pixels; behind the camera it is nowhere. */
  onScreen(point: readonly number[]): { x: number; y: number } | null {
    const seen = this.at(point).project(this.camera);
    if (seen.z > 1) return null;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    return { x: (seen.x + 1) * width / 2, y: (1 - seen.y) * height / 2 };
  }

  /** The ground and the edges of the region, with a ruler along two of them. */
  private build(): void {
    empty(this.frame);
    const [x, y, z] = this.region.map((side) => side * this.unit) as Point;
    const ground = new THREE.Mesh(new THREE.PlaneGeometry(x, y),
      new THREE.MeshBasicMaterial({ color: colour("ground"), side: THREE.DoubleSide }));
    ground.position.set(x / 2, y / 2, -0.15);
    this.frame.add(ground, this.gridLines(x, y), this.edges(x, y, z));
    this.rulers(x, y);
    this.renderer.setClearColor(colour("page"));
    this.invalidate();
  }

  private gridLines(x: number, y: number): THREE.LineSegments {
    const points: number[] = [];
    const step = rulerStep(Math.max(...this.region)) * this.unit;
    for (let at = 0; at <= x + 1e-6; at += step) points.push(at, 0, 0, at, y, 0);
    for (let at = 0; at <= y + 1e-6; at += step) points.push(0, at, 0, x, at, 0);
    return lines(points, colour("grid"));
  }

  private edges(x: number, y: number, z: number): THREE.LineSegments {
    const corners = [[0, 0], [x, 0], [x, y], [0, y]];
    const points: number[] = [];
    corners.forEach(([cx, cy], index) => {
      const [nx, ny] = corners[(index + 1) % 4]!;
      points.push(cx!, cy!, 0, cx!, cy!, z, cx!, cy!, z, nx!, ny!, z, cx!, cy!, 0, nx!, ny!, 0);
    });
    return lines(points, colour("edge"));
  }

  /** Metres along three edges, as text over the picture. */
  private rulers(x: number, y: number): void {
    this.marks.forEach(({ label }) => label.remove());
    this.marks = [];
    const mark = (text: string, at: Point) => {
      const label = document.createElement("span");
      label.className = "mark";
      label.textContent = text;
      this.overlay.prepend(label);
      this.marks.push({ label, at: new THREE.Vector3(...at), shown: "" });
    };
    const step = rulerStep(Math.max(...this.region));
    const along = (axis: number, first: number, place: (at: number) => Point) => {
      for (let at = first; at <= this.region[axis]! + 1e-6; at += step) mark(`${Number(at.toPrecision(6))}`, place(at * this.unit));
    };
    along(0, 0, (at) => [at, -4, 0]);
    along(1, step, (at) => [x + 4, at, 0]);
    along(2, step, (at) => [-4, -2, at]);
    const between = 0.25 * step * this.unit;
    mark("x, m", [x / 2 + between, -11, 0]);
    mark("y, m", [x + 15, y / 2 + between, 0]);
    mark("z, m", [-13, -6, this.region[2] * this.unit / 2 + between]);
  }

  /** The rulers' text follows the camera; while that rests, nothing is touched. */
  private placeMarks(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    for (const one of this.marks) {
      const seen = one.at.clone().project(this.camera);
      const shown = `translate(${((seen.x + 1) * width / 2).toFixed(1)}px, ${((1 - seen.y) * height / 2).toFixed(1)}px)`;
      if (shown === one.shown) continue;
      one.shown = shown;
      one.label.style.transform = `${shown} translate(-50%, -50%)`;
      one.label.hidden = seen.z > 1;
    }
  }
}

/** Whether the processor draws: then every pixel counts. */
function drawsInSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const told = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = told ? String(gl!.getParameter(told.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

function rulerStep(longest: number): number {
  const rough = longest / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 2.5, 5, 10].map((n) => n * power).find((step) => step >= rough * 0.99) ?? rough;
}

/** Takes everything out of a group and gives back what it held on the graphics card. */
export function empty(group: THREE.Object3D): void {
  for (const child of [...group.children]) {
    child.removeFromParent();
    child.traverse((one) => {
      const { geometry, material } = one as THREE.Mesh;
      geometry?.dispose();
      for (const paint of material ? [material].flat() : []) {
        (paint as THREE.MeshBasicMaterial).map?.dispose();
        paint.dispose();
      }
    });
  }
}

/** Lines that change often: one buffer that grows, one material that stays. */
export class Strokes {
  readonly object: THREE.LineSegments;
  private room = 0;

  constructor(readonly material: THREE.LineBasicMaterial) {
    this.object = new THREE.LineSegments(new THREE.BufferGeometry(), material);
    this.object.frustumCulled = false;
  }

  set(points: number[], paints?: number[]): void {
    const { geometry } = this.object;
    if (points.length > this.room) {
      this.room = 2 * points.length;
      geometry.dispose();
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(this.room), 3));
      if (paints) geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(this.room), 3));
    }
    this.fill("position", points);
    if (paints) this.fill("color", paints);
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

export function lines(points: number[], paint: string): THREE.LineSegments {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  return new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: paint }));
}

/** Buttons over the picture. */
export function toolbar(stage: Stage): HTMLElement {
  const bar = document.createElement("div");
  bar.className = "tools";
  const home = document.createElement("button");
  home.type = "button";
  home.title = "Show the whole region";
  home.setAttribute("aria-label", home.title);
  home.append(icon("home"));
  home.addEventListener("click", () => stage.home());
  bar.append(home);
  stage.host.append(bar);
  return bar;
}
