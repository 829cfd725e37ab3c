import { api, Refusal } from "../api";
import { button, clear, h, pickFile } from "../dom";
import type { About } from "../types";

/** The dialog that starts a run: a scenario, methods, seeds. */
export class StartDialog {
  readonly element = h("dialog", { class: "start", "aria-labelledby": "start-title" });
  private text = h("textarea", { rows: 11, spellcheck: "false", "aria-label": "Scenario" });
  private name = h("input", { type: "text", pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*", maxlength: 60, required: true });
  private seeds = h("input", { type: "number", min: 1, max: 50, value: "1" });
  private rounds = h("input", { type: "number", min: 1, placeholder: "as written" });
  private methods = h("div", { class: "methods" });
  private faults = h("ul", { class: "problems", role: "alert" });
  private choice = h("select", { "aria-label": "Scenario to start from" });
  private go!: HTMLButtonElement;

  constructor(readonly planned: () => Promise<string>, readonly started: (job: string) => void) {}

  async open(): Promise<void> {
    if (!this.element.isConnected) {
      document.body.append(this.element);
      const [about, examples] = await Promise.all([api.about(), api.examples()]);
      this.build(about, examples.filter((example) => example.name.endsWith(".toml")));
    }
    clear(this.faults);
    this.name.value = `run-${new Date().toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "-")}`;
    this.element.showModal();
  }

  private build(about: About, examples: { name: string; text: string }[]): void {
    this.choice.append(...examples.map((example) => h("option", { value: example.name }, example.name)),
      h("option", { value: "plan" }, "the network under Plan"), h("option", { value: "file" }, "a file …"));
    this.choice.addEventListener("change", () => void this.fill(examples));
    const quick = examples.find((example) => example.name === "quick.toml") ?? examples[0];
    if (quick) {
      this.choice.value = quick.name;
      this.text.value = quick.text;
    }
    this.methods.append(...about.methods.map((method) => h("label", { title: method.about },
      h("input", { type: "checkbox", value: method.name, checked: method.name === "sc-dn" }), method.name)));
    const field = (label: string, input: HTMLElement) => h("label", { class: "field" }, h("span", {}, label), input);
    this.go = h("button", { type: "submit", class: "main" }, "Start");
    const form = h("form", { method: "dialog", onsubmit: (event: Event) => { event.preventDefault(); void this.start(); } },
      h("header", {}, h("h2", { id: "start-title" }, "Start a run"), button("Close", () => this.element.close(), { icon: "cross", quiet: true })),
      field("Scenario", this.choice), this.text,
      h("fieldset", {}, h("legend", {}, "Methods; several are compared on the same network"), this.methods),
      h("div", { class: "fields", "data-count": 3 }, field("Name", this.name), field("Seeds", this.seeds), field("Rounds", this.rounds)),
      this.faults, h("footer", {}, button("Cancel", () => this.element.close()), this.go));
    clear(this.element, form);
  }

  private async fill(examples: { name: string; text: string }[]): Promise<void> {
    const wanted = this.choice.value;
    try {
      if (wanted === "file") pickFile(".toml,.json", (_, text) => { this.text.value = text; });
      else if (wanted === "plan") this.text.value = await this.planned();
      else this.text.value = examples.find((example) => example.name === wanted)?.text ?? "";
    } catch (error) {
      this.show(error);
    }
  }

  private async start(): Promise<void> {
    clear(this.faults);
    const methods = [...this.methods.querySelectorAll<HTMLInputElement>("input:checked")].map((box) => box.value);
    if (!methods.length) {
      this.show(new Refusal([{ field: "methods", found: "none is chosen", allowed: "choose at least one" }], 422));
      return;
    }
    this.go.disabled = true;
    try {
      const job = await api.start({ name: this.name.value, scenario: this.text.value, methods,
        seeds: Number(this.seeds.value) || 1, rounds: this.rounds.value ? Number(this.rounds.value) : null });
      this.element.close();
      this.started(job.job);
    } catch (error) {
      this.show(error);
    } finally {
      this.go.disabled = false;
    }
  }

  private show(error: unknown): void {
    const faults = error instanceof Refusal ? error.faults : [{ field: "studio", found: String(error), allowed: "" }];
    clear(this.faults, ...faults.slice(0, 10).map((fault) => h("li", {}, h("code", {}, fault.field), ` ${fault.found}; ${fault.allowed}`)));
  }
}
