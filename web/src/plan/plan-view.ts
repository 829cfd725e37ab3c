import { ApiError } from "../api";
import { collapsible, h, setChildren, statusMessage } from "../dom";
import type { NetworkScene } from "../scene/network-scene";
import type { Viewport } from "../scene/viewport";
import type { Plan } from "../types";
import { DeviceFinder } from "./device-finder";
import { DeviceTable } from "./device-table";
import { FilePanel } from "./file-panel";
import { Inspector } from "./inspector";
import { PlanAddress } from "./plan-address";
import { isEdit, PlanModel } from "./plan-model";
import type { Change } from "./plan-model";
import { PlanScene } from "./plan-scene";
import { PlanSummary } from "./plan-summary";
import { Replanner } from "./replanner";
import { requestSliders } from "./request-controls";
import { RivalTable } from "./rival-table";
import { Rivals } from "./rivals";
import { siteLists } from "./site-list";
import { throttle } from "./throttle";
import { ViewChoices } from "./view-choices";
import { WhatIf } from "./what-if";
import "./plan.css";

const SUMMARY_EVERY_MS = 150;
const CROWD = 200;

/** Plan: the network as a scene, edited by hand and planned again at every change. */
export class PlanView {
  readonly element = h("div", { class: "view plan" });
  readonly model = new PlanModel();
  readonly replanner = new Replanner(this.model, (plan, live, roundTrip) => this.showPlan(plan, live, roundTrip),
    (error) => this.summary.showError(error));
  readonly whatIf = new WhatIf(this.model, () => this.showWhatIf());
  private files = new FilePanel(this.model);
  private rivals = new Rivals(this.model, () => this.showRivals());
  private rivalTable = new RivalTable(this.rivals, () => this.address.write());
  private finder = new DeviceFinder(this.model, { change: () => this.finderChanged(),
    show: (device) => this.picture?.viewport.flyTo(device.position_m) });
  private table = new DeviceTable(this.model, this.finder);
  private inspector = new Inspector(this.model);
  private summary = new PlanSummary(this.model);
  private choices = new ViewChoices(this.model, () => this.choicesChanged());
  private picture: PlanScene | null = null; // null without WebGL
  private address = new PlanAddress(this.model, this.files, this.choices, this.finder, this.rivalTable, () => this.viewport);
  private lastPlan = { live: false, roundTrip: 0 };

  constructor() {
    this.model.onChange((change) => this.modelChanged(change));
    this.build();
    this.files.acceptDrops(this.element);
    document.addEventListener("keydown", (event) => this.handlePageKey(event));
  }

  get viewport(): Viewport | undefined {
    return this.picture?.viewport;
  }

  get scene(): NetworkScene | undefined {
    return this.picture?.scene;
  }

  async start(): Promise<void> {
    try {
      await this.files.start();
    } catch (error) {
      if (error instanceof ApiError) this.summary.showError(error);
    }
  }

  restore(parameters: URLSearchParams): void {
    void this.address.restore(parameters);
  }

  open(name: string, text: string): Promise<void> {
    return this.files.open(name, text);
  }

  scenarioText(): Promise<string> {
    return this.files.scenarioText();
  }

  private build(): void {
    const host = h("div", { class: "viewport" });
    const { limits, weights, rateModel } = requestSliders(this.model);
    this.element.append(
      h("aside", { class: "panel left", "aria-label": "Network" }, this.files.element,
        collapsible("Limits", true, limits, rateModel), collapsible("Weights", true, weights),
        collapsible("Where the server may be", false, siteLists(this.model)), collapsible("View", false, this.choices.element)),
      h("div", { class: "middle" }, this.files.faults, host),
      h("aside", { class: "panel right", "aria-label": "Plan" }, this.whatIf.element, this.summary.element,
        this.inspector.element, this.rivalTable.element, this.table.element));
    try {
      const { model, choices, finder, rivalTable: rivals, whatIf } = this;
      this.picture = new PlanScene(host, { model, choices, finder, rivals, whatIf }, () => this.inspector.show());
    } catch {
      setChildren(host, statusMessage("error", "No 3-D view", "This browser has no WebGL; plans and tables still work."));
    }
    this.viewport?.onCamera(() => this.address.write());
  }

  /** Ctrl+Z and Ctrl+Shift+Z, except in a field, where the browser undoes what was typed; Escape ends a what-if. */
  private handlePageKey(event: KeyboardEvent): void {
    if (this.element.hidden) return;
    if (event.key === "Escape" && this.model.whatIf) {
      this.model.setWhatIf(null);
      return;
    }
    const typing = event.target instanceof HTMLInputElement && ["number", "text", "search"].includes(event.target.type);
    if (typing || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    event.preventDefault();
    if (event.shiftKey) this.model.redo();
    else this.model.undo();
  }

  // --- what has changed ------------------------------------------------------------------------------

  private modelChanged(change: Change): void {
    if (change === "network") this.viewport?.setRegion(this.model.request.region_m);
    if (isEdit(change)) {
      this.replanner.networkChanged();
      this.showRivals(); // outdated until the final plan is there
    }
    if (change === "what-if") this.showWhatIf();
    this.picture?.refreshShells();
    this.picture?.draw();
    this.address.write();
  }

  private showPlan(plan: Plan, live: boolean, roundTrip: number): void {
    this.model.plan = plan;
    this.lastPlan = { live, roundTrip };
    this.followAltitude();
    this.picture?.draw();
    this.updateSummary();
    const crowded = this.picture?.dragging && this.model.request.devices.length > CROWD;
    if (this.choices.map !== "none" && !crowded) this.picture?.refreshMap(); // a crowd's map is drawn when the drag ends
    this.element.dataset.plans = String(Number(this.element.dataset.plans ?? 0) + 1);
    this.element.dataset.status = live ? "live" : plan.status;
    if (live) return;
    this.rivals.finalPlan(plan);
    void this.summary.status.explain(plan);
  }

  private showWhatIf(): void {
    const before = this.choices.altitude;
    this.followAltitude();
    if (this.choices.altitude !== before) this.picture?.refreshMap();
    this.picture?.draw();
    this.updateSummary();
  }

  /** Lets the map follow the server's altitude where that is chosen. */
  private followAltitude(): void {
    const position = this.model.position("planned");
    if (this.choices.map === "follow" && position) this.choices.altitude = position[2];
  }

  private showRivals(): void {
    this.rivalTable.show();
    this.summary.showRivals(this.rivals);
    this.picture?.draw();
  }

  private choicesChanged(): void {
    this.followAltitude();
    this.picture?.refreshMap();
    this.picture?.refreshShells();
    this.picture?.draw();
    this.address.write();
  }

  private finderChanged(): void {
    this.table.show();
    this.picture?.draw();
    this.address.write();
  }

  private updateSummary = throttle(SUMMARY_EVERY_MS, () => {
    const { plan } = this.model;
    if (!plan) return;
    const { live, roundTrip } = this.lastPlan;
    this.summary.show(plan, live, roundTrip, this.replanner.plansPerSecond());
    this.whatIf.show();
    this.table.show();
    if (this.finder.narrow) this.picture?.draw();
  });
}
