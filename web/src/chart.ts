import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { h } from "./dom";
import { digits, shortNumber, tickLabel } from "./format";
import { colour } from "./theme";

export interface Curve {
  label: string;
  colour: string;
  x: number[];
  y: (number | null)[];
  low?: (number | null)[] | null; // the band around it
  high?: (number | null)[] | null;
  dash?: number[];
  step?: boolean;
  width?: number;
  gaps?: boolean; // leave out what is missing, instead of a line across it
}

export interface ChartOptions {
  x: string;
  y: string;
  height: number;
  range?: [number, number];
  fromZero?: boolean;
  levels?: BaselineLevel[];
  rounds?: boolean;
  logX?: boolean;
  logY?: boolean;
  legend?: boolean;
  onZoom?: (range: ZoomRange | null) => void; // after a drag along x, or a double click
}

export type ZoomRange = [number, number];

type BaselineLevel = { label: string; value: number; name_at: number; target: boolean };

/** A line chart with bands, baselines, targets, and a legend that shows the values under the pointer. */
export class Chart {
  readonly element = h("div", { class: "chart" });
  private plot: uPlot | null = null;
  private drawn = ""; // everything but the data
  private marker = h("div", { class: "marker", hidden: true });
  private markedX: number | null = null;
  private zoomed: ZoomRange | null = null;

  constructor(private options: ChartOptions) {
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  private resize(): void {
    const width = this.element.clientWidth;
    if (this.plot && width) this.plot.setSize({ width, height: this.options.height });
    this.placeMarker();
  }

  show(curves: Curve[], options: Partial<ChartOptions> = {}): void {
    Object.assign(this.options, options);
    const data = alignedData(this.options.logY ? curves.map(positiveCurve) : curves);
    const drawn = JSON.stringify([curves.map((c) => [c.label, c.colour, !!c.low, c.dash, c.width, c.x.length < 2]),
      this.options, colour("ink")]);
    if (this.plot && drawn === this.drawn) {
      this.plot.setData(data);
    } else {
      this.drawn = drawn;
      this.plot?.destroy();
      this.plot = new uPlot(this.settings(curves), data, this.element);
      this.plot.over.append(this.marker);
    }
    this.applyZoom();
  }

  /** Shows a part of the x axis; null shows all of it. */
  zoom(range: ZoomRange | null): void {
    if (String(range) === String(this.zoomed)) return;
    this.zoomed = range;
    if (range) this.applyZoom();
    else if (this.plot) this.plot.setData(this.plot.data);
  }

  private applyZoom(): void {
    if (this.zoomed && this.plot) this.plot.setScale("x", { min: this.zoomed[0], max: this.zoomed[1] });
  }

  /** Marks a round with a vertical line. */
  mark(at: number | null): void {
    this.markedX = at;
    this.placeMarker();
    if (this.plot) this.showRestingValues(this.plot);
  }

  /** While there is no pointer, the legend shows the values at the mark, or else at the last x. */
  private showRestingValues(plot: uPlot, changed = false): void {
    const x = plot.data[0];
    if (!plot.legend.live || plot.cursor.idx != null || !x.length) return;
    const marked = this.markedX === null ? -1 : x.findLastIndex((value) => value <= this.markedX!);
    const index = marked < 0 ? x.length - 1 : marked;
    if (plot.legend.idxs?.[0] === index && !changed) return;
    queueMicrotask(() => plot.setLegend({ idxs: plot.data.map(() => index) }, false));
  }

  /** Places the marker by the scale that is drawn; new data change that only when they are drawn. */
  private placeMarker(plot = this.plot): void {
    const { min, max } = plot?.scales.x ?? {};
    const outside = this.markedX === null || min == null || max == null || this.markedX < min || this.markedX > max;
    if (this.marker.hidden !== outside) this.marker.hidden = outside;
    if (outside) return;
    this.marker.style.transform = `translateX(${plot!.valToPos(this.markedX!, "x").toFixed(1)}px)`;
  }

  /** Zooms to what was selected by dragging. */
  private selectRange(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width <= 0) return;
    const range: ZoomRange = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.options.onZoom?.(range);
  }

