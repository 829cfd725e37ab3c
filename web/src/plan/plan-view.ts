import { api, ApiError } from "../api";
import { button, collapsible, h, legendEntry, setChildren, setText, statusMessage } from "../dom";
import { digits, shortNumber } from "../format";
import { DragControls } from "../scene/drag-controls";
import type { Handle } from "../scene/drag-controls";
import { NetworkScene } from "../scene/network-scene";
import type { DeviceMarker } from "../scene/network-scene";
import { toolbar, Viewport } from "../scene/viewport";
import type { Plan, Position } from "../types";
import { DeviceTable } from "./device-table";
import { FilePanel } from "./file-panel";
import { Inspector } from "./inspector";
import { boxCentre, PlanModel } from "./plan-model";
import type { Change } from "./plan-model";
import { PlanSummary } from "./plan-summary";
import { Replanner } from "./replanner";
import { requestSliders, siteLists } from "./request-controls";
import { RivalTable } from "./rival-table";
import { Rivals } from "./rivals";
import { throttle, throttleAsync } from "./throttle";

const MAX_SHELLS = 24;
const SUMMARY_EVERY_MS = 150;
const CROWD = 200;

/** Plan: the network in 3-D, edited by hand and planned again at every change. */
export class PlanView {
  readonly element = h("div", { class: "view plan" });
  readonly model = new PlanModel();
  readonly replanner = new Replanner(this.model, (plan, live, roundTrip) => this.showPlan(plan, live, roundTrip),
    (error) => this.summary.showError(error));
  private files = new FilePanel(this.model);
  private rivals = new Rivals(this.model, () => this.showRivals());
  private rivalTable = new RivalTable(this.rivals);
  private table = new DeviceTable(this.model);
  private inspector = new Inspector(this.model);
  private summary = new PlanSummary(this.model);
  private viewport!: Viewport;
  private scene!: NetworkScene;
  private dragControls!: DragControls;
  private refresh = { map: () => {}, shells: () => {} };
  private dragging = false;
  private drawnShells = ""; // what the shells in the scene depend on
  private display = { map: true, shells: "selected", links: "power", followServer: true, altitude: 50 };
  private lastPlan = { live: false, roundTrip: 0 };
  private legend = h("div", { class: "legend" });
  private altitude = h("input", { type: "range", min: 0, max: 1000, "aria-label": "Altitude of the map" });
  private altitudeText = h("output", {}, "");

  constructor() {
    this.model.onChange((change) => this.modelChanged(change));
    this.build();
    this.files.acceptDrops(this.element);
    document.addEventListener("keydown", (event) => this.handleUndoKey(event));
  }

  async start(): Promise<void> {
    try {
      await this.files.start();
    } catch (error) {
      if (error instanceof ApiError) this.summary.showError(error);
    }
  }

  open(name: string, text: string): Promise<void> {
    return this.files.open(name, text);
  }

  scenarioText(): Promise<string> {
    return this.files.scenarioText();
  }

  // --- the page --------------------------------------------------------------------------------------

  private build(): void {
    const host = h("div", { class: "viewport" });
    const { limits, weights, rateModel } = requestSliders(this.model);
    this.element.append(
      h("aside", { class: "panel left", "aria-label": "Network" }, this.files.element,
        collapsible("Limits", true, limits, rateModel), collapsible("Weights", true, weights),
        collapsible("Where the server may be", false, siteLists(this.model)), collapsible("View", false, this.viewPanel())),
      h("div", { class: "middle" }, this.files.faults, host),
      h("aside", { class: "panel right", "aria-label": "Plan" }, this.summary.element,
        this.inspector.element, this.rivalTable.element, this.table.element));
    try {
      this.viewport = new Viewport(host);
    } catch {
      setChildren(host, statusMessage("error", "No 3-D view", "This browser has no WebGL; plans and tables still work."));
      return;
    }
    this.viewport.canvas.setAttribute("role", "application");
    this.viewport.canvas.setAttribute("aria-label", "The network in 3-D. Space selects the server, then each device. " +
      "Arrow keys move the selection, Page Up and Page Down lift it, Delete removes it, Escape deselects it.");
    this.scene = new NetworkScene(this.viewport);
    this.addDragging();
    this.addToolbar(host);
    this.refresh = {
      map: throttleAsync(160, () => this.drawObjectiveMap()),
      shells: throttleAsync(30, () => this.drawReachShells()),
    };
    this.viewport.canvas.addEventListener("keydown", (event) => this.handleKey(event));
  }

