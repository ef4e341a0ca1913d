// Points: ACKs, a ring around one, losses and retransmissions on a curve.

import type { Points, View } from "../model";
import { colorOf, type Pen } from "../pen";
import { indexAt } from "../search";
import type { Painter } from ".";
import { positions } from "./line";

const DOT = 2;
const RING = 6;
const EVENT = 3;
const RANKS = { dot: 0, lost: 5, resent: 6, ring: 8 };

export const points: Painter<Points> = {
  draw(pen, mark) {
    if (mark.look === "ring") ring(pen, mark);
    else if (mark.look === "dot") dots(pen, mark);
    else events(pen, mark, mark.look);
  },
  // Events lie at a curve, and dots in a plot whose limits are given.
  extent: () => null,
  rank: (mark) => RANKS[mark.look],
};

/** The point of `mark` that is nearest to a place, and its distance in pixels of the screen. */
export function nearest(mark: Points, pen: Pen, x: number, y: number, reach: number): { index: number; away: number } | null {
  const at = positions(mark, pen.view);
  const { min, max } = pen.shared.axis;
  let found: { index: number; away: number } | null = null;
  let least = reach;
  for (let index = 0; index < at.length; index++) {
    const time = mark.timeS[index] ?? -1;
    if (time < min || time > max) continue;
    const away = Math.hypot(pen.x(at[index] ?? 0) / pen.ratio - x, pen.y(mark.values[index] ?? Number.NaN) / pen.ratio - y);
    if (away < least) [found, least] = [{ index, away }, away];
  }
  return found;
}

/** The point at a time: the latest by then, unless it is the last of all. */
export function indexOf(mark: Points, time: number): number | null {
  const index = indexAt(mark.timeS, time);
  return index < 0 || index === mark.timeS.length - 1 ? null : index;
}

/** The dots within the time axis are drawn in colour, the others as a shade. */
function dots(pen: Pen, mark: Points): void {
  const { ctx, theme, ratio, view } = pen;
  const { min, max, isWhole } = pen.shared.axis;
  const at = positions(mark, view);
  const size = DOT * ratio;
  const colors = pen.panel.states.map((state) => theme.of(state));
  for (const inTime of isWhole ? [true] : [false, true]) {
    ctx.globalAlpha = inTime ? (pen.byState ? 0.75 : 0.55) : 0.1;
    ctx.fillStyle = inTime ? colorOf(pen, mark.group) : theme.color("soft");
    for (let i = 0; i < at.length; i++) {
      const time = mark.timeS[i] ?? -1;
      if ((time >= min && time <= max) !== inTime) continue;
      if (inTime && pen.byState) ctx.fillStyle = colors[mark.state?.[i] ?? -1] ?? theme.color("soft");
      ctx.fillRect(pen.x(at[i] ?? 0) - size / 2, pen.y(mark.values[i] ?? Number.NaN) - size / 2, size, size);
    }
  }
  ctx.globalAlpha = 1;
}

function ring(pen: Pen, mark: Points): void {
  const { ctx, ratio } = pen;
  const at = positions(mark, pen.view);
  ctx.strokeStyle = pen.theme.color("ink");
  ctx.lineWidth = 1.5 * ratio;
  for (let i = 0; i < at.length; i++) {
    ctx.beginPath();
    ctx.arc(pen.x(at[i] ?? 0), pen.y(mark.values[i] ?? 0), RING * ratio, 0, 2 * Math.PI);
    ctx.stroke();
  }
}

/** Lost: triangles that point at the curve from above. Resent: crosses on it. Ticks where these would run together. */
function events(pen: Pen, mark: Points, look: "lost" | "resent"): void {
  const { ctx, ratio, box } = pen;
  const [first, last] = within(mark, pen.view, pen.from, pen.to);
  const size = EVENT * ratio;
  const narrow = (last - first) * 4 * size > box.right - box.left;
  ctx.beginPath();
  for (let i = first; i <= last; i++) {
    const x = pen.x(mark.timeS[i] ?? 0);
    const y = pen.y(mark.values[i] ?? 0);
    if (narrow) ctx.rect(x, look === "lost" ? y - 4 * size : y + 1.5 * size, ratio / 2, 2.5 * size);
    else if (look === "lost") {
      ctx.moveTo(x, y - size);
      ctx.lineTo(x - size, y - 3 * size);
      ctx.lineTo(x + size, y - 3 * size);
      ctx.closePath();
    } else {
      ctx.moveTo(x - size, y - size);
      ctx.lineTo(x + size, y + size);
      ctx.moveTo(x - size, y + size);
      ctx.lineTo(x + size, y - size);
    }
  }
  ctx.strokeStyle = ctx.fillStyle = pen.theme.color(look === "lost" ? "drop" : "ink");
  ctx.lineWidth = 1.2 * ratio;
  if (narrow || look === "lost") ctx.fill();
  else ctx.stroke();
}

function within(mark: Points, view: View, from: number, to: number): [number, number] {
  const at = positions(mark, view);
  return [Math.max(0, indexAt(at, from)), Math.min(at.length - 1, indexAt(at, to) + 1)];
}
