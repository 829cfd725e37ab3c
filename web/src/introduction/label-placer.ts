import { svg } from "../dom";

interface Rectangle {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

type Anchor = "start" | "middle" | "end";

interface Place extends Rectangle {
  anchor: Anchor; // to which side of it the text is set
}

interface Label {
  x: number;
  y: number;
  gap: number;
  lines: string[];
  kind: string;
}

const WIDTH_PER_LETTER = 0.61; // of the font's size
const LINE = 1.2;

/** Places labels beside their points so that they cover neither points nor each other, as far as that goes. */
export class LabelPlacer {
  private labels: Label[] = [];
  private taken: Rectangle[] = [];

  constructor(private size: number, private font: number) {}

  /** Keeps a circle free. */
  avoid(x: number, y: number, radius: number): void {
    this.taken.push({ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius });
  }

  /** Keeps a line free, as far as that goes. */
  avoidLine([x1, y1]: [number, number], [x2, y2]: [number, number]): void {
    const steps = Math.ceil(Math.hypot(x2 - x1, y2 - y1) / 12);
    for (let step = 1; step < steps; step++) this.avoid(x1 + (x2 - x1) * step / steps, y1 + (y2 - y1) * step / steps, 4);
  }

  /** Adds a label at a distance from a point; its first line is the name. */
  add(x: number, y: number, gap: number, lines: string[], kind: string): void {
    this.labels.push({ x, y, gap, lines, kind });
  }

  draw(): SVGElement[] {
    return this.labels.map((label) => this.drawOne(label));
  }

  private drawOne(label: Label): SVGElement {
    const box = this.place(label);
    this.taken.push(box);
    const x = { start: box.left, middle: (box.left + box.right) / 2, end: box.right }[box.anchor];
    return svg("text", { class: `map-label ${label.kind}`, "font-size": this.font, "text-anchor": box.anchor },
      ...label.lines.map((line, index) => svg("tspan", { class: index ? "label-note" : "label-name", x,
        y: box.top + this.font * (0.95 + LINE * index) }, line)));
  }

  private place(label: Label): Place {
    const candidates = this.candidates(label);
    const costs = candidates.map((box, index) => index + 40 * this.outside(box) +
      this.taken.reduce((sum, other) => sum + overlap(box, other), 0));
    return candidates[costs.indexOf(Math.min(...costs))]!;
  }

  private candidates({ x, y, gap, lines }: Label): Place[] {
    const width = Math.max(...lines.map((line) => line.length)) * this.font * WIDTH_PER_LETTER;
    const height = lines.length * this.font * LINE;
    const around = (dx: number, dy: number): Place => {
      const centre = x + dx * (gap + width / 2);
      const level = y + dy * (gap + height / 2);
      const anchor = dx > 0 ? "start" : dx < 0 ? "end" : "middle";
      return { anchor, left: centre - width / 2, right: centre + width / 2, top: level - height / 2, bottom: level + height / 2 };
    };
    if (!gap) return [around(0, 0)];
    return [[1, 0], [-1, 0], [0, -1], [0, 1], [0.8, 0.8], [0.8, -0.8], [-0.8, 0.8], [-0.8, -0.8]].map(([dx, dy]) => around(dx!, dy!));
  }

  private outside({ left, right, top, bottom }: Rectangle): number {
    const beyond = (value: number) => Math.max(0, value);
    return beyond(4 - left) + beyond(right - this.size + 4) + beyond(4 - top) + beyond(bottom - this.size + 4);
  }
}

const overlap = (one: Rectangle, other: Rectangle): number =>
  Math.max(0, Math.min(one.right, other.right) - Math.max(one.left, other.left)) *
  Math.max(0, Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top));
