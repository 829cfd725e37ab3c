import type { Curve } from "../chart";
import { h, setText } from "../dom";
import { digits, percent } from "../format";
import { colour, onThemeChange } from "../theme";
import type { ChartChoices } from "./chart-choices";
import type { Replay } from "./replay";
import { RoundChart } from "./round-chart";

/** What a mission used, what no plan needs less than, and how good its forecasts were. */
export class MissionPanel {
  readonly element = h("section", { class: "mission", "aria-label": "Mission", hidden: true });
  private sentence = h("p", { class: "finding" });
  private error = h("p", { class: "hint" });
  private chart: RoundChart;
  private replay: Replay | null = null;

  constructor(choices: ChartChoices) {
    this.chart = new RoundChart("forecast", choices, { fromZero: true, legend: true });
    this.element.append(h("h3", {}, "Mission"), this.sentence, this.chart.element, this.error);
    onThemeChange(() => { if (this.replay) this.show(this.replay); });
  }

  show(replay: Replay): void {
    this.replay = replay;
    const rounds = replay.rounds.filter((round) => round.forecast);
    this.element.hidden = !rounds.length;
    if (!rounds.length) return;
    setText(this.sentence, missionSentence(replay));
    this.sentence.hidden = !this.sentence.textContent;
    const line = (label: string, key: "validation_loss" | "expected_loss", dash?: number[]): Curve => ({
      label, colour: colour("method0"), dash, x: rounds.map((round) => round.round + 1), y: rounds.map((round) => round.forecast![key] ?? null) });
    this.chart.show("Validation loss, measured and expected", [line("measured", "validation_loss"), line("expected", "expected_loss", [6, 4])]);
    const error = forecastError(replay);
    setText(this.error, error === null ? "" : `The loss was ${percent(error)} from the expected one, mean over rounds.`);
  }

  mark(round: number | null): void {
    this.chart.mark(round);
  }
}

/** The sentence of a mission that has ended; empty before. */
export function missionSentence(replay: Replay): string {
  const mission = replay.end?.mission;
  if (!mission) return "";
  const prices = replay.start?.scenario.prices;
  const unit = !prices || (prices.device === 1 && prices.server === 1) ? "J" : "priced J";
  const used = mission.priced_j == null ? "" : `Used ${digits(mission.priced_j, 3)} ${unit}`;
  const bound = mission.bound_j == null ? "" : `; under these gain curves no plan needs less than ${digits(mission.bound_j, 3)} ${unit}`;
  const ended = mission.ended ? `Ended because ${mission.ended}.` : "";
  return [used && `${used}${bound}.`, ended].filter(Boolean).join(" ");
}

/** The mean distance of the loss from the expected one, as a share of it. */
export function forecastError(replay: Replay): number | null {
  const errors = replay.rounds.flatMap(({ forecast }) => forecast?.expected_loss && forecast.validation_loss != null
    ? [Math.abs(forecast.validation_loss - forecast.expected_loss) / forecast.expected_loss] : []);
  return errors.length ? errors.reduce((sum, error) => sum + error, 0) / errors.length : null;
}
