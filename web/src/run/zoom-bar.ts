import { button, h } from "../dom";
import type { ChartChoices } from "./chart-choices";

/** Which rounds the charts show; for those who do not drag in a chart. */
export class ZoomBar {
  readonly element: HTMLElement;
  private from = h("input", { type: "number", min: 1, "aria-label": "First round shown", placeholder: "first" });
  private to = h("input", { type: "number", min: 1, "aria-label": "Last round shown", placeholder: "last" });
  private reset = button("Show all", () => this.choices.setZoom(null));
  private log = h("button", { type: "button", "aria-label": "Logarithmic horizontal axis", onclick: () => this.choices.toggleLog("rounds") }, "log");

  constructor(private choices: ChartChoices, private rounds: () => number) {
    for (const input of [this.from, this.to]) input.addEventListener("change", () => this.apply());
    this.element = h("div", { class: "zoom-bar", role: "group", "aria-label": "What the charts show" },
      h("span", {}, "Rounds"), this.from, h("span", {}, "to"), this.to, this.reset, this.log);
    choices.onChange(() => this.show());
    this.show();
  }

  private apply(): void {
    this.choices.setZoom([Number(this.from.value) || 1, Number(this.to.value) || Math.max(this.rounds(), 2)]);
  }

  private show(): void {
    const { zoom, log } = this.choices;
    this.from.value = zoom ? String(zoom[0]) : "";
    this.to.value = zoom ? String(zoom[1]) : "";
    this.reset.disabled = !zoom;
    this.log.setAttribute("aria-pressed", String(log.has("rounds")));
  }
}
