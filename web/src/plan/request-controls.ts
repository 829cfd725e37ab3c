import { h } from "../dom";
import { digits } from "../format";
import type { PlanRequest, Term } from "../types";
import { NumberField } from "./number-field";
import { ANY, NOT_NEGATIVE, POSITIVE, WHOLE } from "./number-rules";
import type { NumberRule } from "./number-rules";
import { isEdit } from "./plan-model";
import type { PlanModel } from "./plan-model";
import { TransmitLimit } from "./transmit-limit";

interface SliderSpec {
  label: string;
  unit: string;
  low: number;
  high: number;
  log: boolean;
  rule: NumberRule;
  about: string;
  get: (request: PlanRequest) => number;
  set: (request: PlanRequest, value: number) => void;
}

const weight = (term: Term, label: string, low: number, high: number, about: string): SliderSpec => ({
  label, unit: "", low, high, log: true, rule: NOT_NEGATIVE, about,
  get: (request) => request.weights[term],
  set: (request, value) => { request.weights[term] = value; },
});

const transmitLimit = new TransmitLimit();

const LIMITS: SliderSpec[] = [
  { label: "Delay limit", unit: "ms", low: 1, high: 500, log: true, rule: POSITIVE,
    about: "The time within which a report must arrive",
    get: (request) => 1e3 * request.max_delay_s,
    set: (request, value) => { request.max_delay_s = value / 1e3; } },
  { label: "Link margin", unit: "dB", low: -10, high: 20, log: false, rule: ANY,
    about: "Added to every link's path loss",
    get: (request) => request.radio.margin_db,
    set: (request, value) => { request.radio.margin_db = value; } },
  { label: "Transmit limit", unit: "mW", low: 10, high: 2000, log: true, rule: NOT_NEGATIVE,
    about: "The mean over the devices; changing it scales all of them",
    get: (request) => 1e3 * TransmitLimit.mean(request),
    set: (request, value) => transmitLimit.scale(request, value / 1e3) },
  { label: "Iterations", unit: "", low: 0, high: 20, log: false, rule: WHOLE,
    about: "The most local iterations of a device in a round",
    get: (request) => request.max_iterations,
    set: (request, value) => { request.max_iterations = Math.round(value); } },
];

const WEIGHTS: SliderSpec[] = [
  weight("convergence", "Convergence", 1e-3, 1e3, "Per unit of the convergence bound"),
  weight("transmission", "Transmission", 1e-2, 1e4, "Per joule of transmission"),
  weight("processing", "Processing", 1e-4, 10, "Per joule of processing"),
  weight("movement", "Movement", 1e-5, 1, "Per joule of movement"),
];

const STEPS = 1000;

/** Sliders with a number field each; they follow the model when it changes elsewhere. */
export function requestSliders(model: PlanModel): { limits: HTMLElement; weights: HTMLElement; rateModel: HTMLElement } {
  const select = h("select", { "aria-label": "Rate model", onchange: () => model.change((request) => {
    request.radio.rate_model = select.value as "shannon" | "pade";
  }) }, h("option", { value: "shannon" }, "Shannon"),
  h("option", { value: "pade" }, "Padé (as in the paper)"));
  model.onChange((change) => { if (isEdit(change)) select.value = model.request.radio.rate_model; });
  const rateModel = h("label", { class: "row" }, h("span", {}, "Rate model"), select);
  return { limits: sliderGroup(model, LIMITS), weights: sliderGroup(model, WEIGHTS), rateModel };
}

function sliderGroup(model: PlanModel, specs: SliderSpec[]): HTMLElement {
  return h("div", { class: "sliders" }, ...specs.map((spec) => sliderRow(model, spec)));
}

function sliderRow(model: PlanModel, spec: SliderSpec): HTMLElement {
  const toStep = (value: number) => spec.log
    ? STEPS * Math.log(Math.max(value, spec.low) / spec.low) / Math.log(spec.high / spec.low)
    : STEPS * (value - spec.low) / (spec.high - spec.low);
  const toValue = (step: number) => spec.log
    ? spec.low * (spec.high / spec.low) ** (step / STEPS)
    : spec.low + (spec.high - spec.low) * step / STEPS;
  const slider = h("input", { type: "range", min: 0, max: STEPS, step: 1, "aria-label": spec.label,
    oninput: () => set(Number(digits(toValue(Number(slider.value)), 3).replace("−", "-"))) });
  const set = (value: number) => model.change((request) => spec.set(request, value));
  const field = new NumberField(`${spec.label}, number`, spec.rule, () => (model.request ? spec.get(model.request) : 0), set);
  let shown = NaN;
  const follow = () => {
    const value = spec.get(model.request);
    field.show(value);
    if (value === shown) return;
    shown = value;
    slider.value = String(toStep(value));
    slider.style.setProperty("--part", `${Math.min(100, Math.max(0, toStep(value) / STEPS * 100))}%`);
    slider.setAttribute("aria-valuetext", `${Number(value.toPrecision(4))} ${spec.unit}`.trim());
  };
  model.onChange((change) => { if (isEdit(change)) follow(); });
  return h("div", { class: "slider", title: spec.about }, h("span", { class: "label" }, spec.label),
    slider, field.input, h("span", { class: "unit" }, spec.unit), field.message);
}
