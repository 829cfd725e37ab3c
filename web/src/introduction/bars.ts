import { h } from "../dom";

export interface BarRow {
  label: string;
  note?: string;
  parts: { value: number; kind: string }[]; // from left to right
  text: string;
  detail?: string; // below the text
  best?: boolean;
}

/** Horizontal bars with their values as text. */
export function bars(label: string, rows: BarRow[]): HTMLElement {
  const totals = rows.map((row) => row.parts.reduce((sum, part) => sum + part.value, 0));
  const most = Math.max(...totals);
  return h("ul", { class: "bars", "aria-label": label }, ...rows.map((row) => h("li", { class: row.best ? "best" : "" },
    h("span", { class: "bar-label" }, row.label, row.note ? h("small", {}, row.note) : null),
    h("span", { class: "bar-track", "aria-hidden": "true" }, ...row.parts.map((part) => bar(part.kind, part.value / most))),
    h("span", { class: "bar-text" }, row.text, row.detail ? h("small", {}, row.detail) : null))));
}

function bar(kind: string, share: number): HTMLElement {
  const element = h("i", { class: kind });
  element.style.width = `${100 * share}%`;
  return element;
}
