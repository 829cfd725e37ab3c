import { readAddress } from "../address";
import { api, ApiError } from "../api";
import { button, download, faultList, h, pickFile, setChildren, setText, toast } from "../dom";
import { plural } from "../format";
import type { Example } from "../types";
import { keepDraft, restoreDraft } from "./draft";
import { isEdit } from "./plan-model";
import type { PlanModel } from "./plan-model";

const MAX_FAULTS = 12;

/** Opens and saves networks: examples, plan requests, scenarios, and the equivalent command. */
export class FilePanel {
  readonly element: HTMLElement;
  readonly faults = h("div", { class: "faults", role: "alert", hidden: true });
  private fileName = h("span", { class: "file" });
  private round = h("label", { class: "row", hidden: true });
  private examples = h("select", { "aria-label": "Examples" }, h("option", { value: "" }, "Examples …"));
  private known: Example[] = [];
  private deviceCount = h("span", {});
  private undo = button("Undo", () => this.model.undo(), { icon: "undo", quiet: true, class: "step", title: "Undo (Ctrl+Z)" });
  private redo = button("Redo", () => this.model.redo(), { icon: "redo", quiet: true, class: "step", title: "Redo (Ctrl+Shift+Z)" });

  constructor(readonly model: PlanModel) {
    this.element = h("section", { class: "files" },
      h("div", { class: "row" }, h("h2", {}, "Network"), this.fileName, this.undo, this.redo),
      h("div", { class: "buttons" }, this.examples,
        button("Load", () => pickFile(".json,.toml,.csv", (name, text) => void this.open(name, text)), { icon: "open", title: "Load a plan request, a scenario or a CSV of devices" })),
      this.round,
      h("div", { class: "buttons three" },
        button("Request", () => this.saveRequest(), { icon: "save", title: "Save as a plan request" }),
        button("Scenario", () => void this.saveScenario(), { icon: "save", title: "Save as a scenario" }),
        button("Command", () => void this.copyCommand(), { icon: "copy", title: "Copy as a scdn plan command" })),
      h("div", { class: "buttons" }, button("Add a device", () => model.addDevice(), { icon: "plus" }), this.deviceCount));
    model.onChange((change) => {
      if (!isEdit(change)) return;
      setText(this.deviceCount, plural(model.request.devices.length, "device"));
      this.undo.disabled = !model.history.canUndo;
      this.redo.disabled = !model.history.canRedo;
      if (change === "network") this.showSource();
    });
  }

  /** Lists the examples, and opens the network that the address names, that of the last visit, or the first example. */
  async start(): Promise<void> {
    this.known = await api.examples();
    for (const { name } of this.known) this.examples.append(h("option", { value: name }, name));
    this.examples.addEventListener("change", () => {
      if (this.examples.value) void this.openExample(this.examples.value);
      this.examples.value = "";
    });
    const { view, parameters } = readAddress();
    const named = view === "plan" ? parameters.get("network") : null;
    const restored = await restoreDraft(this.model);
    if (named && this.known.some(({ name }) => name === named)) {
      await this.openExample(named, Number(parameters.get("round") ?? 0), true); // undoing it shows the draft
    } else if (restored) toast("The network of your last visit. Examples start anew.");
    else await this.openExample("request.json", 0, true);
    keepDraft(this.model);
  }

  /** Opens an example unless it is there unchanged. */
  async openExample(name: string, round = 0, quiet = false): Promise<void> {
    const example = this.known.find((known) => known.name === name);
    const { source } = this.model;
    if (!example) toast(`There is no example called ${name}.`, "fault");
    else if (!quiet || source.example !== name || source.round !== round) await this.open(name, example.text, round, { example: name, quiet });
  }

