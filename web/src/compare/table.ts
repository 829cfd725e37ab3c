import { h } from "../dom";
import { chance, digits } from "../format";
import { looks } from "../theme";
import type { Measure, Spread, Study } from "../types";

/** A row per method: mean ± deviation, and below it the difference with its chance. */
export function mainTable(study: Study): HTMLElement {
  const shown = study.measures.filter((measure) => measure.main);
  const seen = looks(study.methods);
  const heads = shown.map((measure) => h("th", { scope: "col" }, measure.label, measure.unit ? h("small", {}, ` ${measure.unit}`) : null));
  const rows = study.methods.map((method) => {
    const dot = h("i", { class: "dot" });
    dot.style.background = seen.get(method)!.colour;
    const tag = method === study.reference ? "reference" : seedsOf(shown, method);
    return h("tr", {}, h("th", { scope: "row" }, dot, method, h("small", {}, tag)),
      ...shown.map((measure) => cell(measure, method)));
  });
  return h("div", { class: "scroll card" }, h("table", { class: "main-table" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Method"), ...heads)), h("tbody", {}, ...rows)));
}

function seedsOf(measures: Measure[], method: string): string {
  const count = measures[0]?.values.find((value) => value.method === method)?.seeds ?? 0;
  return `${count} seed${count === 1 ? "" : "s"}`;
}

function cell(measure: Measure, method: string): HTMLElement {
  const found = measure.values.find((value) => value.method === method);
  if (!found) return h("td", {}, "–");
  const places = placesOf(found);
  const mean = h("b", {}, fixed(found.mean, places), found.std === null ? null : h("span", {}, ` ± ${fixed(found.std, places)}`));
  return h("td", { title: found.low === null ? "" : `95 % interval of the difference: ${fixed(found.low, places)} … ${fixed(found.high!, places)}; sign flips: p ${chance(found.p_flip)}` },
    mean, found.difference === null ? null : difference(found, places));
}

function difference(found: Spread, places: number | null): HTMLElement {
  const verdict = found.verdict ?? "";
  const mark = { better: "▲ ", worse: "▼ " }[verdict] ?? "";
  const sign = found.difference! > 0 ? "+" : "";
  const p = found.p_t === null ? "one seed" : `p ${chance(found.p_t)}`;
  return h("small", { class: mark ? verdict : "same" }, `${mark}${sign}${fixed(found.difference!, places)} · ${p}`);
}

/** As many decimals as show two digits of the deviation. */
function placesOf(found: Spread): number | null {
  if (!found.std || found.std < 1e-9 * Math.abs(found.mean)) return null;
  return Math.max(0, 1 - Math.floor(Math.log10(found.std)));
}

function fixed(value: number, places: number | null): string {
  if (places === null || places > 6 || Math.abs(value) >= 1e6) return digits(value, 4);
  return value.toFixed(places).replace("-", "−");
}
