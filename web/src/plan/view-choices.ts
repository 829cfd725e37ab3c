import type { AddressChange } from "../address";
import { h, setText } from "../dom";
import { digits } from "../format";
import type { PlanModel } from "./plan-model";

/** What the scene shows by choice: the colours of links, reach shells, and the objective's map. */
export class ViewChoices {
  readonly element: HTMLElement;
  links = "power";
  shells = "selected";
  map = "follow"; // the server's altitude; "fixed": `altitude`; "none"
  altitude = 50; // of the map in metres
  private slider = h("input", { type: "range", min: 0, max: 1000, "aria-label": "Altitude of the map" });
  private text = h("output", {}, "");
  private selects: Record<"links" | "shells" | "map", HTMLSelectElement>;

  constructor(readonly model: PlanModel, readonly onChange: () => void) {
    this.slider.addEventListener("input", () => {
      this.map = "fixed";
      this.altitude = Number(this.slider.value) / 1000 * model.request.region_m[2];
      this.changed();
    });
    this.selects = {
      links: this.select("links", "Colour links by", [["power", "power"], ["delay", "delay"]]),
      shells: this.select("shells", "Reach shells", [["selected", "selected device"], ["all", "24 devices at most"], ["none", "none"]]),
      map: this.select("map", "Objective map", [["follow", "server's altitude"], ["fixed", "chosen altitude"], ["none", "none"]]),
    };
    this.element = h("div", {}, ...Object.values(this.selects).map((select) =>
      h("label", { class: "row" }, h("span", {}, select.ariaLabel ?? ""), select)),
    h("div", { class: "slider" }, h("span", { class: "label" }, "Altitude"), this.slider, this.text, h("span", { class: "unit" }, "m")));
  }

  private select(name: "links" | "shells" | "map", label: string, options: [string, string][]): HTMLSelectElement {
    const select = h("select", { "aria-label": label, onchange: () => { this[name] = select.value; this.changed(); } },
      ...options.map(([value, text]) => h("option", { value }, text)));
    return select;
  }

  private changed(): void {
    this.showChoices();
    this.onChange();
  }

  private showChoices(): void {
    for (const name of ["links", "shells", "map"] as const) this.selects[name].value = this[name];
  }

  /** The map's altitude within the region, which the slider then shows. */
  showAltitude(): number {
    const height = this.model.request.region_m[2];
    const altitude = Math.min(Math.max(this.altitude, 0), height);
    this.slider.value = String(1000 * altitude / height);
    this.slider.style.setProperty("--part", `${100 * altitude / height}%`);
    this.slider.setAttribute("aria-valuetext", `${digits(altitude)} m`);
    setText(this.text, digits(altitude));
    return altitude;
  }

  address(): AddressChange {
    return { links: this.links === "power" ? null : this.links, shells: this.shells === "selected" ? null : this.shells,
      map: this.map === "follow" ? null : this.map === "none" ? "none" : String(Number(this.altitude.toFixed(1))) };
  }

  restore(parameters: URLSearchParams): void {
    const [links, shells, map] = ["links", "shells", "map"].map((name) => parameters.get(name));
    this.links = links === "delay" ? "delay" : "power";
    this.shells = shells === "all" || shells === "none" ? shells : "selected";
    const altitude = Number(map ?? NaN);
    this.map = map === "none" ? "none" : Number.isFinite(altitude) ? "fixed" : "follow";
    if (this.map === "fixed") this.altitude = altitude;
    this.changed();
  }
}
