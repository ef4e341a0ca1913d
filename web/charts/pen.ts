// The tools for drawing marks: a canvas, and the places of times and values on it.

import type uPlot from "uplot";
import type { Change, Group, Panel, View } from "./model";
import { fontAt, type Theme } from "./theme";
import type { TimeAxis } from "./time-axis";

/** If more flows have curves, each curve is thin and pale. */
const MANY = 24;

/** The settings that all charts of a page share. */
export interface Shared {
  groups: Group[];
  changes: Change[];
  axis: TimeAxis;
  theme: Theme;
}

/** Pixels of the canvas; a pixel of the screen is `ratio` of these. */
export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface Pen {
  ctx: CanvasRenderingContext2D;
  ratio: number;
  box: Box;
  shared: Shared;
  theme: Theme;
  panel: Panel;
  view: View;
  /** The part of the horizontal axis that is shown. */
  from: number;
  to: number;
  /** Points have the colours of states, and not of flows. */
  byState: boolean;
  /** Many flows have curves, and each curve is thin and pale. */
  isCrowded: boolean;
  /** There is room for words right of the plot. */
  hasGutter: boolean;
  x(value: number): number;
  y(value: number): number;
}

export function penOf(u: uPlot, shared: Shared, panel: Panel, view: View, byState: boolean, hasGutter: boolean): Pen {
  const { ctx, bbox } = u;
  const box = { left: bbox.left, right: bbox.left + bbox.width, top: bbox.top, bottom: bbox.top + bbox.height };
  const { min: from = 0, max: to = 1 } = u.scales["x"] ?? {};
  const { min: low = 0, max: high = 1 } = u.scales["y"] ?? {};
  const along = panel.across?.left ? (value: number) => Math.log10(Math.max(value, Number.MIN_VALUE)) : (value: number) => value;
  const start = along(from ?? 0);
  const perX = bbox.width / (along(to ?? 1) - start || 1);
  // A logarithmic axis has no 0, and what lies below it is at its foot.
  const scaled = panel.isLog ? (value: number) => Math.log10(Math.max(value, low ?? 1)) : (value: number) => value;
  const foot = scaled(low ?? 0);
  const perY = bbox.height / (scaled(high ?? 1) - foot || 1);
  return {
    isCrowded: isCrowded(view),
    ctx, ratio: devicePixelRatio, box, shared, theme: shared.theme, panel, view, byState, hasGutter,
    from: from ?? 0,
    to: to ?? 1,
    x: (value) => box.left + (along(value) - start) * perX,
    y: (value) => box.bottom - (scaled(value) - foot) * perY,
  };
}

export function isCrowded(view: View): boolean {
  if (view.marks.length <= MANY) return false;
  return new Set(view.marks.flatMap((mark) => (mark.kind === "line" ? [mark.flow] : []))).size > MANY;
}

/** The colour of a group; a line without a group has the queue's colour. */
export function colorOf(pen: Pen, group: number | null): string {
  return pen.theme.of(group === null ? undefined : pen.shared.groups[group]);
}

/** Draw within the plot, with what `act` sets undone. */
export function clipped(pen: Pen, act: () => void, over = 0): void {
  const { ctx, box } = pen;
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left, box.top - over, box.right - box.left, box.bottom - box.top + 2 * over);
  ctx.clip();
  ctx.font = fontAt(pen.ratio);
  act();
  ctx.restore();
}

/** Draw anywhere, with what `act` sets undone. */
export function unclipped(pen: Pen, act: () => void): void {
  pen.ctx.save();
  pen.ctx.font = fontAt(pen.ratio);
  act();
  pen.ctx.restore();
}
