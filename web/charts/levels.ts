// Levels that curves are read against, and changes of links, drawn over the curves.

import type { Pen } from "./pen";
import { fontAt } from "./theme";

const LINE_HEIGHT = 13;

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
    else labelInside(pen, label, box.right - 4 * ratio, y);
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

function labelInside(pen: Pen, label: string, x: number, y: number): void {
  const { ctx, ratio, theme } = pen;
  const above = y - pen.box.top > (LINE_HEIGHT + 2) * ratio;
  ctx.textAlign = "right";
  ctx.textBaseline = above ? "bottom" : "top";
  const at = y + (above ? -2 : 4) * ratio;
  const width = ctx.measureText(label).width + 8 * ratio;
  ctx.fillStyle = theme.color("ground");
  ctx.globalAlpha = 0.85;
  ctx.fillRect(x - width + 4 * ratio, above ? at - LINE_HEIGHT * ratio : at - 2 * ratio, width, (LINE_HEIGHT + 2) * ratio);
  ctx.globalAlpha = 1;
  ctx.fillStyle = theme.color("soft");
  ctx.fillText(label, x, at);
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
