import { api, Refusal } from "../api";
import { button, clear, download, h, icon, pickFile, say, state, toast } from "../dom";
import { digits, percent, plural, seconds, whole } from "../format";
import { Dragger } from "../scene/drag";
import type { Handle } from "../scene/drag";
import { Network } from "../scene/network";
import type { Spot } from "../scene/network";
import { Stage, toolbar } from "../scene/stage";
import type { Answer, Opened, Point, Term } from "../types";
import { dials, sites } from "./controls";
import { middle, Model } from "./model";
import { gently, Replanner, seldom } from "./replan";
import { Rivals } from "./rivals";
import { countOf, DeviceTable, Inspector } from "./table";

const SHELLS_AT_ONCE = 24;
const TELL_MS = 150;
const CROWD = 200;

/** Plan: the network in 3-D, moved by hand, planned at every move. */
export class PlanView {
  readonly element = h("div", { class: "view plan" });
  readonly model = new Model();
  readonly replanner: Replanner;
  private stage!: Stage;
  private network!: Network;
  private rivals: Rivals;
  private table: DeviceTable;
  private inspector: Inspector;
  private refresh = { heat: () => {}, shells: () => {} };
  private dragging = false;
  private shellShape = ""; // what the shells that are drawn depend on
  private show = { heat: true, shells: "selected", links: "power", follow: true, altitude: 50 };
  private parts = {
    objective: h("output", { class: "big", "aria-label": "Objective" }, "–"),
    proof: h("p", { class: "proof", role: "status" }),
    pace: h("p", { class: "pace" }),
    terms: h("div", { class: "terms" }),
    faults: h("div", { class: "faults", role: "alert", hidden: true }),
    legend: h("div", { class: "legend" }),
    altitude: h("input", { type: "range", min: 0, max: 1000, "aria-label": "Altitude of the map" }),
    altitudeText: h("output", {}, ""),
    file: h("span", { class: "file" }, ""),
    round: h("label", { class: "row", hidden: true }),
    device: h("span", {}, ""),
  };

  constructor() {
    this.replanner = new Replanner(this.model, (answer, live, trip) => this.planned(answer, live, trip),
      (error) => this.refused(error));
    this.rivals = new Rivals(this.model, () => this.draw());
    this.table = new DeviceTable(this.model);
    this.inspector = new Inspector(this.model);
    this.model.listen((what) => this.changed(what));
    this.build();
  }

  async start(): Promise<void> {
    try {
      const examples = await api.examples();
      const first = examples.find((example) => example.name === "request.json")!;
      this.fillExamples(examples);
      this.opened(await api.open(first.name, first.text));
    } catch (error) {
      if (error instanceof Refusal) this.refused(error);
    }
  }

  // --- files -----------------------------------------------------------------------------------------

  async open(name: string, text: string, round = 0): Promise<void> {
    try {
      const found = await api.open(name, text, round);
      this.opened(found);
      if (round === 0) toast(`${name}: ${plural(found.request.devices.length, "device")}`);
    } catch (error) {
      if (error instanceof Refusal) this.fileFaults(name, error);
    }
  }

  private opened(found: Opened): void {
    clear(this.parts.faults);
    this.parts.faults.hidden = true;
    this.model.load(found.request, found);
    say(this.parts.file, found.kind === "scenario" ? `${found.name}, round ${found.round}` : found.name);
    this.parts.round.hidden = found.kind === "request";
    if (found.kind === "scenario") {
      const field = h("input", { type: "number", min: 0, max: found.rounds, value: String(found.round),
        "aria-label": "Round", onchange: () => void this.open(`${found.name}.toml`, found.scenario!, Number(field.value)) });
      clear(this.parts.round, h("span", {}, `Round of ${found.rounds}`), field);
    }
    for (const warning of found.warnings.slice(0, 3)) toast(warning);
  }

  /** A file that cannot be read: every fault with its field, until another file or dismissal. */
  private fileFaults(name: string, error: Refusal): void {
    const list = error.faults.slice(0, 12).map((fault) =>
      h("li", {}, h("code", {}, fault.field), ` ${fault.found}; ${fault.allowed}`));
    const rest = error.faults.length - list.length;
    clear(this.parts.faults, h("header", {}, h("strong", {}, `${name} was not loaded`),
      button("Close", () => { this.parts.faults.hidden = true; }, { icon: "cross", quiet: true })),
    h("ul", {}, ...list), rest > 0 ? h("p", {}, `and ${rest} more.`) : null,
    h("p", { class: "hint" }, "The network below is as it was."));
    this.parts.faults.hidden = false;
  }

