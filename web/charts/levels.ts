// Levels that curves are read against, and changes of links, drawn over the curves.

import type { Box, Pen } from "./pen";
import { fontAt } from "./theme";

const LINE_HEIGHT = 13;
/** Points of a curve that are looked at for room. */
const MOST = 2000;

/** The view's references, with their names in the gutter, or inside where an axis or nothing is right of the plot. */
export function drawReferences(pen: Pen): void {
  const { ctx, box, ratio, theme } = pen;
  const taken: number[] = [];
  ctx.save();
  ctx.font = fontAt(ratio);
  for (const { value, label } of pen.view.references) {
    const y = Math.round(pen.y(value));
    if (y < box.top - 1 || y > box.bottom + 1) continue;
    ctx.strokeStyle = theme.color("reference");
    ctx.lineWidth = ratio;
    ctx.setLineDash([5 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(box.left, y);
    ctx.lineTo(box.right, y);
    ctx.stroke();
    if (taken.some((other) => Math.abs(other - y) < 2 * LINE_HEIGHT * ratio)) continue;
    taken.push(y);
    if (pen.hasGutter) labelInGutter(pen, label, box.right + 6 * ratio, y);
    else labelInside(pen, label, y);
  }
  ctx.restore();
}

/** Two short lines: the name and the value. */
export function labelInGutter(pen: Pen, label: string, x: number, y: number): void {
  const { ctx, ratio } = pen;
  const [what = "", ...amount] = label.split(" ");
  ctx.font = fontAt(ratio);
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillStyle = pen.theme.color("soft");
  ctx.fillText(what, x, y - (LINE_HEIGHT / 2) * ratio);
  ctx.fillText(amount.join(" "), x, y + (LINE_HEIGHT / 2) * ratio);
}

/** Write beside a line at `y`, where the fewest points of curves are. */
function labelInside(pen: Pen, label: string, y: number): void {
  const { ctx, box, ratio, theme } = pen;
  const [width, height] = [ctx.measureText(label).width + 8 * ratio, (LINE_HEIGHT + 2) * ratio];
  const tops = [y - height, y + 2 * ratio].filter((top) => top >= box.top && top + height <= box.bottom);
  const lefts = [box.right - width, (box.left + box.right - width) / 2, box.left].filter((left) => left >= box.left);
  const places = tops.flatMap((top) => lefts.map((left): Box => ({ left, right: left + width, top, bottom: top + height })));
  const ranked = places.map((place) => ({ place, hidden: pointsIn(pen, place) })).sort((one, other) => one.hidden - other.hidden);
  const best = ranked[0];
  if (!best) return;
  ctx.fillStyle = theme.color("ground");
  ctx.globalAlpha = 0.85;
  if (best.hidden === 0) ctx.fillRect(best.place.left, best.place.top, width, height);
  ctx.globalAlpha = 1;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillStyle = theme.color("soft");
  ctx.fillText(label, best.place.left + 4 * ratio, (best.place.top + best.place.bottom) / 2);
}

/** The number of points of curves in a part of the plot; of long curves, of so many points. */
function pointsIn(pen: Pen, place: Box): number {
  let found = 0;
  for (const mark of pen.view.marks) {
    if (mark.kind !== "line") continue;
    const at = mark.x ?? mark.timeS ?? pen.view.timeS;
    const step = Math.ceil(mark.values.length / MOST);
    for (let i = 0; i < mark.values.length; i += step) {
      const [x, y] = [pen.x(at[i] ?? Number.NaN), pen.y(mark.values[i] ?? Number.NaN)];
      if (x >= place.left && x <= place.right && y >= place.top && y <= place.bottom) found++;
    }
  }
  return found;
}

/** Dotted lines upwards, at levels of a horizontal axis that is not time. */
export function drawAcross(pen: Pen): void {
  const { ctx, box, ratio } = pen;
  ctx.save();
  ctx.strokeStyle = pen.theme.color("reference");
  ctx.lineWidth = ratio;
  ctx.setLineDash([2 * ratio, 3 * ratio]);
  for (const at of pen.panel.across?.levels ?? []) {
    const x = Math.round(pen.x(at)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(x, box.top);
    ctx.lineTo(x, box.bottom);
    ctx.stroke();
  }
  ctx.restore();
}

/** Draw a line at each change of a link and, if `named`, the changes in words, as far as there is room. */
export function drawChanges(pen: Pen, named: boolean): void {
  const { ctx, box, ratio, theme } = pen;
  let free = box.left;
  ctx.save();
  ctx.font = fontAt(ratio);
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  ctx.setLineDash([2 * ratio, 3 * ratio]);
  ctx.lineWidth = ratio;
  for (const { timeS, label } of pen.shared.changes) {
    if (timeS < pen.from || timeS > pen.to) continue;
    const x = Math.round(pen.x(timeS)) + 0.5;
    ctx.strokeStyle = theme.color("reference");
    ctx.beginPath();
    ctx.moveTo(x, box.top);
    ctx.lineTo(x, box.bottom);
    ctx.stroke();
    const width = ctx.measureText(label).width + 8 * ratio;
    if (!named || x < free || x + width > box.right) continue;
    free = x + width;
    ctx.fillStyle = theme.color("ground");
    ctx.globalAlpha = 0.8;
    ctx.fillRect(x + 2 * ratio, box.top + ratio, width - 4 * ratio, (LINE_HEIGHT + 2) * ratio);
    ctx.globalAlpha = 1;
    ctx.fillStyle = theme.color("soft");
    ctx.fillText(label, x + 4 * ratio, box.top + 3 * ratio);
  }
  ctx.restore();
}
