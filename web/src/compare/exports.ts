import { api } from "../api";
import { h } from "../dom";

/** Links that save the pictures and tables of the comparison that is shown. */
export class Exports {
  /** `query` names its runs, targets and reference. */
  constructor(private query: { run: string[]; target: string[]; reference: string }) {}

  /** Links to a figure as PNG and SVG, and to a table as CSV. */
  links(figure: string | null, table: string | null = null, more: Record<string, string> = {}): HTMLElement {
    const pictures = figure === null ? [] : (["png", "svg"] as const).map((kind) =>
      link(kind.toUpperCase(), figure, api.studyFile(kind, { ...this.query, figure, ...more }), `${figure}.${kind}`));
    return h("span", { class: "exports" }, ...pictures, table === null ? null : link("CSV", table, this.href(table), `${table}.csv`));
  }

  /** A link that says which table it saves. */
  table(table: string): HTMLElement {
    return h("a", { class: "button", href: this.href(table), download: `${table}.csv` }, `CSV of ${table}`);
  }

  href(table: string): string {
    return api.studyFile("csv", { ...this.query, table });
  }
}

const link = (text: string, about: string, href: string, download: string): HTMLElement =>
  h("a", { class: "button", href, download, "aria-label": `${text} of ${about}` }, text);
