import { svg } from "../dom";

interface Label { text: string; x: number; y: number }
export interface Box { left: number; top: number; right: number; bottom: number }

const [CHARACTER, HEIGHT, AWAY] = [6.6, 14, 13]; // pixels: the width of a character, a line, and the distance to the point

/** Names beside the points, on a side where they overlap nothing; a name without such a side is left to the legend. */
export function placeLabels(labels: Label[], width: number, height: number, reserved: Box[]): SVGElement[] {
  const taken: Box[] = [...reserved, ...labels.map(({ x, y }) => ({ left: x - 10, right: x + 10, top: y - 10, bottom: y + 10 }))];
  const placed: SVGElement[] = [];
  labels.forEach(({ text, x, y }) => {
    const long = CHARACTER * text.length;
    const sides: [number, number][] = [[x + AWAY, y - HEIGHT / 2], [x - AWAY - long, y - HEIGHT / 2], [x - long / 2, y - AWAY - HEIGHT], [x - long / 2, y + AWAY]];
    for (const [left, top] of sides) {
      const box = { left, top, right: left + long, bottom: top + HEIGHT };
      if (left < 54 || box.right > width - 4 || top < 22 || box.bottom > height - 44 || taken.some((other) => overlap(box, other))) continue;
      taken.push(box);
      placed.push(svg("text", { class: "name", x: left.toFixed(1), y: (top + 11).toFixed(1), "aria-hidden": "true" }, text));
      return;
    }
  });
  return placed;
}

const overlap = (a: Box, b: Box): boolean => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
