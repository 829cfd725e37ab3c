import { collapsible, h } from "../dom";
import { pValue, digits } from "../format";
import { methodStyles } from "../theme";
import type { Measure, MethodResult, StudySummary } from "../types";
import type { Exports } from "./exports";

const TOO_FEW_SEEDS = "too few seeds to tell";
const LEAST_SEEDS = 6; // as in report/statistics.py

/** A row per method: its value over seeds, and the difference to the reference with its p-value. The costs of targets come first. */
export function resultTable(study: StudySummary, exports: Exports): HTMLElement {
  const [main, further] = [study.measures.filter((measure) => measure.main), study.measures.filter((measure) => !measure.main)];
  return h("section", { class: "card results", "aria-label": "Results" },
    h("div", { class: "results-top" }, h("p", { class: "reading" }, reading(study)),
      h("span", { class: "exports" }, exports.table("statistics"), study.targets.length ? exports.table("targets") : null)),
    scrollable(table(study, main), "Results by method"),
    further.length ? collapsible("Further measures", false, scrollable(table(study, further), "Further measures by method")) : null);
}

const scrollable = (content: HTMLElement, name: string): HTMLElement => h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, content);

/** What the colours of the differences mean; there is none without a decision of the exact test. */
function reading(study: StudySummary): string {
  if (study.methods.length < 2) return "There is one method, so nothing is compared.";
  const verdicts = study.measures.flatMap((measure) => measure.values.map((value) => value.verdict)).filter((verdict) => verdict !== null);
  const below = `Below each value is the difference to ${study.reference}, paired by seed.`;
  if (verdicts.every((verdict) => verdict === TOO_FEW_SEEDS)) {
    return `${below} All are grey: fewer than ${LEAST_SEEDS} common seeds are too few to tell a difference from chance.`;
  }
  return `${below} ▲ green is better and ▼ red is worse by the exact sign-flip test at the 5 % level. Grey is no clear difference, or fewer than ${LEAST_SEEDS} common seeds, which are too few to tell.`;
}

function table(study: StudySummary, shown: Measure[]): HTMLElement {
  const styles = methodStyles(study.methods);
  const heads = shown.map((measure) => {
    const about = [measure.unit, measure.ranked ? "median" : ""].filter(Boolean).join(", ");
    return h("th", { scope: "col" }, measure.label, about ? h("small", {}, ` (${about})`) : null);
  });
  const rows = study.methods.map((method) => {
    const dot = h("i", { class: "dot" });
    dot.style.background = styles.get(method)!.colour;
    const tag = method === study.reference ? "reference" : seedCount(shown, method);
    return h("tr", {}, h("th", { scope: "row" }, dot, method, h("small", {}, tag)),
      ...shown.map((measure) => cell(measure, method)));
  });
  return h("table", { class: "main-table" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Method"), ...heads)), h("tbody", {}, ...rows));
}

function seedCount(measures: Measure[], method: string): string {
  const count = measures[0]?.values.find((value) => value.method === method)?.seeds ?? 0;
  return `${count} seed${count === 1 ? "" : "s"}`;
}

function cell(measure: Measure, method: string): HTMLElement {
  const result = measure.values.find((value) => value.method === method);
  if (!result) return h("td", {}, "–");
  const decimals = decimalsOf(result);
  const centre = result.mean ?? result.median;
  const failed = result.failed ? `${measure.failure} (${result.failed} of ${result.seeds})` : "";
  const value = h("b", {}, centre === null ? null : fixed(centre, decimals),
    result.std === null ? null : h("span", {}, ` ± ${fixed(result.std, decimals)}`), failed ? h("span", { class: "failed" }, ` ${failed}`) : null);
  return h("td", { title: result.low === null ? "" : `95 % interval of the difference: ${fixed(result.low, decimals)} … ${fixed(result.high!, decimals)}; t-test, for illustration: p ${pValue(result.p_t)}` },
    value, result.verdict === null ? null : difference(measure, result, decimals));
}

function difference(measure: Measure, result: MethodResult, decimals: number | null): HTMLElement {
  const verdict = result.verdict ?? "";
  const mark = { better: "▲ ", worse: "▼ " }[verdict] ?? "";
  const p = measure.ranked ? result.p_rank : result.p_flip;
  const decided = verdict !== TOO_FEW_SEEDS;
  const chance = decided ? `p ${pValue(p)}${mark ? "" : `, ${verdict}`}` : verdict;
  const known = (result.mean ?? result.median) !== null && result.difference !== null;
  const change = known ? `${result.difference! > 0 ? "+" : ""}${fixed(result.difference!, decimals)}` : "";
  return h("small", { class: mark ? verdict : "same" }, mark || change ? h("span", {}, `${mark}${change}`) : null, h("span", {}, chance));
}

/** How many decimals show two digits of the deviation. */
function decimalsOf(result: MethodResult): number | null {
  if (!result.std || result.mean === null || result.std < 1e-9 * Math.abs(result.mean)) return null;
  return Math.max(0, 1 - Math.floor(Math.log10(result.std)));
}

function fixed(value: number, decimals: number | null): string {
  if (decimals === null || decimals > 6 || Math.abs(value) >= 1e6) return digits(value, 4);
  return value.toFixed(decimals).replace("-", "−");
}
