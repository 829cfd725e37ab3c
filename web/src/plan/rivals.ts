import { api, Refusal } from "../api";
import { clear, h } from "../dom";
import { digits, seconds } from "../format";
import type { Answer, Point } from "../types";
import type { Model } from "./model";
import { countOf } from "./table";

const RIVALS: [string, string, string][] = [
  ["paper", "Algorithm 3", "The paper's own algorithm, and below it what is left of its plan once it is made to hold"],
  ["gsp", "GSP", "The server where the mean delay is least, everything else at its maximum"],
  ["greedy", "Max VFL", "Everything at its maximum, the server stays"],
];
const AFTER_MS = 500;

/** The same network planned by others, evaluated under the true model. */
export class Rivals {
  readonly element = h("section", { class: "rivals", "aria-label": "Compare with" });
  places: { label: string; at: Point }[] = [];
  private on = false;
  private body = h("tbody");
  private timer = 0;
  private turn = 0;
  private found = new Map<string, Answer | string>();

  constructor(readonly model: Model, readonly changed: () => void) {
    const toggle = h("input", { type: "checkbox", role: "switch", "aria-label": "Compare with rivals",
      onchange: () => this.switch(toggle.checked) });
    const heads = ["Method", "Objective", "Active", "Holds"].map((name) => h("th", { scope: "col" }, name));
    this.element.append(h("label", { class: "row switch" }, h("h3", {}, "Compare with"), toggle),
      h("div", { class: "scroll" }, h("table", { class: "compare" }, h("thead", {}, h("tr", {}, ...heads)), this.body)));
    this.element.classList.add("closed");
  }

  private switch(on: boolean): void {
    this.on = on;
    this.element.classList.toggle("closed", !on);
    if (on) void this.ask();
    else {
      this.places = [];
      this.changed();
    }
  }

  /** The network has changed: what is shown is of the one before, until all have answered again. */
  later(): void {
    if (!this.on) return;
    this.body.classList.add("old");
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.ask(), AFTER_MS);
  }

  private async ask(): Promise<void> {
    const [turn, text] = [++this.turn, this.model.json()];
    this.found.clear();
    this.show();
    const quickFirst = [...RIVALS].reverse();
    await Promise.all(quickFirst.map(async ([solver]) => {
      let answer: Answer | string;
      try {
        answer = await api.plan(text, solver, 1e-4, 10);
      } catch (error) {
        answer = error instanceof Refusal ? error.message : String(error);
      }
      if (turn !== this.turn) return;
      this.found.set(solver, answer);
      this.show();
    }));
    if (turn === this.turn) this.body.classList.remove("old");
  }

  show(): void {
    const best = this.model.answer;
    const rows = [best ? row("SC-DN, exact", best, best.objective, "ours") : null];
    this.places = [];
    for (const [solver, label, about] of RIVALS) {
      const answer = this.found.get(solver);
      if (answer === undefined) {
        rows.push(h("tr", { class: "waiting", title: about }, h("th", { scope: "row" }, label),
          h("td", { colspan: 3 }, solver === "paper" ? "solving; this takes seconds …" : "solving …")));
      } else if (typeof answer === "string") {
        rows.push(h("tr", { title: about }, h("th", { scope: "row" }, label), h("td", { colspan: 3, class: "broken" }, answer)));
      } else {
        rows.push(row(label, answer, best?.objective, "", about));
        this.places.push({ label, at: answer.server.position_m });
        if (answer.repaired) rows.push(row("… repaired", answer.repaired, best?.objective, "", about));
      }
    }
    clear(this.body, ...rows);
    this.changed();
  }
}

function row(label: string, answer: Answer, best: number | undefined, kind: string, about = ""): HTMLElement {
  const broken = answer.violations;
  const times = best && best > 0 ? answer.objective / best : 1;
  const limits = broken.map((v) => `${v.device ?? "server"}: ${v.constraint} is ${digits(v.value)}, limit ${digits(v.limit)}`);
  return h("tr", { class: kind, title: about },
    h("th", { scope: "row" }, label, label.startsWith("…") ? null : h("small", {}, seconds(answer.solve_seconds))),
    h("td", {}, digits(answer.objective, 4), times > 1.0005 ? h("small", {}, `${digits(times, 3)} × ours`) : null),
    h("td", {}, countOf(answer.devices).replace(/ devices?/, "")),
    h("td", { class: broken.length ? "broken" : "holds", title: limits.join("\n") },
      broken.length ? "no" : "yes", broken.length ? h("small", {}, `${broken.length} broken`) : null));
}