  private viewPanel(): HTMLElement {
    const choice = (label: string, options: [string, string][], set: (value: string) => void) => {
      const select = h("select", { "aria-label": label, onchange: () => { set(select.value); this.draw(); } },
        ...options.map(([value, text]) => h("option", { value }, text)));
      return h("label", { class: "row" }, h("span", {}, label), select);
    };
    this.altitude.addEventListener("input", () => {
      this.display.followServer = false;
      this.display.altitude = Number(this.altitude.value) / 1000 * this.model.request.region_m[2];
      this.refresh.map();
    });
    return h("div", {},
      choice("Colour links by", [["power", "power"], ["delay", "delay"]], (value) => { this.display.links = value; }),
      choice("Reach shells", [["selected", "selected device"], ["all", "all devices"], ["none", "none"]],
        (value) => { this.display.shells = value; this.refresh.shells(); }),
      choice("Objective map", [["follow", "server's altitude"], ["fixed", "chosen altitude"], ["none", "none"]],
        (value) => { this.display.map = value !== "none"; this.display.followServer = value === "follow"; this.refresh.map(); }),
      h("div", { class: "slider" }, h("span", { class: "label" }, "Altitude"), this.altitude, this.altitudeText, h("span", { class: "unit" }, "m")));
  }

  private addToolbar(host: HTMLElement): void {
    const lift = button("Drag up and down", () => {
      const on = lift.getAttribute("aria-pressed") !== "true";
      lift.setAttribute("aria-pressed", String(on));
      this.dragControls.vertical = on;
    }, { icon: "updown", quiet: true, "aria-pressed": "false", title: "Drag up and down (or hold Shift)" });
    toolbar(this.viewport).append(lift);
    setChildren(this.legend,
      legendEntry("active", "active"), legendEntry("off", "off"), legendEntry("server", "server"),
      h("span", { class: "scale" }, h("span", {}, "link load: low"), h("i", { class: "ramp" }), h("span", {}, "at its limit")),
      h("span", { class: "scale map" }, h("i", { class: "swatch" }), h("span", {}, "low objective")));
    host.append(this.legend);
  }

  private addDragging(): void {
    this.dragControls = new DragControls(this.viewport, () => this.handles(), {
      pick: (key) => this.model.select(key),
      move: (key, to) => {
        this.dragging = true;
        this.model.move(key, to);
      },
      done: () => {
        this.dragging = false;
        this.refresh.map();
        this.inspector.show();
      },
    });
  }

  private handles(): Handle[] {
    const { request } = this.model;
    if (!request) return [];
    const handle = (key: string, position: Position): Handle => ({ key, position });
    return [
      handle("server", request.server.position_m),
      ...request.devices.map((device) => handle(`device:${device.id}`, device.position_m)),
      ...request.keep_out_m.map((box, index) => handle(`box:${index}`, boxCentre(box))),
      ...(request.candidates_m ?? []).map((position, index) => handle(`candidate:${index}`, position)),
    ];
  }

  private handleKey(event: KeyboardEvent): void {
    const { selected } = this.model;
    const position = selected ? this.model.position(selected) : null;
    const step = (event.shiftKey ? 0.1 : 0.01) * Math.max(...this.model.request.region_m);
    const moves: Record<string, Position> = { ArrowLeft: [-step, 0, 0], ArrowRight: [step, 0, 0],
      ArrowUp: [0, step, 0], ArrowDown: [0, -step, 0], PageUp: [0, 0, step], PageDown: [0, 0, -step] };
    if (event.key === "Escape") this.model.select(null);
    else if (event.key === " ") this.selectNext(event.shiftKey ? -1 : 1);
    else if (selected && (event.key === "Delete" || event.key === "Backspace")) this.model.remove();
    else if (selected && position && moves[event.key]) {
      const region = this.model.request.region_m;
      this.model.move(selected, position.map((value, axis) =>
        Math.min(Math.max(Math.round(10 * (value + moves[event.key]![axis]!)) / 10, 0), region[axis]!)) as Position);
    } else return;
    event.preventDefault();
  }