  private fillExamples(examples: { name: string; text: string }[]): void {
    const select = this.element.querySelector<HTMLSelectElement>("#examples")!;
    for (const example of examples) select.append(h("option", { value: example.name }, example.name));
    select.addEventListener("change", () => {
      const chosen = examples.find((example) => example.name === select.value);
      if (chosen) void this.open(chosen.name, chosen.text);
      select.value = "";
    });
  }

  private command(): string {
    return `scdn plan - <<'REQUEST'\n${JSON.stringify(this.model.request, null, 1)}\nREQUEST\n`;
  }

  private async copy(): Promise<void> {
    const text = this.command();
    try {
      await navigator.clipboard.writeText(text);
      toast("Copied: paste it into a terminal");
    } catch {
      download("plan.sh", text, "text/x-shellscript");
      toast("The clipboard is closed here: saved as plan.sh");
    }
  }

  async scenarioText(): Promise<string> {
    return (await api.scenario(this.model.request, this.model.scenario, this.model.name)).text;
  }

  private async saveScenario(): Promise<void> {
    try {
      download(`${this.model.name}.toml`, await this.scenarioText(), "application/toml");
    } catch (error) {
      if (error instanceof Refusal) toast(error.message, "fault");
    }
  }

  // --- the page --------------------------------------------------------------------------------------

