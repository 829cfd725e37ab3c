import { api, ApiError } from "../api";
import { button, faultList, h, pickFile, setChildren } from "../dom";
import type { About, Example, MissionSettings } from "../types";

/** The dialog that starts a run: a scenario, methods, seeds. */
export class StartDialog {
  readonly element = h("dialog", { class: "start", "aria-labelledby": "start-title" });
  private scenario = h("textarea", { rows: 11, spellcheck: "false", "aria-label": "Scenario" });
  private name = h("input", { type: "text", pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*", maxlength: 60, required: true });
  private seeds = h("input", { type: "number", min: 1, max: 50, value: "1" });
  private rounds = h("input", { type: "number", min: 1, placeholder: "as written" });
  private methods = h("div", { class: "methods" });
  private goal = h("select", {}, ...[["", "as written"], ["energy", "least energy"], ["time", "least time"], ["best", "best model"]]
    .map(([value, label]) => h("option", { value }, label!)));
  private target = h("input", { type: "text", placeholder: "as written", title: "A metric and a value, such as top3=95" });
  private budget = h("input", { type: "number", min: 0, step: "any", placeholder: "as written" });
  private deadline = h("input", { type: "number", min: 0, step: "any", placeholder: "as written" });
  private mission = h("fieldset", { class: "mission-settings" });
  private faults = h("ul", { class: "problems", role: "alert" });
  private source = h("select", { "aria-label": "Scenario to start from" });
  private startButton!: HTMLButtonElement;

  constructor(readonly plannedScenario: () => Promise<string>, readonly onStarted: (job: string) => void) {}

  /** Opens the dialog; `example` is chosen as the scenario. */
  async open(example?: string): Promise<void> {
    if (!this.element.isConnected) {
      document.body.append(this.element);
      const [about, examples] = await Promise.all([api.about(), api.examples()]);
      this.build(about, examples.filter((example) => example.name.endsWith(".toml")));
    }
    if (example) this.choose(example);
    setChildren(this.faults);
    this.name.value = `run-${new Date().toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "-")}`;
    this.element.showModal();
  }

  private build(about: About, examples: Example[]): void {
    this.source.append(...examples.map((example) => h("option", { value: example.name }, example.name)),
      h("option", { value: "plan" }, "the network under Plan"), h("option", { value: "file" }, "a file …"));
    this.source.addEventListener("change", () => void this.loadScenario(examples));
    const quick = examples.find((example) => example.name === "quick.toml") ?? examples[0];
    if (quick) {
      this.source.value = quick.name;
      this.scenario.value = quick.text;
    }
    this.methods.append(...about.methods.map((method) => h("label", { title: method.about },
      h("input", { type: "checkbox", value: method.name, checked: method.name === "mission", onchange: () => this.showMission() }), method.name)));
    const field = (label: string, input: HTMLElement) => h("label", { class: "field" }, h("span", {}, label), input);
    this.mission.append(h("legend", {}, "Mission"), h("div", { class: "fields", "data-count": 4 }, field("Goal", this.goal),
      field("Target", this.target), field("Budget, J", this.budget), field("Deadline, s", this.deadline)));
    this.startButton = h("button", { type: "submit", class: "main" }, "Start");
    const form = h("form", { method: "dialog", onsubmit: (event: Event) => { event.preventDefault(); void this.start(); } },
      h("header", {}, h("h2", { id: "start-title" }, "Start a run"), button("Close", () => this.element.close(), { icon: "cross", quiet: true })),
      field("Scenario", this.source), this.scenario,
      h("fieldset", {}, h("legend", {}, "Methods (several are compared on the same network)"), this.methods), this.mission,
      h("div", { class: "fields", "data-count": 3 }, field("Name", this.name), field("Seeds", this.seeds), field("Rounds", this.rounds)),
      h("p", { class: "hint" }, `It is recorded in ${about.new_runs_dir}.`), this.faults, h("footer", {}, button("Cancel", () => this.element.close()), this.startButton));
    setChildren(this.element, form);
    this.showMission();
  }

  private choose(example: string): void {
    this.source.value = example;
    this.source.dispatchEvent(new Event("change"));
  }

  private get chosenMethods(): string[] {
    return [...this.methods.querySelectorAll<HTMLInputElement>("input:checked")].map((box) => box.value);
  }

  private showMission(): void {
    this.mission.hidden = !this.chosenMethods.includes("mission");
  }

  /** What is typed in; null where the scenario stays as it is written. */
  private get missionSettings(): MissionSettings | null {
    const settings: MissionSettings = {};
    if (this.goal.value) settings.goal = this.goal.value;
    if (this.target.value.trim()) settings.target = this.target.value.trim();
    if (this.budget.value) settings.budget_j = Number(this.budget.value);
    if (this.deadline.value) settings.deadline_s = Number(this.deadline.value);
    return this.mission.hidden || !Object.keys(settings).length ? null : settings;
  }

  private async loadScenario(examples: Example[]): Promise<void> {
    const source = this.source.value;
    try {
      if (source === "file") pickFile(".toml,.json", (_, text) => { this.scenario.value = text; });
      else if (source === "plan") this.scenario.value = await this.plannedScenario();
      else this.scenario.value = examples.find((example) => example.name === source)?.text ?? "";
    } catch (error) {
      this.showFaults(error);
    }
  }

  private async start(): Promise<void> {
    setChildren(this.faults);
    const methods = this.chosenMethods;
    if (!methods.length) {
      this.showFaults(new ApiError([{ field: "methods", found: "none is selected", allowed: "select at least one" }], 422));
      return;
    }
    this.startButton.disabled = true;
    try {
      const job = await api.start({ name: this.name.value, scenario: this.scenario.value, methods,
        seeds: Number(this.seeds.value) || 1, rounds: this.rounds.value ? Number(this.rounds.value) : null,
        mission: this.missionSettings });
      this.element.close();
      this.onStarted(job.job);
    } catch (error) {
      this.showFaults(error);
    } finally {
      this.startButton.disabled = false;
    }
  }

  private showFaults(error: unknown): void {
    const faults = error instanceof ApiError ? error.faults : [{ field: "studio", found: String(error), allowed: "" }];
    setChildren(this.faults, ...faultList(faults, 10));
  }
}
