import { updateAddress } from "../address";
import { ApiError } from "../api";
import { button, h, setChildren, setText, statusMessage } from "../dom";
import { decisionScene } from "./decision-scene";
import { departureScene } from "./departure-scene";
import { devicesScene } from "./devices-scene";
import "./introduction.css";
import type { PlanRequest } from "../types";
import type { Scene } from "./scene";
import { tellStory } from "./story";
import type { Story } from "./story";
import { verdictScene } from "./verdict-scene";

const NAMES = ["Devices differ", "The server decides", "A device leaves", "Which method"];
const SEEN = "scdn-introduced";
const WHEEL_PAUSE_MS = 700; // one turn of a wheel is one step

/** Whether this browser has shown the introduction before. */
export const wasIntroduced = (): boolean => localStorage.getItem(SEEN) !== null;

export interface IntroductionActions {
  planByHand: (request: PlanRequest) => void;
  startRun: (example: string) => void;
}

/** Introduction: three scenes and a verdict, for those who see the studio for the first time. */
export class IntroductionView {
  readonly element = h("div", { class: "view introduction" });
  private scenes = new Map<number, Scene>();
  private story: Story | null = null;
  private scene = 0;
  private turnedAt = 0;
  private steps = NAMES.map((name, index) => h("button", { type: "button", class: "step-dot", onclick: () => this.go(index) },
    h("i", {}, String(index + 1)), h("span", {}, name)));
  private picture = h("div", { class: "scene-picture" });
  private words = h("div", { class: "scene-words" });
  private body = h("div", { class: "scene" }, this.picture, this.words);
  private foot = h("div", { class: "scene-foot" });
  private announced = h("p", { class: "for-readers", role: "status" });
  private fault: string | null = null; // why there is no plan

  constructor(readonly actions: IntroductionActions) {
    this.element.append(
      h("div", { class: "scene-steps" }, h("nav", { "aria-label": "Scenes" }, ...this.steps), h("a", { class: "button skip-introduction", href: "#plan" }, "Skip")),
      this.body, this.foot, this.announced);
    document.addEventListener("keydown", (event) => this.handleKey(event));
    this.element.addEventListener("wheel", (event) => this.handleWheel(event), { passive: true });
    this.show();
  }

  async start(): Promise<void> {
    try {
      this.story = await tellStory();
      this.scenes.clear(); // the verdict has more to say with a plan
      this.show();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.fault = error.message;
      this.show();
    }
  }

  shown(): void {
    localStorage.setItem(SEEN, "1");
  }

  restore(parameters: URLSearchParams): void {
    const asked = Number(parameters.get("scene") ?? 1);
    this.scene = Number.isInteger(asked) ? Math.min(Math.max(asked, 1), NAMES.length) - 1 : 0;
    updateAddress("introduction", { scene: String(this.scene + 1) });
    this.show();
  }

  private go(scene: number): void {
    if (scene < 0 || scene >= NAMES.length || scene === this.scene) return;
    this.scene = scene;
    updateAddress("introduction", { scene: String(scene + 1) }, true);
    const pressed = this.foot.contains(document.activeElement) ? document.activeElement!.classList.contains("back") : null;
    this.show();
    if (pressed !== null) this.foot.querySelector<HTMLElement>(pressed && scene ? ".back" : ".next")!.focus(); // the button is a new one
    setText(this.announced, `Scene ${scene + 1} of ${NAMES.length}: ${NAMES[scene]}`);
    this.element.scrollTop = 0;
  }

  /** Arrow keys turn to the next scene, except in what uses them itself. */
  private handleKey(event: KeyboardEvent): void {
    const busy = event.target instanceof HTMLElement && event.target.closest("input, select, textarea, dialog");
    if (this.element.hidden || busy || event.ctrlKey || event.altKey || event.metaKey) return;
    const step = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    this.go(this.scene + step);
  }

  /** The wheel turns to the next scene where there is nothing left to scroll. */
  private handleWheel(event: WheelEvent): void {
    const now = performance.now();
    const scrolls = [this.element, this.words, document.getElementById("main")!].some((part) => part.scrollHeight > part.clientHeight + 1);
    if (scrolls || Math.abs(event.deltaY) < 20 || now - this.turnedAt < WHEEL_PAUSE_MS) return;
    this.turnedAt = now;
    this.go(this.scene + Math.sign(event.deltaY));
  }

  private show(): void {
    this.steps.forEach((step, index) => {
      step.setAttribute("aria-current", index === this.scene ? "step" : "false");
      step.classList.toggle("past", index < this.scene);
    });
    const scene = this.sceneAt(this.scene);
    this.element.dataset.scene = String(this.scene + 1);
    this.element.dataset.ready = String(scene !== null);
    if (scene) {
      setChildren(this.picture, scene.picture);
      setChildren(this.words, h("h1", {}, scene.title), ...scene.words);
    } else {
      setChildren(this.picture, this.fault === null ? statusMessage("loading", "Computing the plan")
        : statusMessage("error", "The plan could not be computed", this.fault));
      setChildren(this.words, h("h1", {}, NAMES[this.scene]!));
    }
    setChildren(this.foot, ...this.nextSteps());
  }

  /** A scene, or null while what it shows is computed. */
  private sceneAt(index: number): Scene | null {
    const { story } = this;
    if (!this.scenes.has(index) && (story || index > 1)) {
      this.scenes.set(index, index === 0 ? devicesScene(story!) : index === 1 ? decisionScene(story!) : index === 2 ? departureScene() : verdictScene(story));
    }
    return this.scenes.get(index) ?? null;
  }

  private nextSteps(): (HTMLElement | null)[] {
    const back = this.scene ? button("Back", () => this.go(this.scene - 1), { class: "back" }) : null;
    const next = NAMES[this.scene + 1];
    if (next) return [back, button(`Next: ${next.toLowerCase()}`, () => this.go(this.scene + 1), { class: "main next" })];
    const ready = this.story !== null;
    return [back,
      h("a", { class: "button", href: "#compare" }, "Compare methods"),
      button("Start this run", () => this.actions.startRun(this.story!.example), { disabled: !ready }),
      button("Plan this network by hand", () => this.actions.planByHand(this.story!.request), { class: "main next whole", disabled: !ready })];
  }
}
