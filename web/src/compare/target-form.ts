import { h, setText } from "../dom";
import { plural } from "../format";
import type { Fault, StudySummary } from "../types";

const MESSAGE = "target-message";

/** Asks what it cost to reach a target. It stays in the page, so that the focus does, while the results are drawn anew. */
export class TargetForm {
  readonly element: HTMLFormElement;
  private input = h("input", { type: "text", id: "target", placeholder: "top3=95", maxlength: 400, size: 18, autocomplete: "off",
    spellcheck: "false", autocapitalize: "off", "aria-describedby": MESSAGE });
  private message = h("p", { id: MESSAGE, role: "status" });

  /** `ask` gets the targets in the field; none means those of the runs' own scenarios. */
  constructor(ask: (targets: string[]) => void) {
    this.element = h("form", { class: "bar top ask", hidden: true, "aria-label": "Target", onsubmit: (event: Event) => {
      event.preventDefault();
      ask(this.targets());
    } }, h("label", { for: "target" }, "Cost to reach"), this.input,
    h("button", { type: "submit", title: "Show the joules and seconds that it took to reach the target" }, "Show"), this.message);
  }

  /** Shows the targets of a study, and how many runs reached them. */
  show(study: StudySummary): void {
    this.input.value = study.targets.join(", ");
    const reached = study.targets.map((target, at) => {
      const count = study.runs.filter((run) => run.targets[at]!.reached).length;
      return `${target} is reached in ${count} of ${plural(study.runs.length, "run")}`;
    });
    this.say(reached.join("; ") || "A metric and its value, such as top3=95; several with commas.", false);
    this.element.hidden = false;
  }

  /** Says why targets were refused. */
  refuse(faults: Fault[], targets: string[]): void {
    if (this.targets().join() !== targets.join()) this.input.value = targets.join(", ");
    this.say(faults.map((fault) => `${fault.found}; ${fault.allowed}`).join("\n"), true);
    this.input.focus();
  }

  hide(): void {
    this.element.hidden = true;
  }

  private targets(): string[] {
    return this.input.value.split(",").map((text) => text.trim()).filter(Boolean);
  }

  private say(text: string, wrong: boolean): void {
    setText(this.message, text);
    this.element.classList.toggle("wrong", wrong);
    this.input.setAttribute("aria-invalid", String(wrong));
  }
}
