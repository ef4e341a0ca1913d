// A plot of marks of any kinds, over time or over another quantity. It knows its data and its width, and nothing of the page.

import uPlot from "uplot";
import { crosshair, gutters, horizontal, isNarrow, join, label, noAxis, SECONDS, vertical, zoomToSelection } from "./axes";
import { element } from "./dom";
import { drawLabels, heightOf } from "./lanes";
import { drawAcross, drawChanges, drawReferences } from "./levels";
import { appended, draw, extent, groupOf, together } from "./marks";
import { valueAt } from "./marks/line";
import { nearest } from "./marks/points";
import { stateAt } from "./marks/states";
import { countIn } from "./marks/ticks";
import type { Mark, Panel, Points, State, View } from "./model";
import { clipped, isCrowded, type Pen, penOf, type Shared, unclipped } from "./pen";

const HEIGHT = 172;
const HEIGHT_ACROSS = 220;
/** Pixels around the crosshair in which events count. */
const REACH = 4;
/** Pixels from the crosshair to a point that it reads. */
const NEAR = 18;

/** A point of a mark. */
export interface Picked {
  mark: Points;
  index: number;
}

/** A place of the plot that has a ring around it. */
export interface Place {
  x: number;
  y: number;
  group: number | null;
  /** The colour of a small ring on a curve. */
  color?: string;
}

export interface Options {
  width: number;
  /** Changes of links are named here. */
  isFirst: boolean;
  /** The lowest of several that share their horizontal axis. */
  isLast: boolean;
  onCursor(chart: Chart): void;
}

export class Chart {
  readonly u: uPlot;
  private readonly hidden = new Set<number>();
  private readonly rings: HTMLElement[] = [];
  private byState = false;
  private width: number;

  constructor(
    private readonly panel: Panel,
    private view: View,
    private readonly shared: Shared,
    host: HTMLElement,
    private readonly options: Options,
  ) {
    this.width = options.width;
    this.u = new uPlot(this.uplot(), this.span(), host);
    if (panel.across) shared.axis.add({ follow: () => this.u.redraw(false) });
    else join(this.u, shared.axis, host);
  }

  get shown(): View {
    return this.view;
  }

  setData(view: View): void {
    this.view = view;
    this.u.setData(this.span());
    if (!this.panel.across) this.u.setScale("x", { min: this.shared.axis.min, max: this.shared.axis.max });
  }

  /** Go on with what came since: a view with the same marks, of later times. */
  append(more: View): void {
    const marks = this.view.marks.map((mark, i): Mark => {
      const next = more.marks[i];
      return next?.kind === mark.kind ? appended(mark, next) : mark;
    });
    this.setData({ ...this.view, marks, timeS: together(this.view.timeS, more.timeS) as Float64Array });
  }

  setVisible(group: number, visible: boolean): void {
    if (visible) this.hidden.delete(group);
    else this.hidden.add(group);
    if (this.panel.across || this.view.lanes.length) this.u.redraw(false);
    else this.u.setScale("x", { min: this.shared.axis.min, max: this.shared.axis.max });
  }

  /** Points have the colours of states, or of flows. */
  setColors(byState: boolean): void {
    this.byState = byState;
    this.u.redraw(false);
  }

  resize(width: number): void {
    this.width = width;
    const { left, right } = gutters(width);
    const [, y, second] = this.u.axes;
    if (y) y.size = () => left;
    if (second) second.size = () => right;
    this.u.setSize({ width, height: this.height });
  }

  redraw(): void {
    this.u.redraw(false, true);
  }

  /** The crosshair's value on the horizontal axis. */
  get cursor(): number | null {
    const left = this.u.cursor.left ?? -1;
    return left >= 0 ? this.u.posToVal(left, "x") : null;
  }

  /** True if the pointer is here, and not in a chart whose crosshair this one follows. */
  get hasPointer(): boolean {
    return this.u.cursor.event != null;
  }

  /** The value of each mark at the crosshair: of lines, and null for all others. */
  values(): (number | null)[] | null {
    const at = this.cursor;
    if (at === null) return null;
    const late = (this.shared.axis.max - this.shared.axis.min) * 0.02;
    return this.view.marks.map((mark) => (mark.kind === "line" ? valueAt(mark, this.view, at, late) : null));
  }