  /** Opens files that are dropped onto an element. */
  acceptDrops(element: HTMLElement): void {
    element.addEventListener("dragover", (event) => {
      event.preventDefault();
      element.classList.add("dropping");
    });
    element.addEventListener("dragleave", () => element.classList.remove("dropping"));
    element.addEventListener("drop", async (event) => {
      event.preventDefault();
      element.classList.remove("dropping");
      const file = event.dataTransfer?.files[0];
      if (file) await this.open(file.name, await file.text());
    });
  }

  async open(name: string, text: string, round = 0, { example = null, quiet = false }: { example?: string | null; quiet?: boolean } = {}): Promise<void> {
    try {
      const file = name.toLowerCase().endsWith(".csv")
        ? { ...this.model.source, ...(await api.devices(name, text, this.model.request)), warnings: [] }
        : await api.open(name, text, round);
      setChildren(this.faults);
      this.faults.hidden = true;
      this.model.load(file.request, { ...file, example });
      for (const warning of file.warnings.slice(0, 3)) toast(warning);
      if (round === 0 && !quiet) toast(`${name}: ${plural(file.request.devices.length, "device")}`);
    } catch (error) {
      if (error instanceof ApiError) this.showFaults(name, error);
    }
  }

  /** Shows the name of the network's file, and a scenario's round. */
  private showSource(): void {
    const file = this.model.source;
    setText(this.fileName, file.kind === "scenario" ? `${file.name}, round ${file.round}` : file.name);
    this.round.hidden = file.kind === "request";
    if (file.kind === "scenario") {
      const field = h("input", { type: "number", min: 0, max: file.rounds, value: String(file.round),
        "aria-label": "Round", onchange: () => void this.open(`${file.name}.toml`, file.scenario!, Number(field.value), { example: file.example }) });
      setChildren(this.round, h("span", {}, `Round of ${file.rounds}`), field);
    }
  }

  /** Shows every fault of a file with its field, until another file is opened or the list closed. */
  private showFaults(name: string, error: ApiError): void {
    const more = error.faults.length - MAX_FAULTS;
    const lines = faultList(error.faults, MAX_FAULTS);
    if (more > 0) lines.push(h("li", {}, `and ${more} more.`));
    this.showList(`${name} was not loaded`, lines, "The network below is unchanged.", "");
  }

  private showList(title: string, lines: HTMLElement[], hint: string, kind: string): void {
    setChildren(this.faults, h("header", {}, h("strong", {}, title),
      button("Close", () => { this.faults.hidden = true; }, { icon: "cross", quiet: true })),
    h("ul", {}, ...lines), h("p", { class: "hint" }, hint));
    this.faults.className = `faults ${kind}`.trim();
    this.faults.hidden = false;
  }

  private saveRequest(): void {
    download(`${this.model.name}.json`, JSON.stringify(this.model.request, null, 2), "application/json");
  }

  /** The network as a scenario, for a run; says what a scenario does not keep. */
  async scenarioText(): Promise<string> {
    const { text, lost } = await api.scenario(this.model.request, this.model.source.scenario, this.model.name);
    if (lost.length) toast(`A scenario does not keep:\n${lost.join("\n")}`);
    return text;
  }

  private async saveScenario(): Promise<void> {
    try {
      const { text, lost } = await api.scenario(this.model.request, this.model.source.scenario, this.model.name);
      download(`${this.model.name}.toml`, text, "application/toml");
      if (lost.length) this.showList(`${this.model.name}.toml was saved; a scenario does not keep`, lost.map((line) => h("li", {}, line)),
        "Save a plan request to keep everything.", "note");
    } catch (error) {
      if (error instanceof ApiError) toast(error.message, "fault");
    }
  }

  private async copyCommand(): Promise<void> {
    const command = `scdn plan - <<'REQUEST'\n${JSON.stringify(this.model.request, null, 1)}\nREQUEST\n`;
    try {
      await navigator.clipboard.writeText(command);
      toast("Copied: paste it into a terminal");
    } catch {
      download("plan.sh", command, "text/x-shellscript");
      toast("The clipboard is not available: saved as plan.sh");
    }
  }
}
