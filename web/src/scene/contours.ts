import type { ObjectiveSurface } from "../types";

/** A line of equal objective: pairs of points as parts of the map's sides, x and y in turn. */
export interface Contour {
  value: number;
  segments: number[];
}

/** Lines along which a surface has a value, by marching squares; cells with a forbidden corner have none. */
export function contour({ objective }: ObjectiveSurface, value: number): Contour {
  const [rows, columns] = [objective.length - 1, objective[0]!.length - 1];
  const segments: number[] = [];
  for (let row = 0; row < rows; row++) {
    const [lower, upper] = [objective[row]!, objective[row + 1]!];
    for (let column = 0; column < columns; column++) {
      const corners = [lower[column]!, lower[column + 1]!, upper[column + 1]!, upper[column]!];
      if (corners.some((corner) => corner === null)) continue;
      const above = corners.map((corner) => corner! > value);
      if (above.every((side) => side === above[0])) continue;
      const crossings: number[] = [];
      for (let edge = 0; edge < 4; edge++) {
        const next = (edge + 1) % 4;
        if (above[edge] === above[next]) continue;
        const part = (value - corners[edge]!) / (corners[next]! - corners[edge]!);
        const [[x0, y0], [x1, y1]] = [CORNERS[edge]!, CORNERS[next]!];
        crossings.push((column + x0 + part * (x1 - x0)) / columns, (row + y0 + part * (y1 - y0)) / rows);
      }
      segments.push(...crossings); // two crossings, or four at a saddle
    }
  }
  return { value, segments };
}

const CORNERS: [number, number][] = [[0, 0], [1, 0], [1, 1], [0, 1]];

/** Where a contour's number is written: at its point that is furthest to the right, which rarely hides the optimum. */
export function labelPoint({ segments }: Contour): [number, number] {
  let best = 0;
  for (let index = 2; index < segments.length; index += 2) if (segments[index]! > segments[best]!) best = index;
  return [segments[best]!, segments[best + 1]!];
}
