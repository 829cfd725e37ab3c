import { api, ApiError } from "../api";
import { button, faultList, h, setChildren, toast } from "../dom";
import { plural } from "../format";
import type { RunInfo, RunList, SettingsDiff } from "../types";

const MAX_NOTE = 4000; // as in studio/settings.py

/** What is kept about a run: a note, the settings in which it differs from another run, and how to delete it. */
export class AboutDialog {
  private element = h("dialog", { class: "about-run", "aria-labelledby": "about-run-title" });
  private title = h("h2", { id: "about-run-title" });
  private note = h("textarea", { rows: 4, maxlength: MAX_NOTE, placeholder: "What was tried, and what came of it" });
  private other = h("select", { onchange: () => this.hooks.compareWith(this.other.value || null) });
  private diff = h("div", { class: "settings-diff", role: "status" });
  private deletion = h("div", { class: "deletion" });
  private faults = h("ul", { class: "problems", role: "alert" });
  private run: RunInfo | null = null;
  private list: RunList | null = null;

  constructor(private hooks: { compareWith: (run: string | null) => void; changed: () => void; closed: () => void }) {
    const field = (label: string, input: HTMLElement) => h("label", { class: "field" }, h("span", {}, label), input);
    const save = h("button", { type: "submit", class: "main" }, "Save the note");
    this.element.append(h("form", { method: "dialog", onsubmit: (event: Event) => { event.preventDefault(); void this.save(); } },
      h("header", {}, this.title, button("Close", () => this.element.close(), { icon: "cross", quiet: true })),
      field("Note", this.note), h("footer", {}, save),
      field("Settings that differ from those of", this.other), this.diff, this.faults, this.deletion));
    this.element.addEventListener("close", () => hooks.closed());
  }

  get isOpen(): boolean {
    return this.element.open;
  }

  open(run: RunInfo, list: RunList, other: string | null): void {
    if (!this.element.isConnected) document.body.append(this.element);
    const changed = this.run?.run !== run.run || !this.isOpen;
    [this.run, this.list] = [run, list];
    if (changed) {
      this.title.textContent = `${run.name}: ${run.method}, seed ${run.seed}`;
      this.note.value = run.note;
      setChildren(this.faults);
      setChildren(this.other, h("option", { value: "" }, "choose a run"), ...list.runs.filter((one) => !one.fault && one.run !== run.run)
        .map((one) => h("option", { value: one.run }, one.run === one.study ? `${one.run}: ${one.method}, seed ${one.seed}` : one.run)));
      this.offerDeletion();
    }
    this.other.value = other ?? "";
    if (!this.isOpen) this.element.showModal();
    void this.showDiff(run.run, other);
  }

  close(): void {
    if (this.isOpen) this.element.close();
  }

  private async save(): Promise<void> {
    await this.attempt(async () => {
      await api.saveNote(this.run!.run, this.note.value);
      toast("The note is saved");
      this.hooks.changed();
    });
  }

  private async showDiff(run: string, other: string | null): Promise<void> {
    setChildren(this.diff);
    if (!other) return;
    await this.attempt(async () => {
      const diff = await api.settingsDiff(run, other);
      if (this.other.value === other) setChildren(this.diff, ...diffTable(diff));
    });
  }

  /** A run of a study is deleted with the whole study, since its methods are compared over the same seeds. */
  private offerDeletion(): void {
    const run = this.run!;
    const together = this.list!.runs.filter((one) => one.study === run.study);
    const whole = together.length > 1;
    const label = whole ? `Delete the study ${run.study} (${plural(together.length, "run")})` : "Delete this run";
    setChildren(this.deletion, button(`${label} …`, () => this.ask(whole ? run.study : run.run, label), { class: "danger" }),
      whole ? h("p", { class: "hint" }, "A study is deleted as a whole.") : null);
  }

  private ask(name: string, label: string): void {
    const keep = button("Keep it", () => this.offerDeletion());
    setChildren(this.deletion, h("p", {}, `This removes the folder ${this.list!.runs_dir}/${name} with everything in it. It cannot be undone.`),
      h("div", { class: "buttons" }, keep, button(label, () => void this.remove(name), { class: "danger" })));
    keep.focus();
  }

  private async remove(name: string): Promise<void> {
    await this.attempt(async () => {
      const { deleted } = await api.deleteRun(name);
      toast(`${plural(deleted.length, "run")} deleted`);
      this.element.close();
      this.hooks.changed();
    });
  }

  private async attempt(step: () => Promise<void>): Promise<void> {
    setChildren(this.faults);
    try {
      await step();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setChildren(this.faults, ...faultList(error.faults, 10));
      this.offerDeletion();
    }
  }
}

function diffTable({ differences, left_out }: SettingsDiff): (HTMLElement | null)[] {
  if (!differences.length) return [h("p", {}, "All settings are the same.")];
  const cell = (value: string | null) => h("td", {}, value === null ? "not set" : value);
  return [h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ...["Setting", "This run", "The other"].map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, ...differences.map(({ setting, first, second }) => h("tr", {}, h("th", { scope: "row" }, setting), cell(first), cell(second)))))),
  left_out ? h("p", { class: "hint" }, `and ${left_out} more.`) : null];
}
