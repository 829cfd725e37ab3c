import { h } from "../dom";
import { refusal } from "./number-rules";
import type { NumberRule } from "./number-rules";

/** A number field that refuses what its rule does not accept, keeps the old value, and says why. */
export class NumberField {
  readonly input: HTMLInputElement;
  readonly message = h("p", { class: "refusal", role: "alert", hidden: true });

  constructor(readonly label: string, readonly rule: NumberRule, readonly current: () => number,
    readonly set: (value: number) => void, options: { attributes?: Record<string, unknown>; step?: number; whileTyping?: boolean } = {}) {
    this.input = h("input", { type: "number", step: "any", "aria-label": label, value: shownNumber(current()),
      onchange: () => this.accept(), oninput: () => { if (options.whileTyping) this.acceptSilently(); },
      onkeydown: (event: KeyboardEvent) => this.key(event, options.step), ...options.attributes });
  }

  /** Shows a value that was set elsewhere. */
  show(value: number): void {
    this.clear();
    if (document.activeElement !== this.input) this.input.value = shownNumber(value);
  }

  private accept(): void {
    const text = this.input.value;
    const fault = refusal(this.label.replace(/, number$/, ""), text, this.rule);
    if (fault === null) {
      this.clear();
      this.set(Number(text));
      return;
    }
    this.input.value = shownNumber(this.current());
    this.message.textContent = fault;
    this.message.hidden = false;
  }

  private acceptSilently(): void {
    if (refusal(this.label, this.input.value, this.rule) === null) this.set(Number(this.input.value));
  }

  private key(event: KeyboardEvent, step: number | undefined): void {
    const sign = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!sign || !step) return;
    event.preventDefault();
    this.input.value = shownNumber(Number(this.input.value) + sign * step);
    this.accept();
  }

  private clear(): void {
    this.message.hidden = true;
  }
}

const shownNumber = (value: number): string => String(Number(value.toPrecision(6)));
