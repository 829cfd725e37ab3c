import { h, svg } from "../dom";
import { digits } from "../format";
import type { StudySummary } from "../types";

const [LEFT, WIDTH, ROW, TOP] = [130, 900, 34, 8];

/** The energy of each method by term, as stacked bars. */
export function energyLedger(study: StudySummary): HTMLElement {
  const { methods, terms, totals } = study.ledger;
  const largest = Math.max(...totals.map((total) => total.mean), 1e-12);
  const barWidth = WIDTH - LEFT - 130;
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${TOP + ROW * methods.length}`, class: "ledger", role: "img",
    "aria-label": methods.map((m, i) => `${m}: ${digits(totals[i]!.mean, 4)} J`).join("; ") });
  methods.forEach((method, row) => {
    const y = TOP + ROW * row;
    picture.append(svg("text", { x: LEFT - 12, y: y + 17, "text-anchor": "end", class: "who" }, method));
    let x = LEFT;
    for (const [term, joules] of Object.entries(terms)) {
      const width = barWidth * joules[row]! / largest;
      picture.append(svg("rect", { x, y, width: Math.max(width - 1, 0), height: 24, class: term },
        svg("title", {}, `${method}, ${label(term)}: ${digits(joules[row]!, 4)} J`)));
      x += width;
    }
    const total = totals[row]!;
    const deviation = total.std ? ` ± ${digits(total.std, 2)}` : "";
    picture.append(svg("text", { x: x + 8, y: y + 17, class: "total" }, `${digits(total.mean, 4)}${deviation} J`));
  });
  const keys = Object.keys(terms).map((term) => h("span", { class: `key ${term}` }, h("i"), label(term)));
  return h("div", {}, picture, h("div", { class: "keys" }, ...keys));
}

const label = (term: string): string => term.replaceAll("_", " ");
