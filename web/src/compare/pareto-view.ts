import { h, setChildren, svg } from "../dom";
import { digits, tickLabel } from "../format";
import { methodStyles } from "../theme";
import type { ParetoChart, ParetoPoint, StudySummary } from "../types";
import type { Exports } from "./exports";
import { placeLabels } from "./pareto-labels";
import type { Box } from "./pareto-labels";
import { makeScale } from "./pareto-scale";
import type { Scale } from "./pareto-scale";

export type Cost = "joules" | "seconds";
export interface ParetoChoice { cost: Cost; log: boolean | null } // null: the scale that suits the costs

const UNITS: Record<Cost, string> = { joules: "J", seconds: "s" };
const [LEFT, RIGHT, TOP, BOTTOM] = [54, 18, 28, 40];

/** Final scores against joules or seconds: a point per run, a larger one per method, and the Pareto front. */
export class ParetoView {
  readonly element = h("figure", { class: "card wide pareto" });
  private plot = h("div", { class: "pareto-plot" });
  private tip = h("div", { class: "pareto-tip", hidden: true, "aria-hidden": "true" });
  private keys = h("div", { class: "pareto-keys" });
  private title = h("h3");
  private about = h("small");
  private files = h("span");
  private costs = (["joules", "seconds"] as const).map((cost) => h("button", { type: "button", onclick: () => this.choose({ ...this.choice, cost, log: null }) }, `against ${cost}`));
  private logBox = h("input", { type: "checkbox", onchange: () => this.choose({ ...this.choice, log: this.logBox.checked }) });
  private study: StudySummary | null = null;
  private exports: Exports | null = null;
  private width = 0;
  private choice: ParetoChoice = { cost: "joules", log: null };

  /** `chosen` is called when the axis or its scale is changed here. */
  constructor(private chosen: (choice: ParetoChoice) => void) {
    setChildren(this.element, h("figcaption", {}, this.title, this.about, this.files),
      h("div", { class: "pareto-controls" }, h("span", { role: "group", "aria-label": "Cost", class: "segments" }, ...this.costs),
        h("label", {}, this.logBox, "Logarithmic costs")),
      h("div", { class: "pareto-frame" }, this.plot, this.tip), this.keys);
    this.plot.addEventListener("keydown", (event) => this.moveFocus(event));
    new ResizeObserver(() => { if (this.plot.clientWidth !== this.width) this.draw(); }).observe(this.plot);
  }

  show(study: StudySummary, exports: Exports, choice: ParetoChoice): void {
    [this.study, this.exports, this.choice] = [study, exports, choice];
    this.draw();
  }

  private choose(choice: ParetoChoice): void {
    this.choice = choice;
    this.draw();
    this.chosen(choice);
  }

  private draw(): void {
    if (!this.study || !this.exports) return;
    const { pareto } = this.study;
    const { cost } = this.choice;
    const values = pareto.runs.map((point) => point[cost]);
    const positive = values.length > 0 && Math.min(...values) > 0;
    const log = positive && (this.choice.log ?? pareto.log_costs.includes(cost));
    this.title.textContent = `Final ${pareto.label} against ${cost}`;
    this.about.textContent = ["A small point is a run and opens it, a large one the mean of a method. Up and to the left is better:".replace("Up", pareto.higher_is_better ? "Up" : "Down"),
      "no method beats one on the grey front in both.", ...pareto.notes].join(" ");
    this.costs.forEach((button, n) => button.setAttribute("aria-pressed", String((["joules", "seconds"] as const)[n] === cost)));
    [this.logBox.checked, this.logBox.disabled] = [log, !positive];
    setChildren(this.files, this.exports.links(`pareto_${cost}`, "pareto", { log: String(log) }));
    setChildren(this.keys, ...legend(this.study, cost));
    this.element.dataset.cost = cost;
    this.element.dataset.log = String(log);
    this.width = this.plot.clientWidth;
    this.tip.hidden = true;
    setChildren(this.plot, pareto.runs.length ? this.picture(pareto, cost, log) : h("p", {}, "No run has a score yet."));
  }

