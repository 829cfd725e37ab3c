import { button, h, setChildren } from "../dom";
import { NumberField } from "./number-field";
import { inRange } from "./number-rules";
import type { NumberRule } from "./number-rules";
import type { PlanModel } from "./plan-model";

const AXES = ["x", "y", "z"];

/** Keep-out boxes and candidate sites, each with a number, named fields in metres, and a button to remove it. */
export function siteLists(model: PlanModel): HTMLElement {
  const boxes = h("ul", { class: "sites", "aria-label": "Keep-out boxes" });
  const candidates = h("ul", { class: "sites", "aria-label": "Candidate sites" });
  let [shown, counted] = ["", ""];
  const follow = () => {
    const { keep_out_m, candidates_m } = model.request;
    const now = JSON.stringify([keep_out_m, candidates_m, model.selected]);
    const shape = `${keep_out_m.length},${candidates_m?.length ?? 0}`;
    const typing = boxes.contains(document.activeElement) || candidates.contains(document.activeElement);
    if (now === shown || (shape === counted && typing)) return;
    [shown, counted] = [now, shape];
    setChildren(boxes, ...keep_out_m.map((_, index) => boxRow(model, index)));
    setChildren(candidates, ...(candidates_m ?? []).map((_, index) => siteRow(model, index)));
  };
  model.onChange(follow);
  return h("div", { class: "site-lists" },
    h("div", { class: "row" }, h("span", {}, "Keep-out boxes"), button("Add a box", () => model.addBox(), { icon: "plus" })),
    boxes, h("p", { class: "hint" }, "The server is never inside one."),
    h("div", { class: "row" }, h("span", {}, "Candidate sites"), button("Add a site", () => model.addCandidate(), { icon: "plus" })),
    candidates, h("p", { class: "hint" }, "With candidate sites, the server chooses only among them."));
}

/** A box: from and to along each axis, where it may not end before it begins. */
function boxRow(model: PlanModel, index: number): HTMLElement {
  const name = `Box ${index + 1}`;
  const value = (at: number) => model.request.keep_out_m[index]?.[at] ?? 0;
  const field = (axis: number, end: boolean) => {
    const side = model.request.region_m[axis]!;
    const rule: NumberRule = {
      get allowed() { return end ? `from ${value(axis)} to ${side}` : `from 0 to ${value(axis + 3)}`; },
      accepts: (number) => (end ? number >= value(axis) && number <= side : number >= 0 && number <= value(axis + 3)),
    };
    const at = end ? axis + 3 : axis;
    return new NumberField(`${name}, ${end ? "to" : "from"} ${AXES[axis]} in metres`, rule, () => value(at),
      (to) => model.change((request) => { request.keep_out_m[index]![at] = to; }), focusing(model, `box:${index}`));
  };
  const fields = AXES.map((_, axis) => [field(axis, false), field(axis, true)] as const);
  return entry(model, `box:${index}`, name, fields.flat(), h("div", { class: "spans" }, ...fields.flatMap(([from, to], axis) =>
    [h("span", {}, `${AXES[axis]} from`), from.input, h("span", {}, "to"), to.input, h("span", { class: "unit" }, "m")])));
}

function siteRow(model: PlanModel, index: number): HTMLElement {
  const name = `Site ${index + 1}`;
  const fields = AXES.map((axis, at) => new NumberField(`${name}, ${axis} in metres`, inRange(model.request.region_m[at]!),
    () => model.request.candidates_m?.[index]?.[at] ?? 0,
    (to) => model.change((request) => { request.candidates_m![index]![at] = to; }), focusing(model, `candidate:${index}`)));
  return entry(model, `candidate:${index}`, name, fields, h("div", { class: "spans single" }, ...fields.flatMap((field, at) =>
    [h("span", {}, `${AXES[at]}`), field.input]), h("span", { class: "unit" }, "m")));
}

const focusing = (model: PlanModel, key: string) => ({ attributes: { onfocus: () => model.select(key) } });

function entry(model: PlanModel, key: string, name: string, fields: NumberField[], inputs: HTMLElement): HTMLElement {
  return h("li", { class: model.selected === key ? "selected" : "", "aria-label": name },
    h("button", { type: "button", class: "plain", title: `Select ${name.toLowerCase()}`, onclick: () => model.select(key) }, name),
    button(`Remove ${name.toLowerCase()}`, () => model.remove(key), { icon: "cross", quiet: true }),
    inputs, ...fields.map((field) => field.message));
}
