import { h, setChildren, svg } from "../dom";

export interface ScoreLine {
  kind: string;
  values: (number | null)[];
  name: string;
  nameAt: [number, number]; // round from 0, and score
  anchor?: "start" | "middle" | "end";
}

export interface ScoreChartOptions {
  about: string;
  low: number;
  high: number;
  step: number; // between grid lines
  lines: ScoreLine[];
  marks: { round: number; text: string; strong: boolean }[]; // rounds in which devices leave
}

const LITTLE_ROOM = 480; // px
const [LEFT, RIGHT, TOP, BOTTOM] = [46, 12, 30, 40];

/** Scores over rounds, with the lines named where they are. */
export class ScoreChart {
  readonly element = h("div", { class: "score-chart" });

  constructor(private options: ScoreChartOptions) {
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  private draw(): void {
    const [width, height] = [this.element.clientWidth, this.element.clientHeight];
    if (width < 50) return;
    const { about, low, high, step, lines, marks } = this.options;
    const rounds = Math.max(...lines.map((line) => line.values.length));
    const x = (round: number) => LEFT + (width - LEFT - RIGHT) * round / (rounds - 1);
    const y = (score: number) => height - BOTTOM - (height - TOP - BOTTOM) * (score - low) / (high - low);
    const parts: SVGElement[] = [];
    for (let score = low; score <= high; score += step) {
      parts.push(svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(score), y2: y(score) }),
        svg("text", { class: "tick", x: LEFT - 8, y: y(score) + 5, "text-anchor": "end" }, `${score} %`));
    }
    for (const round of [0, 9, 19, 29].filter((at) => at < rounds)) {
      parts.push(svg("text", { class: "tick", x: x(round), y: height - BOTTOM + 20, "text-anchor": "middle" }, round ? String(round + 1) : "round 1"));
    }
    for (const { round, text, strong } of marks) {
      parts.push(svg("line", { class: strong ? "mark strong" : "mark", x1: x(round), x2: x(round), y1: TOP - 6, y2: height - BOTTOM }),
        svg("text", { class: strong ? "mark-text strong" : "mark-text", x: x(round), y: TOP - 12, "text-anchor": "middle" }, text));
    }
    parts.push(svg("text", { class: "mark-text", x: 0, y: TOP - 12 }, width < LITTLE_ROOM ? "leave:" : "devices that leave:"));
    for (const line of lines) {
      const points = line.values.flatMap((value, round) => (value === null ? [] : [`${x(round).toFixed(1)},${y(value).toFixed(1)}`]));
      parts.push(svg("polyline", { class: `line ${line.kind}`, points: points.join(" ") }));
    }
    for (const { kind, name, nameAt: [round, score], anchor = "start" } of lines) {
      parts.push(svg("text", { class: `line-name ${kind}`, x: x(round), y: y(score), "text-anchor": anchor }, name));
    }
    setChildren(this.element, svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": about }, ...parts));
  }
}