  /** The state of each lane at the crosshair. */
  states(): (State | undefined)[] | null {
    const at = this.cursor;
    if (at === null) return null;
    return this.view.lanes.map((_, lane) => {
      const mark = this.view.marks.find((one) => one.kind === "state" && one.lane === lane);
      return mark?.kind === "state" ? stateAt(mark, this.panel.states, at) : undefined;
    });
  }

  /** The number of each lane's events near the crosshair, or in all. */
  counts(near: boolean): number[] | null {
    const left = this.u.cursor.left ?? -1;
    if (near && left < 0) return null;
    const [from, to] = near ? [this.u.posToVal(left - REACH, "x"), this.u.posToVal(left + REACH, "x")] : [-1, Infinity];
    return this.view.lanes.map((_, lane) => this.count(lane, from, to));
  }

  /** The point nearest to the crosshair, if any is near. */
  nearest(): Picked | null {
    const { left = -1, top = -1 } = this.u.cursor;
    if (left < 0 || top < 0) return null;
    const pen = this.pen();
    const [x, y] = [left + pen.box.left / pen.ratio, top + pen.box.top / pen.ratio];
    let found: Picked | null = null;
    let least = NEAR;
    for (const mark of this.visible()) {
      if (mark.kind !== "point" || mark.look !== "dot") continue;
      const one = nearest(mark, pen, x, y, least);
      if (one) [found, least] = [{ mark, index: one.index }, one.away];
    }
    return found;
  }

  /** Put a ring around places of the plot. The canvas with its many points stays as it is. */
  ring(places: Place[]): void {
    const shown = places.filter(({ y, group }) => !Number.isNaN(y) && !(group !== null && this.hidden.has(group)));
    while (this.rings.length < shown.length) this.rings.push(this.u.over.appendChild(element("i", { class: "ring" })));
    this.rings.forEach((ring, i) => {
      const one = shown[i];
      ring.hidden = !one;
      if (!one) return;
      ring.style.color = one.color ?? "";
      ring.classList.toggle("small", one.color !== undefined);
      ring.style.left = `${this.u.valToPos(one.x, "x")}px`;
      ring.style.top = `${this.u.valToPos(one.y, "y")}px`;
    });
  }

  private count(lane: number, from: number, to: number): number {
    return this.view.marks.reduce((sum, mark) => sum + (mark.kind === "tick" && mark.lane === lane ? countIn(mark, from, to) : 0), 0);
  }

  private visible(): Mark[] {
    return this.view.marks.filter((mark) => {
      const group = groupOf(mark, this.view);
      return group === null || !this.hidden.has(group);
    });
  }

  private get height(): number {
    if (this.panel.across) return HEIGHT_ACROSS + (this.options.isLast ? 16 : 0);
    return this.view.lanes.length ? heightOf(this.view) : HEIGHT;
  }

  private pen(): Pen {
    const hasGutter = !isNarrow(this.width) && this.view.second === null;
    return penOf(this.u, this.shared, this.panel, this.view, this.byState, hasGutter);
  }

  /** uPlot draws axes and crosshair; marks are drawn over them. It needs some data to have an axis. */
  private span(): uPlot.AlignedData {
    const { across } = this.panel;
    return [across ? [across.left, across.right] : [0, this.shared.axis.duration], [null, null]];
  }

  private uplot(): uPlot.Options {
    const { panel, view, shared, width } = this;
    const { axis, theme } = shared;
    const { across } = panel;
    const inUnit: uPlot.Axis.DynamicValues = (_, ticks) =>
      // On a logarithmic axis some ticks have no label.
      ticks.map((tick: number | null) => (this.options.isLast && tick !== null ? (tick ? `${label(tick)} ${across?.unit}` : "0") : ""));
    const second = view.second;
    const lanes = view.lanes.length > 0;
    return {
      width,
      height: this.height,
      padding: [lanes ? 3 : 8, second ? 0 : (u) => gutters(u.width).right, across && !this.options.isLast ? 8 : 0, 0],
      legend: { show: false },
      cursor: across ? crosshair(panel.key, false, () => {}) : crosshair("time", true, () => axis.reset()),
      scales: {
        x: { time: false, distr: across?.left ? 3 : 1, range: () => (across ? [across.left, across.right] : [axis.min, axis.max]) },
        y: { distr: panel.isLog ? 3 : 1, range: () => (lanes ? [0, 1] : this.range()) },
        ...(second && { second: { from: "y", range: (_, low, high) => [this.inSecond(low), this.inSecond(high)] } }),
      },
      axes: [
        across ? horizontal(theme, inUnit, this.options.isLast ? 24 : 0) : horizontal(theme, SECONDS),
        lanes ? noAxis(width) : vertical(theme, width),
        ...(second ? [vertical(theme, width, (tick) => this.secondLabel(tick), 1)] : []),
      ],
      series: [{}, { show: false }],
      hooks: {
        setSelect: [across ? () => {} : zoomToSelection(axis)],
        // uPlot calls it once before its constructor returns.
        setCursor: [() => this.u && this.follow()],
        drawClear: [() => this.u && this.beneath()],
        draw: [() => this.u && this.draw()],
      },
    };
  }

