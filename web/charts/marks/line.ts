// Curves, and levels that change along the axis.

import type { Line, Quantity, View } from "../model";
import { colorOf, type Pen } from "../pen";
import { indexAt } from "../search";
import type { Extent, Painter } from ".";

type Look = Quantity["look"];

const DOTS = [1.5, 2.5];
const DASHES = [6, 3.5];
const LEVEL = [5, 4];
const RANKS: Record<Look, number> = { pale: 1, high: 2, low: 3, curve: 4, lost: 5, resent: 6 };
const LEVEL_RANK = 4.5;
/** Pixels between values that are marked one by one. */
const SPARSE = 12;

export const line: Painter<Line> = {
  draw(pen, mark) {
    const { ctx, ratio, theme } = pen;
    const look = lookOf(mark, pen);
    const many = pen.isCrowded;
    const group = mark.group === null ? undefined : pen.shared.groups[mark.group];
    const path = pathOf(pen, mark);
    ctx.lineJoin = "round";
    if (mark.isLevel) {
      stroke(pen, path, theme.color("reference"), 1.25, pen.panel.across ? [] : LEVEL, 1);
      return;
    }
    if (mark.group === null) fillBeneath(pen, mark);
    const dash = look === "low" ? DOTS : look === "high" ? DASHES : (group?.dash ?? []);
    const width = many ? 0.75 : look === "pale" || mark.group === null ? 1 : look === "curve" ? 1.4 : 1.2;
    stroke(pen, path, colorOf(pen, mark.group), width, dash, many ? 0.4 : look === "pale" ? 0.36 : 1);
    if (!many && look === "curve" && !mark.steps) dots(pen, mark);
    ctx.lineWidth = ratio;
  },

  extent(mark, view, from, to): Extent {
    const [first, last] = shown(mark, view, from, to);
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let i = first; i <= last; i++) {
      const value = mark.values[i] ?? Number.NaN;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return low > high ? null : [low, high];
  },

  rank: (mark, pen) => (mark.isLevel ? LEVEL_RANK : RANKS[lookOf(mark, pen)]),
};

/** The places of a mark's values on the horizontal axis. */
export function positions(mark: { x: Float32Array | null; timeS: Float64Array | null }, view: View): ArrayLike<number> {
  return mark.x ?? mark.timeS ?? view.timeS;
}

/** The value at a time: the latest by then, or of values at common times the nearest. Null where there is none. */
export function valueAt(mark: Line, view: View, time: number, late: number): number | null {
  const times = positions(mark, view);
  let at = indexAt(times, time);
  if (mark.timeS === null && mark.x === null) {
    const [before, after] = [times[at] ?? Number.NEGATIVE_INFINITY, times[at + 1] ?? Number.POSITIVE_INFINITY];
    if (after - time < time - before) at += 1;
  }
  const value = mark.values[at] ?? Number.NaN;
  const over = at === times.length - 1 && time - (times[at] ?? 0) > late;
  return Number.isNaN(value) || over ? null : value;
}

function lookOf(mark: Line, pen: Pen): Look {
  return pen.panel.quantities[mark.quantity]?.look ?? "curve";
}

/** First and last index of the part that is shown, and one point more on each side. */
function shown(mark: Line, view: View, from: number, to: number): [number, number] {
  const at = positions(mark, view);
  if (mark.x) return [0, at.length - 1];
  return [Math.max(0, indexAt(at, from)), Math.min(at.length - 1, indexAt(at, to) + 1)];
}

/** Of the values in one column of pixels, the path has the first, the lowest, the highest and the last: more would look
 * the same. */
function pathOf(pen: Pen, mark: Line): Path2D {
  const path = new Path2D();
  const at = positions(mark, pen.view);
  const [first, last] = shown(mark, pen.view, pen.from, pen.to);
  const { values, steps } = mark;
  let column = Number.NaN;
  let [x, low, high, end] = [0, 0, 0, Number.NaN];
  const leave = (): void => {
    if (low < end || high > end) {
      path.lineTo(x, low);
      path.lineTo(x, high);
      path.lineTo(x, end);
    }
  };
  for (let i = first; i <= last; i++) {
    const y = pen.y(values[i] ?? Number.NaN);
    if (Number.isNaN(y)) {
      leave();
      column = end = Number.NaN;
      continue;
    }
    const here = pen.x(at[i] ?? 0);
    if (Math.round(here) === column) {
      if (y < low) low = y;
      if (y > high) high = y;
      end = y;
      continue;
    }
    const before = end;
    leave();
    if (Number.isNaN(before)) path.moveTo(here, y);
    else if (steps) path.lineTo(here, before), path.lineTo(here, y);
    else path.lineTo(here, y);
    [column, x, low, high, end] = [Math.round(here), here, y, y, y];
  }
  leave();
  return path;
}

function stroke(pen: Pen, path: Path2D, color: string, width: number, dash: number[], alpha: number): void {
  const { ctx, ratio } = pen;
  ctx.strokeStyle = color;
  ctx.globalAlpha = alpha;
  ctx.lineWidth = width * ratio;
  ctx.setLineDash(dash.map((length) => length * ratio));
  ctx.stroke(path);
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

/** A line without a flow, such as a queue, fills the area below it. */
function fillBeneath(pen: Pen, mark: Line): void {
  const { ctx } = pen;
  const at = positions(mark, pen.view);
  const [first, last] = shown(mark, pen.view, pen.from, pen.to);
  const foot = pen.y(0);
  let open = Number.NaN;
  ctx.beginPath();
  const close = (x: number) => {
    if (!Number.isNaN(open)) ctx.lineTo(x, foot), ctx.lineTo(open, foot);
    open = Number.NaN;
  };
  let x = 0;
  for (let i = first; i <= last; i++) {
    const value = mark.values[i] ?? Number.NaN;
    if (Number.isNaN(value)) {
      close(x);
      continue;
    }
    x = pen.x(at[i] ?? 0);
    if (Number.isNaN(open)) ctx.moveTo(x, pen.y(value)), (open = x);
    else ctx.lineTo(x, pen.y(value));
  }
  close(x);
  ctx.fillStyle = pen.theme.color("queue-fill");
  ctx.fill();
}

/** Single values, where they are far from each other. */
function dots(pen: Pen, mark: Line): void {
  const { ctx, ratio, box } = pen;
  const at = positions(mark, pen.view);
  const [first, last] = shown(mark, pen.view, pen.from, pen.to);
  if ((last - first) * SPARSE * ratio > box.right - box.left) return;
  ctx.lineWidth = 1.2 * ratio;
  ctx.fillStyle = pen.theme.color("ground");
  for (let i = first; i <= last; i++) {
    const value = mark.values[i] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    ctx.beginPath();
    ctx.arc(pen.x(at[i] ?? 0), pen.y(value), 2 * ratio, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
  }
}