  private build(): void {
    const host = h("div", { class: "stage" });
    const { limits, weights, rate } = dials(this.model);
    this.element.append(
      h("aside", { class: "panel left", "aria-label": "Network" }, this.filePanel(),
        fold("Limits", true, limits, rate), fold("Weights", true, weights),
        fold("Where the server may be", false, sites(this.model)), fold("View", false, this.viewPanel())),
      h("div", { class: "middle" }, this.parts.faults, host),
      h("aside", { class: "panel right", "aria-label": "Plan" }, this.answerPanel(),
        this.inspector.element, this.rivals.element, this.table.element));
    try {
      this.stage = new Stage(host);
    } catch {
      clear(host, state("error", "No 3-D here", "This browser has no WebGL; plans and tables still work."));
      return;
    }
    this.stage.canvas.setAttribute("aria-label", "The network. Arrow keys move what is selected, page keys lift it, Delete removes it.");
    this.network = new Network(this.stage);
    this.tools(host);
    this.drags();
    this.refresh = {
      heat: gently(160, () => this.drawHeat()),
      shells: gently(30, () => this.drawShells()),
    };
    this.stage.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  private filePanel(): HTMLElement {
    const choose = h("select", { id: "examples", "aria-label": "Examples" }, h("option", { value: "" }, "Examples …"));
    return h("section", { class: "files" }, h("div", { class: "row" }, h("h2", {}, "Network"), this.parts.file),
      h("div", { class: "buttons" }, choose,
        button("Load", () => pickFile(".json,.toml", (name, text) => void this.open(name, text)), { icon: "open" })),
      this.parts.round,
      h("div", { class: "buttons three" },
        button("Request", () => download(`${this.model.name}.json`, JSON.stringify(this.model.request, null, 2), "application/json"), { icon: "save", title: "Save as a plan request" }),
        button("Scenario", () => void this.saveScenario(), { icon: "save", title: "Save as a scenario" }),
        button("Command", () => void this.copy(), { icon: "copy", title: "Copy as a scdn plan command" })),
      h("div", { class: "buttons" }, button("Add a device", () => this.model.addDevice(), { icon: "plus" }), this.parts.device));
  }

  private viewPanel(): HTMLElement {
    const choice = (label: string, options: [string, string][], value: string, set: (value: string) => void) => {
      const select = h("select", { "aria-label": label, onchange: () => { set(select.value); this.draw(); } },
        ...options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
      return h("label", { class: "row" }, h("span", {}, label), select);
    };
    const altitude = this.parts.altitude;
    altitude.addEventListener("input", () => {
      this.show.follow = false;
      this.show.altitude = Number(altitude.value) / 1000 * this.model.request.region_m[2];
      this.refresh.heat();
    });
    return h("div", {},
      choice("Links by", [["power", "power"], ["delay", "delay"]], "power", (value) => { this.show.links = value; }),
      choice("Reach shells", [["selected", "of the selected"], ["all", "of all"], ["none", "none"]], "selected",
        (value) => { this.show.shells = value; this.refresh.shells(); }),
      choice("Objective map", [["follow", "at the server's altitude"], ["fixed", "at a chosen altitude"], ["none", "none"]], "follow",
        (value) => { this.show.heat = value !== "none"; this.show.follow = value === "follow"; this.refresh.heat(); }),
      h("div", { class: "dial" }, h("span", { class: "label" }, "Altitude"), altitude, this.parts.altitudeText, h("span", { class: "unit" }, "m")));
  }

  private answerPanel(): HTMLElement {
    return h("section", { class: "answer" },
      h("div", { class: "row" }, h("h2", {}, "Plan"), this.parts.objective),
      this.parts.proof, this.parts.pace, this.parts.terms);
  }

  private tools(host: HTMLElement): void {
    const bar = toolbar(this.stage);
    const lift = button("Drag up and down", () => {
      const on = lift.getAttribute("aria-pressed") !== "true";
      lift.setAttribute("aria-pressed", String(on));
      this.dragger.vertical = on;
    }, { icon: "updown", quiet: true, "aria-pressed": "false", title: "Drag up and down (or hold Shift)" });
    bar.append(lift);
    host.append(this.parts.legend);
    clear(this.parts.legend,
      key("active", "active"), key("off", "off"), key("server", "server"),
      h("span", { class: "scale" }, h("span", {}, "link: little"), h("i", { class: "ramp" }), h("span", {}, "much of its limit")),
      h("span", { class: "scale heat" }, h("i", { class: "swatch" }), h("span", {}, "good places")));
  }

  private dragger!: Dragger;

  private drags(): void {
    this.dragger = new Dragger(this.stage, () => this.handles(), {
      pick: (key) => this.model.select(key),
      move: (key, to) => {
        this.dragging = true;
        this.model.move(key, to);
      },
      done: () => {
        this.dragging = false;
        this.refresh.heat();
        this.inspector.show();
      },
    });
  }

  private handles(): Handle[] {
    const { request } = this.model;
    if (!request) return [];
    return [
      ...request.devices.map((device) => ({ key: `device:${device.id}`, at: device.position_m, movable: true })),
      { key: "server", at: request.server.position_m, movable: true },
      ...request.keep_out_m.map((box, index) => ({ key: `box:${index}`, at: middle(box), movable: true })),
      ...(request.candidates_m ?? []).map((at, index) => ({ key: `candidate:${index}`, at, movable: true })),
    ];
  }

  private key(event: KeyboardEvent): void {
    const chosen = this.model.selected;
    const spot = chosen ? this.model.place(chosen) : null;
    const step = (event.shiftKey ? 0.1 : 0.01) * Math.max(...this.model.request.region_m);
    const moves: Record<string, Point> = { ArrowLeft: [-step, 0, 0], ArrowRight: [step, 0, 0],
      ArrowUp: [0, step, 0], ArrowDown: [0, -step, 0], PageUp: [0, 0, step], PageDown: [0, 0, -step] };
    if (event.key === "Escape") this.model.select(null);
    else if (chosen && (event.key === "Delete" || event.key === "Backspace")) this.model.remove();
    else if (chosen && spot && moves[event.key]) {
      const region = this.model.request.region_m;
      this.model.move(chosen, spot.map((value, axis) =>
        Math.min(Math.max(Math.round(10 * (value + moves[event.key]![axis]!)) / 10, 0), region[axis]!)) as Point);
    } else return;
    event.preventDefault();
  }

  // --- answers ---------------------------------------------------------------------------------------

  private changed(what: "request" | "selection" | "whole"): void {
    if (what === "whole") this.stage?.setRegion(this.model.request.region_m);
    if (what === "selection") {
      this.draw();
      this.refresh.shells();
      return;
    }
    say(this.parts.device, plural(this.model.request.devices.length, "device"));
    this.replanner.ask();
    this.rivals.later();
    this.refresh.shells();
    this.draw();
  }

  private planned(answer: Answer, live: boolean, trip: number): void {
    this.model.answer = answer;
    this.last = { live, trip };
    if (this.show.follow) this.show.altitude = answer.server.position_m[2];
    this.draw();
    this.tellSeldom();
    const crowded = this.dragging && this.model.request.devices.length > CROWD;
    if (this.show.heat && !crowded) this.refresh.heat(); // a crowd's map is drawn when it is let go
    this.element.dataset.plans = String(Number(this.element.dataset.plans ?? 0) + 1);
    this.element.dataset.status = live ? "live" : answer.status;
  }

  private last = { live: false, trip: 0 };

  /** The plan in numbers; not at every step of a drag, since nobody reads that fast. */
  private tellSeldom = seldom(TELL_MS, () => this.tell());

  private tell(): void {
    const answer = this.model.answer;
    if (!answer) return;
    const { live, trip } = this.last;
    this.parts.proof.classList.remove("wrong");
    say(this.parts.objective, digits(answer.objective, 5));
    const gap = answer.gap === null ? "" : `, within ${percent(answer.gap)} of the optimum${answer.status === "optimal" ? ", proven" : " so far"}`;
    say(this.parts.proof, `${countOf(answer.devices)} active${gap}`);
    const rate = live ? `, ${this.replanner.rate()} plans a second` : "";
    say(this.parts.pace, `Solved in ${seconds(answer.solve_seconds)}, there and back in ${digits(trip, 3)} ms${rate}`);
    this.terms(answer);
    this.table.show();
  }

  private refused(error: Refusal): void {
    this.parts.proof.classList.add("wrong");
    say(this.parts.objective, "–");
    say(this.parts.proof, error.faults.slice(0, 3).map((f) => `${f.field}: ${f.found}, ${f.allowed}`).join(". "));
    say(this.parts.pace, error.status === 0 ? "" : "The last plan is drawn.");
  }

  private terms(answer: Answer): void {
    const total = Math.max(answer.objective, 1e-12);
    const names: Term[] = ["convergence", "transmission", "processing", "movement"];
    if (!this.parts.terms.children.length) {
      clear(this.parts.terms, h("div", { class: "stack" }, ...names.map((name) => h("i", { class: name }))),
        h("dl", {}, ...names.flatMap((name) => [h("dt", { class: name }, name), h("dd")])));
    }
    const bars = this.parts.terms.querySelectorAll("i");
    const values = this.parts.terms.querySelectorAll("dd");
    names.forEach((name, index) => {
      bars[index]!.style.flexGrow = String(Math.max(answer.weighted[name] / total, 0));
      say(values[index]!, digits(answer.weighted[name]));
    });
  }

  private draw(): void {
    const { request, answer, selected } = this.model;
    if (!this.network || !request) return;
    const plans = new Map((answer?.devices ?? []).map((plan) => [plan.id, plan]));
    const spots: Spot[] = request.devices.map((device) => {
      const plan = plans.get(device.id);
      const active = plan?.active ?? false;
      const part = this.show.links === "delay" ? (plan?.delay_s ?? 0) / request.max_delay_s
        : (plan?.power_w ?? 0) / Math.max(device.max_power_w, 1e-12);
      return { id: device.id, at: device.position_m, look: active ? "active" : "off", fade: 1,
        link: active ? part : null, label: active ? `${device.id} · ${whole(plan!.iterations)} it` : device.id };
    });
    this.network.draw({ spots, server: answer?.server.position_m ?? null, before: request.server.position_m,
      path: [], boxes: request.keep_out_m, candidates: request.candidates_m ?? [],
      rivals: this.rivals.places, selected });
  }

  private async drawHeat(): Promise<void> {
    const height = this.model.request.region_m[2];
    const altitude = Math.min(Math.max(this.show.altitude, 0), height);
    this.parts.altitude.value = String(1000 * altitude / height);
    this.parts.altitude.style.setProperty("--part", `${100 * altitude / height}%`);
    say(this.parts.altitudeText, digits(altitude));
    this.parts.legend.classList.toggle("cold", !this.show.heat);
    if (!this.show.heat) {
      this.network.setHeat(null);
      return;
    }
    const points = this.dragging ? 31 : this.model.request.devices.length > CROWD ? 41 : 121;
    try {
      this.network.setHeat(await api.surface(this.model.json(), altitude, points));
    } catch {
      this.network.setHeat(null); // the plan says what is wrong
    }
  }

  private async drawShells(): Promise<void> {
    const { request, selected } = this.model;
    const wanted = this.show.shells === "none" ? []
      : this.show.shells === "all" ? request.devices.slice(0, SHELLS_AT_ONCE)
      : request.devices.filter((device) => selected === `device:${device.id}`);
    if (!wanted.length) {
      this.shellShape = "";
      this.network.setShells(null, new Map());
      return;
    }
    const places = new Map(wanted.map((device) => [device.id, device.position_m]));
    const shape = JSON.stringify([request.radio, request.max_delay_s, wanted.map((device) =>
      ({ ...device, position_m: device.position_m[2] > 0 }))]);
    if (shape === this.shellShape) {
      this.network.moveShells(places); // a device takes its shell along as it is
      return;
    }
    this.shellShape = shape;
    try {
      this.network.setShells(await api.reach({ ...request, candidates_m: null, devices: wanted }), places);
    } catch {
      this.network.setShells(null, places);
    }
  }
}

function key(kind: string, text: string): HTMLElement {
  return h("span", { class: `key ${kind}` }, h("i"), text);
}

export function fold(title: string, open: boolean, ...children: HTMLElement[]): HTMLElement {
  return h("details", { open }, h("summary", {}, title, icon("down") as unknown as Node), h("div", { class: "inside" }, ...children));
}

