// Moments: in a lane, or at an edge of the plot.

import { placeOf } from "../lanes";
import type { Ticks } from "../model";
import { colorOf, type Pen } from "../pen";
import type { Painter } from ".";

const EDGE = 4;

export const ticks: Painter<Ticks> = {
  draw(pen, mark) {
    if (mark.lane === null) atEdge(pen, mark);
    else inLane(pen, mark, mark.lane);
  },
  extent: () => null,
  rank: () => 7,
};

/** The number of events from one time to another. */
export function countIn(mark: Ticks, from: number, to: number): number {
  return mark.timeS.reduce((sum, time, i) => (time >= from && time <= to ? sum + (mark.count?.[i] ?? 1) : sum), 0);
}

function inLane(pen: Pen, mark: Ticks, lane: number): void {
  const { ctx, box, ratio, view } = pen;
  const { top, height } = placeOf(pen, lane);
  const of = view.lanes[lane];
  const width = Math.max(1, Math.round(1.25 * ratio));
  ctx.fillStyle = of?.group == null ? pen.theme.color("soft") : colorOf(pen, of.group);
  ctx.globalAlpha = of?.isPale ? 0.5 : 1;
  for (const time of mark.timeS) {
    if (time < pen.from || time > pen.to) continue;
    const x = Math.min(pen.x(time), box.right - width);
    ctx.fillRect(Math.round(x), Math.round(top), width, Math.round(height - 1));
  }
  ctx.globalAlpha = 1;
}

/** Drops at the upper edge: triangles, or ticks where triangles would run together. ECN marks: ticks at the lower edge. */
function atEdge(pen: Pen, mark: Ticks): void {
  const { ctx, box, ratio } = pen;
  const size = EDGE * ratio;
  const isDrop = mark.edge === "drop";
  const edge = isDrop ? box.top : box.bottom - size;
  ctx.fillStyle = pen.theme.color(isDrop ? "drop" : "mark");
  ctx.beginPath();
  const shown = mark.timeS.filter((time) => time >= pen.from && time <= pen.to);
  const narrow = !isDrop || shown.length * size > (box.right - box.left) / 4;
  for (const time of shown) {
    const x = pen.x(time);
    if (narrow) {
      ctx.rect(x, edge - size, ratio / 2, 2 * size);
      continue;
    }
    ctx.moveTo(x - size, edge - size);
    ctx.lineTo(x + size, edge - size);
    ctx.lineTo(x, edge + size);
    ctx.closePath();
  }
  ctx.fill();
}