  private settings(curves: Curve[]): uPlot.Options {
    const { x, y, height, range, fromZero, levels } = this.options;
    const axis = { stroke: colour("muted"), font: "12px system-ui", ticks: { show: false },
      grid: { stroke: colour("grid"), width: 1 }, labelFont: "12px system-ui", labelSize: 16 };
    const series: uPlot.Series[] = [{ label: x, value: (_, v) => (v == null ? "–" : shortNumber(v)) }];
    const bands: uPlot.Band[] = [];
    for (const curve of curves) {
      const at = series.length;
      series.push({ label: curve.label, stroke: curve.colour, width: curve.width ?? 2, spanGaps: !curve.gaps,
        dash: curve.dash, points: { show: curve.gaps ? undefined : curve.x.length < 2, size: 5 },
        ...(curve.step ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
        value: (u, v, at, index) => legendText(v ?? (curve.gaps ? null : valueBefore(u.data[at]!, index))) });
      if (curve.low && curve.high) {
        const edge: uPlot.Series = { show: true, stroke: "transparent", width: 0, spanGaps: true,
          points: { show: false }, class: "edge",
          ...(curve.step ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}) };
        series.push({ ...edge, label: "" }, { ...edge, label: "" });
        bands.push({ series: [at + 1, at + 2], fill: `color-mix(in srgb, ${curve.colour} 16%, transparent)` });
      }
    }
    const least = fromZero ? 0 : undefined;
    return {
      width: this.element.clientWidth || 320, height, series, bands,
      scales: { x: { time: false, distr: this.options.logX ? 3 : 1 }, y: this.options.logY ? { distr: 3, range: (_, low, high) => logRange(low, high) }
        : { range: (_, low, high) => axisRange(range, low, high, least, levels) } },
      axes: [
        { ...axis, label: x, size: 26, space: 44, grid: { show: false }, incrs: this.options.rounds
          ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] : undefined,
        values: (_, ticks) => ticks.map((v) => (v === null ? "" : tickLabel(v))) },
        { ...axis, size: 48, space: 34, label: y, values: (_, ticks) => ticks.map((v) => (v == null ? "" : tickLabel(v))) },
      ],
      cursor: { y: false, points: { size: 6 }, drag: { x: !!this.options.onZoom, y: false, setScale: false, dist: 4 },
        bind: { dblclick: () => () => { this.options.onZoom?.(null); return null; } } },
      legend: { show: this.options.legend ?? true },
      hooks: { draw: [(u) => drawLevels(u, levels ?? []), (u) => this.placeMarker(u)], setCursor: [(u) => this.showRestingValues(u)], setData: [(u) => this.showRestingValues(u, true)],
        setSelect: [(u) => this.selectRange(u)] },
      padding: [8, levels?.length ? 74 : 10, 0, 0],
    };
  }
}

/** A curve's value before an x at which only other curves have a point; none where it has ended. */
function valueBefore(values: uPlot.AlignedData[number], index: number | null): number | null {
  if (index === null || values.findLastIndex((value) => value != null) < index) return null;
  return values[values.findLastIndex((value, at) => at < index && value != null)] ?? null;
}

const legendText = (value: number | null): string => (value === null ? "–" : digits(value, 4));

function axisRange(range: [number, number] | undefined, low: number, high: number, least?: number,
  levels: { value: number }[] = []): [number, number] {
  if (range) return range;
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const [from, to] = [Math.min(low, ...levels.map((l) => l.value)), Math.max(high, ...levels.map((l) => l.value))];
  const margin = 0.06 * (to - from) || Math.abs(to) * 0.05 || 1;
  return [least ?? from - margin, to + margin];
}

function logRange(low: number, high: number): [number, number] {
  if (!(low > 0) || !Number.isFinite(high)) return [0.1, 1];
  const unit = 10 ** Math.floor(Math.log10(low));
  return [unit * Math.floor(low / unit * (1 + 1e-9)), high * 1.15]; // a round number, which is labelled
}

/** A curve without what a logarithmic axis cannot show; a band ends at its least positive value. */
function positiveCurve(curve: Curve): Curve {
  const positive = (value: number | null) => (value !== null && value > 0 ? value : null);
  const values = [...curve.y, ...(curve.low ?? [])].flatMap((value) => positive(value) ?? []);
  const least = Math.min(...values);
  const raised = (value: number | null) => (value === null ? null : Math.max(value, least));
  return { ...curve, y: curve.y.map(positive), low: curve.low?.map(raised), high: curve.high?.map(raised) };
}

function drawLevels(u: uPlot, levels: BaselineLevel[]): void {
  const { ctx } = u;
  ctx.save();
  ctx.font = `${11 * devicePixelRatio}px system-ui`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  for (const level of levels) {
    ctx.strokeStyle = ctx.fillStyle = colour(level.target ? "ink" : "faint");
    ctx.lineWidth = (level.target ? 1.4 : 1) * devicePixelRatio;
    ctx.setLineDash((level.target ? [8, 4] : [2, 4]).map((length) => length * devicePixelRatio));
    const y = u.valToPos(level.value, "y", true);
    ctx.beginPath();
    ctx.moveTo(u.bbox.left, y);
    ctx.lineTo(u.bbox.left + u.bbox.width, y);
    ctx.stroke();
    ctx.fillText(level.target ? `target ${tickLabel(level.value)}` : level.label, u.bbox.left + u.bbox.width + 6 * devicePixelRatio, u.valToPos(level.name_at, "y", true));
  }
  ctx.restore();
}

/** Aligns the curves to a common x, with gaps where a curve has no value. */
function alignedData(curves: Curve[]): uPlot.AlignedData {
  if (!curves.length) return [[]];
  return uPlot.join(curves.map((curve) => {
    const rows: (number | null)[][] = [curve.y];
    if (curve.low && curve.high) rows.push(curve.high, curve.low);
    return [curve.x, ...rows] as uPlot.AlignedData;
  }));
}
