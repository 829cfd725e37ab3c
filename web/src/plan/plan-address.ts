import { updateAddress } from "../address";
import { showCamera } from "../scene/camera-address";
import type { Viewport } from "../scene/viewport";
import type { Position } from "../types";
import type { DeviceFinder } from "./device-finder";
import type { FilePanel } from "./file-panel";
import type { PlanModel } from "./plan-model";
import type { RivalTable } from "./rival-table";
import { throttle } from "./throttle";
import type { ViewChoices } from "./view-choices";

const WRITE_EVERY_MS = 400; // browsers refuse an address that changes often

/** Keeps what the Plan page shows by choice in the address, and shows what an address says. */
export class PlanAddress {
  private restored = false; // until then the address is not written

  constructor(readonly model: PlanModel, readonly files: FilePanel, readonly choices: ViewChoices, readonly finder: DeviceFinder,
    readonly rivals: RivalTable, readonly viewport: () => Viewport | undefined) {}

  readonly write = throttle(WRITE_EVERY_MS, () => {
    const { model } = this;
    if (!this.restored || !model.request) return;
    const viewport = this.viewport();
    const { example, round } = model.source;
    updateAddress("plan", { network: example ?? null, round: example && round ? String(round) : null,
      ...this.choices.address(), ...this.finder.address(), rivals: this.rivals.enabled ? "on" : null,
      selected: model.selected, server: model.whatIf ? model.whatIf.join() : null,
      view: viewport?.top ? "top" : null, camera: viewport?.cameraText() ?? null });
  });

  async restore(parameters: URLSearchParams): Promise<void> {
    this.restored = false;
    const { model } = this;
    const network = parameters.get("network");
    if (network) await this.files.openExample(network, Number(parameters.get("round") ?? 0), true);
    if (!model.request) return; // the studio did not answer
    this.choices.restore(parameters);
    this.finder.restore(parameters);
    this.rivals.setEnabled(parameters.get("rivals") === "on");
    model.setWhatIf(positionOf(parameters.get("server"), model.request.region_m));
    const selected = parameters.get("selected");
    model.select(selected === "planned" || (selected && model.position(selected)) ? selected : null);
    const viewport = this.viewport();
    if (viewport) showCamera(viewport, parameters);
    this.restored = true;
    this.write();
  }
}

function positionOf(text: string | null, region: Position): Position | null {
  const values = (text ?? "").split(",").map(Number);
  const inside = text !== null && values.length === 3 && values.every((value, axis) => value >= 0 && value <= region[axis]!);
  return inside ? values as Position : null;
}