  private picture(pareto: ParetoChart, cost: Cost, log: boolean): SVGElement {
    const width = Math.max(260, this.width || 640);
    const height = Math.round(Math.min(440, Math.max(280, 0.5 * width)));
    const bounds = cost === "joules" ? pareto.bounds : [];
    const points = [...pareto.runs, ...pareto.means];
    const x = makeScale([...points.map((point) => point[cost]), ...bounds.map((bound) => bound.joules)], LEFT, width - RIGHT, log);
    const y = makeScale([...points.map((point) => point.score), ...pareto.targets], height - BOTTOM, TOP, false);
    const unit = pareto.unit ? ` (${pareto.unit})` : "";
    const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group",
      "aria-label": `Final ${pareto.label} against ${cost}. Arrow keys go from point to point, Enter opens a run.` });
    picture.append(...axes(x, y, width, height, `${pareto.label}${unit}`, `${cost} (${UNITS[cost]})`));
    const lineNames: Box[] = []; // other names must not overlap them
    for (const target of pareto.targets) {
      lineNames.push({ left: width - RIGHT - 80, right: width - RIGHT, top: y.at(target) - 16, bottom: y.at(target) + 2 });
      picture.append(svg("line", { class: "target", x1: LEFT, x2: width - RIGHT, y1: y.at(target), y2: y.at(target) }),
        svg("text", { class: "note", x: width - RIGHT, y: y.at(target) - 5, "text-anchor": "end" }, `target ${tickLabel(target)}`));
    }
    bounds.forEach((bound, n) => {
      const at = x.at(bound.joules);
      const right = at > width / 2;
      lineNames.push({ left: right ? LEFT : at, right: right ? at : width, top: TOP + 14 * n, bottom: TOP + 14 * (n + 1) });
      picture.append(svg("line", { class: "bound", x1: at, x2: at, y1: TOP, y2: height - BOTTOM }),
        svg("text", { class: "note", x: at + (right ? -5 : 5), y: TOP + 10 + 14 * n, "text-anchor": right ? "end" : "start" },
          `bound of ${bound.method}: ${digits(bound.joules, 3)} J`));
    });
    const means = new Map(pareto.means.map((mean) => [mean.method, mean]));
    for (const front of pareto.fronts.filter((known) => known.cost === cost)) {
      const [first, ...rest] = front.methods.map((method) => means.get(method)!);
      const steps = rest.map((point) => `H${x.at(point[cost]).toFixed(1)}V${y.at(point.score).toFixed(1)}`);
      picture.append(svg("path", { class: "front", d: `M${x.at(first![cost]).toFixed(1)},${y.at(first!.score).toFixed(1)}${steps.join("")}` }));
    }
    const ordered = [...points].sort((a, b) => a[cost] - b[cost] || a.score - b.score);
    const marks = ordered.map((point, n) => this.mark(point, x.at(point[cost]), y.at(point.score), cost, n === 0));
    picture.append(...marks.filter((_, n) => ordered[n]!.seed !== null), ...marks.filter((_, n) => ordered[n]!.seed === null));
    this.marks = marks;
    picture.append(...placeLabels(pareto.means.map((mean) => ({ text: mean.method, x: x.at(mean[cost]), y: y.at(mean.score) })), width, height, lineNames));
    return picture;
  }

  private marks: SVGElement[] = []; // from the cheapest

  private mark(point: ParetoPoint, x: number, y: number, cost: Cost, first: boolean): SVGElement {
    const study = this.study!;
    const { pareto } = study;
    const mean = point.seed === null;
    const name = pointName(point, pareto, cost);
    const shape = svg("path", { d: shapePath(pareto.settings.indexOf(point.setting), mean ? 9 : 5), transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
    const reach = svg("circle", { class: "reach", cx: x.toFixed(1), cy: y.toFixed(1), r: mean ? 12 : 9 });
    const attributes = { class: `point ${mean ? "mean" : "run-point"}${point.status === "done" ? "" : " hollow"}`, tabindex: first ? 0 : -1, "aria-label": name };
    const mark = mean ? svg("g", { ...attributes, role: "img" }, reach, shape)
      : svg("a", { ...attributes, href: runAddress(study.run_names[point.run!]!) }, reach, shape);
    mark.style.setProperty("--tone", methodStyles(study.methods).get(point.method)!.colour);
    const show = () => this.showTip(name, x, y);
    for (const event of ["mouseenter", "focus"]) mark.addEventListener(event, show);
    for (const event of ["mouseleave", "blur"]) mark.addEventListener(event, () => { this.tip.hidden = true; });
    return mark;
  }

  private showTip(text: string, x: number, y: number): void {
    this.tip.textContent = text;
    this.tip.hidden = false;
    const left = Math.max(0, Math.min(x - this.tip.offsetWidth / 2, this.plot.clientWidth - this.tip.offsetWidth));
    const above = y - this.tip.offsetHeight - 14;
    this.tip.style.transform = `translate(${left.toFixed(0)}px, ${(above > 0 ? above : y + 16).toFixed(0)}px)`;
  }

  /** Arrow keys go through the points in the order of their costs; Tab enters and leaves them at once. */
  private moveFocus(event: KeyboardEvent): void {
    const at = this.marks.findIndex((mark) => mark === document.activeElement);
    const last = this.marks.length - 1;
    const targets: Record<string, number> = { ArrowRight: Math.min(at + 1, last), ArrowUp: Math.min(at + 1, last),
      ArrowLeft: Math.max(at - 1, 0), ArrowDown: Math.max(at - 1, 0), Home: 0, End: last };
    const next = targets[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    this.marks[at]!.setAttribute("tabindex", "-1");
    this.marks[next]!.setAttribute("tabindex", "0");
    this.marks[next]!.focus();
  }
}

const runAddress = (run: string): string => `#run?run=${encodeURIComponent(run).replaceAll("%2F", "/")}`;

function pointName(point: ParetoPoint, pareto: ParetoChart, cost: Cost): string {
  const unit = pareto.unit ? ` ${pareto.unit}` : "";
  const who = point.seed === null ? "mean over seeds" : `seed ${point.seed}`;
  const onFront = point.seed === null && pareto.fronts.some((front) => front.cost === cost && front.methods.includes(point.method));
  const parts = [`${point.method}, ${who}`, point.setting, `${pareto.label} ${digits(point.score, 4)}${unit}`, `${digits(point.joules, 4)} J`,
    `${digits(point.seconds, 4)} s`, point.status === "done" ? "" : point.status, onFront ? "on the Pareto front" : ""];
  return parts.filter(Boolean).join("; ");
}

function axes(x: Scale, y: Scale, width: number, height: number, yLabel: string, xLabel: string): SVGElement[] {
  const bottom = height - BOTTOM;
  return [
    ...y.ticks.flatMap((tick) => [svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y.at(tick), y2: y.at(tick) }),
      svg("text", { x: LEFT - 8, y: y.at(tick) + 4, "text-anchor": "end" }, tickLabel(tick))]),
    ...x.ticks.flatMap((tick) => [svg("line", { class: "grid", x1: x.at(tick), x2: x.at(tick), y1: TOP, y2: bottom }),
      svg("text", { x: x.at(tick), y: bottom + 16, "text-anchor": "middle" }, tickLabel(tick))]),
    svg("text", { x: 4, y: 14 }, yLabel),
    svg("text", { x: width - RIGHT, y: height - 6, "text-anchor": "end" }, xLabel),
  ];
}