  /** Ctrl+Z and Ctrl+Shift+Z, except in a field, where the browser undoes what was typed. */
  private handleUndoKey(event: KeyboardEvent): void {
    const typing = event.target instanceof HTMLInputElement && ["number", "text"].includes(event.target.type);
    if (this.element.hidden || typing || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    event.preventDefault();
    if (event.shiftKey) this.model.redo();
    else this.model.undo();
  }

  /** Selects the next handle, or the one before: the server, then devices, boxes and sites. */
  private selectNext(step: number): void {
    const keys = this.handles().map((handle) => handle.key);
    const at = this.model.selected === null ? (step > 0 ? -1 : 0) : keys.indexOf(this.model.selected);
    this.model.select(keys[(at + step + keys.length) % keys.length]!);
  }

  // --- plans -----------------------------------------------------------------------------------------

  private modelChanged(change: Change): void {
    if (change === "network") this.viewport?.setRegion(this.model.request.region_m);
    if (change !== "selection") {
      this.replanner.networkChanged();
      this.showRivals(); // outdated until the final plan is there
    }
    this.refresh.shells();
    this.draw();
  }

  private showPlan(plan: Plan, live: boolean, roundTrip: number): void {
    this.model.plan = plan;
    this.lastPlan = { live, roundTrip };
    if (this.display.followServer) this.display.altitude = plan.server.position_m[2];
    this.draw();
    this.updateSummary();
    const crowded = this.dragging && this.model.request.devices.length > CROWD;
    if (this.display.map && !crowded) this.refresh.map(); // a crowd's map is drawn when the drag ends
    this.element.dataset.plans = String(Number(this.element.dataset.plans ?? 0) + 1);
    this.element.dataset.status = live ? "live" : plan.status;
    if (live) return;
    this.rivals.finalPlan(plan);
    void this.summary.status.explain(plan);
  }

  private showRivals(): void {
    this.rivalTable.show();
    this.summary.showRivals(this.rivals);
    this.draw();
  }

  private updateSummary = throttle(SUMMARY_EVERY_MS, () => {
    const { plan } = this.model;
    if (!plan) return;
    const { live, roundTrip } = this.lastPlan;
    this.summary.show(plan, live, roundTrip, this.replanner.plansPerSecond());
    this.table.show();
  });

  private draw(): void {
    const { request, plan, selected } = this.model;
    if (!this.scene || !request) return;
    const plans = new Map((plan?.devices ?? []).map((device) => [device.id, device]));
    const devices = request.devices.map((device): DeviceMarker => {
      const planned = plans.get(device.id);
      const load = this.display.links === "delay" ? (planned?.delay_s ?? 0) / request.max_delay_s
        : (planned?.power_w ?? 0) / Math.max(device.max_power_w, 1e-12);
      const marker = { id: device.id, position: device.position_m, opacity: 1 };
      return planned?.active
        ? { ...marker, state: "active", linkLoad: load, label: `${device.id} · ${shortNumber(planned.iterations)} it` }
        : { ...marker, state: "off", linkLoad: null, label: device.id };
    });
    this.scene.draw({ devices, server: plan?.server.position_m ?? null, serverBefore: request.server.position_m,
      path: [], boxes: request.keep_out_m, candidates: request.candidates_m ?? [],
      rivals: this.rivalTable.positions, selected,
      serverLabels: { now: "planned server", before: "server before: drag" } });
  }

  private async drawObjectiveMap(): Promise<void> {
    const height = this.model.request.region_m[2];
    const altitude = Math.min(Math.max(this.display.altitude, 0), height);
    this.altitude.value = String(1000 * altitude / height);
    this.altitude.style.setProperty("--part", `${100 * altitude / height}%`);
    this.altitude.setAttribute("aria-valuetext", `${digits(altitude)} m`);
    setText(this.altitudeText, digits(altitude));
    this.legend.classList.toggle("no-map", !this.display.map);
    if (!this.display.map) {
      this.scene.objectiveMap.show(null);
      return;
    }
    const points = this.dragging ? 31 : this.model.request.devices.length > CROWD ? 41 : 121;
    try {
      this.scene.objectiveMap.show(await api.surface(this.model.requestText(), altitude, points));
    } catch {
      this.scene.objectiveMap.show(null); // the summary shows what is wrong
    }
  }

  private async drawReachShells(): Promise<void> {
    const { request, selected } = this.model;
    const { reachShells } = this.scene;
    const shown = this.display.shells === "none" ? []
      : this.display.shells === "all" ? request.devices.slice(0, MAX_SHELLS)
      : request.devices.filter((device) => selected === `device:${device.id}`);
    if (!shown.length) {
      this.drawnShells = "";
      reachShells.show(null, new Map());
      return;
    }
    const positions = new Map(shown.map((device) => [device.id, device.position_m]));
    const key = JSON.stringify([request.radio, request.max_delay_s, shown.map((device) =>
      ({ ...device, position_m: device.position_m[2] > 0 }))]);
    if (key === this.drawnShells) {
      reachShells.move(positions); // the shape of a shell does not depend on the position
      return;
    }
    this.drawnShells = key;
    try {
      reachShells.show(await api.reach({ ...request, candidates_m: null, devices: shown }), positions);
    } catch {
      reachShells.show(null, positions);
    }
  }
}