  private follow(): void {
    this.options.onCursor(this);
    if (this.panel.across || this.view.lanes.length) return;
    const x = this.cursor;
    const values = isCrowded(this.view) ? null : this.values();
    if (x === null || !values) this.ring([]);
    else this.ring(this.view.marks.flatMap((mark, i) => this.onCurve(mark, x, values[i] ?? Number.NaN)));
  }

  /** The place where the crosshair meets a curve; bounds and levels have none. */
  private onCurve(mark: Mark, x: number, y: number): Place[] {
    if (mark.kind !== "line" || mark.isLevel) return [];
    const look = this.panel.quantities[mark.quantity]?.look ?? "curve";
    if (look !== "curve") return [];
    return [{ x, y, group: mark.group, color: this.shared.theme.of(this.shared.groups[mark.group ?? -1]) }];
  }

  private beneath(): void {
    draw(this.pen(), this.visible(), true);
  }

  private draw(): void {
    const pen = this.pen();
    if (this.view.lanes.length) unclipped(pen, () => drawLabels(pen, (lane) => this.count(lane, -1, Infinity)));
    const [inside, outside] = split(this.visible());
    clipped(pen, () => draw(pen, inside, false), this.panel.across ? 0 : 2);
    unclipped(pen, () => draw(pen, outside, false));
    drawReferences(pen);
    drawAcross(pen);
    if (!this.panel.across) drawChanges(pen, this.options.isFirst);
  }

  /** Another link may have another rate, or none that bytes tell a time by. */
  private inSecond(value: number): number {
    return value * (this.view.second?.factor ?? 1);
  }

  private secondLabel(tick: number): string {
    return this.view.second ? `${label(tick)} ${this.view.second.unit}` : "";
  }

  /** The range of what is no upper bound: a receiver's window may be far above. */
  private fitting(): [number, number] {
    const { panel, view, shared } = this;
    const isBound = (mark: Mark) => mark.kind === "line" && panel.quantities[mark.quantity]?.look === "high";
    const marks = this.visible().filter((mark) => !isBound(mark));
    const [low, high] = extent(marks, view, shared.axis.min, shared.axis.max) ?? [0, 1];
    const margin = (high - low || 1) * 0.06;
    return [low - margin, high + margin];
  }

  /** The range, from 0 or from just below the lowest curve or reference, to just above the highest. */
  private range(): [number, number] {
    const { panel, view, shared } = this;
    if (panel.across) return [view.low ?? 0, view.top ?? 1];
    if (view.isRelative) return this.fitting();
    const levels = view.references.map((reference) => reference.value);
    const { isWhole, min, max } = shared.axis;
    const [lowest, highest] = extent(this.visible(), view, min, max) ?? [0, 0];
    if (panel.isLog) return highest > 0 ? [lowest / 1.3, highest * 1.3] : [1, 10];
    const high = Math.max(0, view.top === null ? highest : Math.min(highest, view.top));
    // A short time of a sequence has a range of values that fits it.
    const zoomed = !isWhole && !panel.fromZero && levels.length === 0;
    const top = Math.max(high, ...levels);
    const bottom = panel.fromZero || (isWhole && levels.length === 0) ? 0 : Math.min(lowest, ...levels);
    const margin = (top - bottom || top || 1) * 0.06;
    return [bottom === 0 && !zoomed ? 0 : Math.max(0, bottom - margin), top + margin];
  }
}

/** Marks within the plot, and those at its edges and beside it. */
function split(marks: Mark[]): [Mark[], Mark[]] {
  const isOutside = (mark: Mark) => (mark.kind === "tick" && mark.lane === null) || (mark.kind === "text" && mark.isOutside);
  return [marks.filter((mark) => !isOutside(mark)), marks.filter(isOutside)];
}