/** Settings differ in shape: circle, triangle, square, diamond, inverted triangle, cross; as in report/palette.py. */
function shapePath(setting: number, r: number): string {
  const shapes = [
    `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0z`,
    `M0,${-1.15 * r}L${1.1 * r},${0.85 * r}H${-1.1 * r}z`,
    `M${-0.9 * r},${-0.9 * r}h${1.8 * r}v${1.8 * r}h${-1.8 * r}z`,
    `M0,${-1.2 * r}L${1.2 * r},0L0,${1.2 * r}L${-1.2 * r},0z`,
    `M0,${1.15 * r}L${1.1 * r},${-0.85 * r}H${-1.1 * r}z`,
    `M${-0.4 * r},${-1.1 * r}h${0.8 * r}v${0.7 * r}h${0.7 * r}v${0.8 * r}h${-0.7 * r}v${0.7 * r}h${-0.8 * r}v${-0.7 * r}h${-0.7 * r}v${-0.8 * r}h${0.7 * r}z`,
  ];
  return shapes[Math.max(0, setting) % shapes.length]!;
}

function legend(study: StudySummary, cost: Cost): HTMLElement[] {
  const { pareto } = study;
  const styles = methodStyles(study.methods);
  const icon = (setting: number, r: number): SVGElement =>
    svg("svg", { viewBox: "-10 -10 20 20", width: 14, height: 14, "aria-hidden": "true" }, svg("path", { d: shapePath(setting, r) }));
  const key = (text: string, kind: string, tone: string, ...mark: (Node | string)[]): HTMLElement => {
    const entry = h("span", { class: `pareto-key ${kind}` }, ...mark as Node[], text);
    entry.style.setProperty("--tone", tone);
    return entry;
  };
  const firsts = new Map([...pareto.runs].reverse().map((point) => [point.method, point]));
  const entries = study.methods.filter((method) => firsts.has(method)).map((method) =>
    key(method, "", styles.get(method)!.colour, icon(pareto.settings.indexOf(firsts.get(method)!.setting), 8)));
  if (pareto.settings.length > 1) entries.push(...pareto.settings.map((setting, n) => key(setting, "", "var(--muted)", icon(n, 8))));
  if (pareto.fronts.some((front) => front.cost === cost)) entries.push(key("Pareto front of the means", "front", "", h("i")));
  if (pareto.targets.length) entries.push(key("target", "target", "", h("i")));
  if (cost === "joules" && pareto.bounds.length) entries.push(key("bound: no plan for a mission's progress needs less, the least over its seeds", "bound", "", h("i")));
  if (pareto.runs.some((point) => point.status !== "done")) entries.push(key("hollow: a run that is not done", "", "var(--muted)"));
  return entries;
}
