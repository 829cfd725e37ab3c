import { api } from "../api";
import { button } from "../dom";
import { seconds, shortNumber } from "../format";
import { DragControls } from "../scene/drag-controls";
import type { Handle } from "../scene/drag-controls";
import { Legend } from "../scene/legend";
import { NetworkScene } from "../scene/network-scene";
import type { DeviceMarker } from "../scene/network-scene";
import { toolbar } from "../scene/toolbar";
import { Viewport } from "../scene/viewport";
import type { Position } from "../types";
import { plansById } from "./device-finder";
import type { DeviceFinder } from "./device-finder";
import { boxCentre } from "./plan-model";
import type { PlanModel } from "./plan-model";
import type { RivalTable } from "./rival-table";
import { throttleAsync } from "./throttle";
import type { ViewChoices } from "./view-choices";
import type { WhatIf } from "./what-if";

const MAX_SHELLS = 24;
const CROWD = 200;

interface Parts {
  model: PlanModel;
  choices: ViewChoices;
  finder: DeviceFinder;
  rivals: RivalTable;
  whatIf: WhatIf;
}

/** The network of the Plan page as a scene that is edited by pointer and keyboard. */
export class PlanScene {
  readonly viewport: Viewport;
  readonly scene: NetworkScene;
  dragging = false;
  private drawnShells = ""; // what the shells in the scene depend on
  readonly refreshMap = throttleAsync(160, () => this.drawObjectiveMap());
  readonly refreshShells = throttleAsync(30, () => this.drawReachShells());

  constructor(host: HTMLElement, readonly parts: Parts, readonly onDragEnd: () => void) {
    this.viewport = new Viewport(host);
    const { canvas } = this.viewport;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", "The network in 3-D. Space selects the server, then each device, and last the planned server. " +
      "Arrow keys move the selection, Page Up and Page Down lift it, Delete removes it, Escape deselects it. " +
      "T shows it from above, Home shows all of it, plus and minus zoom, brackets turn it.");
    this.scene = new NetworkScene(this.viewport);
    this.addToolbar(this.addDragging());
    new Legend(this.scene);
    canvas.addEventListener("keydown", (event) => this.handleKey(event));
  }

  private get model(): PlanModel {
    return this.parts.model;
  }

  // --- pointer and keyboard --------------------------------------------------------------------------

  private addToolbar(dragControls: DragControls): void {
    const lift = button("Drag up and down", () => {
      const on = lift.getAttribute("aria-pressed") !== "true";
      lift.setAttribute("aria-pressed", String(on));
      dragControls.vertical = on;
    }, { icon: "updown", quiet: true, "aria-pressed": "false", title: "Drag up and down (or hold Shift)" });
    toolbar(this.viewport).append(lift);
  }

  private addDragging(): DragControls {
    return new DragControls(this.viewport, () => this.handles(), {
      pick: (key) => this.model.select(key),
      move: (key, to) => {
        this.dragging = true;
        this.model.move(key, to);
      },
      done: () => {
        this.dragging = false;
        this.refreshMap();
        this.onDragEnd();
      },
    });
  }

  /** What can be dragged; of two at the same place the first. */
  private handles(): Handle[] {
    const { request } = this.model;
    if (!request) return [];
    const planned = this.model.position("planned");
    return [
      ...(planned ? [{ key: "planned", position: planned }] : []),
      { key: "server", position: request.server.position_m },
      ...request.devices.map((device) => ({ key: `device:${device.id}`, position: device.position_m })),
      ...request.keep_out_m.map((box, index) => ({ key: `box:${index}`, position: boxCentre(box) })),
      ...(request.candidates_m ?? []).map((position, index) => ({ key: `candidate:${index}`, position })),
    ];
  }

  private handleKey(event: KeyboardEvent): void {
    const { selected } = this.model;
    const position = selected ? this.model.position(selected) : null;
    const step = (event.shiftKey ? 0.1 : 0.01) * Math.max(...this.model.request.region_m);
    const moves: Record<string, Position> = { ArrowLeft: [-step, 0, 0], ArrowRight: [step, 0, 0],
      ArrowUp: [0, step, 0], ArrowDown: [0, -step, 0], PageUp: [0, 0, step], PageDown: [0, 0, -step] };
    if (event.key === "Escape" && !this.model.whatIf) this.model.select(null);
    else if (event.key === " ") this.selectNext(event.shiftKey ? -1 : 1);
    else if (selected && (event.key === "Delete" || event.key === "Backspace")) this.model.remove();
    else if (selected && position && moves[event.key]) {
      const region = this.model.request.region_m;
      this.model.move(selected, position.map((value, axis) =>
        Math.min(Math.max(Math.round(10 * (value + moves[event.key]![axis]!)) / 10, 0), region[axis]!)) as Position);
    } else return;
    event.preventDefault();
  }

  /** Selects the next handle, or the one before: the server, then devices, boxes and sites, then the planned server. */
  private selectNext(step: number): void {
    const keys = this.handles().map((handle) => handle.key);
    if (keys[0] === "planned") keys.push(keys.shift()!);
    const at = this.model.selected === null ? (step > 0 ? -1 : 0) : keys.indexOf(this.model.selected);
    this.model.select(keys[(at + step + keys.length) % keys.length]!);
  }

  // --- the picture -----------------------------------------------------------------------------------

  draw(): void {
    const { model, parts: { choices, finder, rivals, whatIf } } = this;
    const { request, shownPlan, plan, selected } = model;
    if (!request) return;
    const plans = plansById(whatIf.forbidden ? null : shownPlan);
    const found = finder.narrow ? new Set(finder.found.map(({ id }) => id)) : null;
    const devices = request.devices.map((device): DeviceMarker => {
      const planned = plans.get(device.id);
      const load = choices.links === "delay" ? (planned?.delay_s ?? 0) / request.max_delay_s
        : (planned?.power_w ?? 0) / Math.max(device.max_power_w, 1e-12);
      const marker = { id: device.id, position: device.position_m, opacity: 1,
        dimmed: found !== null && !found.has(device.id) && selected !== `device:${device.id}` };
      return planned?.active
        ? { ...marker, state: "active", linkLoad: load, label: `${device.id} · ${shortNumber(planned.iterations)} it` }
        : { ...marker, state: "off", linkLoad: null, label: device.id };
    });
    const best = plan?.server.position_m ?? null;
    this.scene.draw({ devices, server: model.whatIf ?? best, serverBefore: request.server.position_m, optimum: model.whatIf ? best : null,
      path: [], boxes: request.keep_out_m, candidates: request.candidates_m ?? [], rivals: rivals.positions, selected,
      serverLabels: { now: model.whatIf ? whatIf.label : "planned server", before: "server before the round", optimum: "optimum" },
      links: choices.links === "delay" ? { measure: "delay", low: "0", high: `${seconds(request.max_delay_s)} (limit)` }
        : { measure: "power", low: "0 %", high: "100 % of its limit" } });
  }

  private async drawObjectiveMap(): Promise<void> {
    const { choices } = this.parts;
    const altitude = choices.showAltitude();
    if (choices.map === "none") {
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
    const { shells } = this.parts.choices;
    const shown = shells === "none" ? [] : shells === "all" ? request.devices.slice(0, MAX_SHELLS)
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
