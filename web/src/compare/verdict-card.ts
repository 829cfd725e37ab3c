import { h } from "../dom";
import { digits } from "../format";
import type { Verdict } from "../types";

const CERTAINTY: Record<string, string> = { decided: "decided by the exact test", nobody: "no choice", "one method": "one method" };

/** Which method to choose, the numbers behind it, and when it would not be the choice. */
export function verdictCard(verdict: Verdict): HTMLElement {
  const question = verdict.target ? `Which method to reach ${verdict.target}?` : "Which method ends with the best score?";
  const title = verdict.setting ? `${verdict.setting}: ${question[0]!.toLowerCase()}${question.slice(1)}` : question;
  const numbers = facts(verdict);
  return h("section", { class: `card method-verdict ${verdict.certainty === "decided" ? "decided" : "open"}`, "aria-label": title },
    h("div", { class: "verdict-top" }, h("h3", {}, title),
      h("span", { class: "certainty" }, CERTAINTY[verdict.certainty] ?? verdict.certainty)),
    h("p", { class: "verdict-headline" }, verdict.headline),
    numbers.length ? h("dl", { class: "verdict-facts" }, ...numbers.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))) : null,
    verdict.evidence.length ? h("p", {}, verdict.evidence.join(" ")) : null,
    verdict.reservations.length ? h("h4", {}, verdict.choice ? "When it would not be the choice" : "What else is known") : null,
    verdict.reservations.length ? h("ul", {}, ...verdict.reservations.map((text) => h("li", {}, text))) : null);
}

/** The numbers of the choice, each with its name and unit. */
function facts(verdict: Verdict): [string, string][] {
  if (verdict.choice === null) return [];
  const where = verdict.target ? "to the target" : "of a run";
  const known: [string, string | null][] = [
    ["Method", verdict.choice],
    [`Energy ${where}`, verdict.joules === null ? null : `${digits(verdict.joules, 3)} J`],
    [`Time ${where}`, verdict.seconds === null ? null : `${digits(verdict.seconds, 3)} s`],
    ["Seeds that reached it", verdict.reached === null ? null : `${verdict.reached} of ${verdict.seeds}`],
    [`Energy of ${verdict.next_best}, the next best`, verdict.factor === null ? null : verdict.factor < 1.005 ? "about as much" : `${digits(verdict.factor, 2)} times as much`],
  ];
  return known.filter((fact): fact is [string, string] => fact[1] !== null);
}
