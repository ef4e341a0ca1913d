// Levels that curves are read against, marks of drops and ECN, and changes of links, drawn over the curves.

import type uPlot from "uplot";
import { isNarrow } from "./base-plot";
import type { Change, Marks, View } from "./data";
import { color, FONT } from "./theme";

const LINE_HEIGHT = 13;

/** Draw the references of `view`; `labelsInside`: the right gutter is taken by an axis. */
export function drawReferences(u: uPlot, view: View, labelsInside: boolean): void {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  const inside = labelsInside || isNarrow(u.width);
  const taken: number[] = [];
  ctx.save();
  ctx.font = FONT.replace("11px", `${11 * ratio}px`);
  for (const { value, label } of view.references) {
    const y = Math.round(u.valToPos(value, "y", true));
    if (y < bbox.top - 1 || y > bbox.top + bbox.height + 1) continue;
    ctx.strokeStyle = color("--reference");
    ctx.lineWidth = ratio;
    ctx.setLineDash([5 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    if (taken.some((other) => Math.abs(other - y) < 2 * LINE_HEIGHT * ratio)) continue;
    taken.push(y);
    if (inside) labelInside(ctx, label, bbox.left + bbox.width - 4 * ratio, y, bbox.top, ratio);
    else labelInGutter(ctx, label, bbox.left + bbox.width + 6 * ratio, y, ratio);
  }
  ctx.restore();
}

/** Two short lines: what it is, and how much. */
export function labelInGutter(
  ctx: CanvasRenderingContext2D,
  label: string,
  x: number,
  y: number,
  ratio: number,
): void {
  const [what = "", ...amount] = label.split(" ");
  ctx.font = FONT.replace("11px", `${11 * ratio}px`);
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillStyle = color("--soft");
  ctx.fillText(what, x, y - (LINE_HEIGHT / 2) * ratio);
  ctx.fillText(amount.join(" "), x, y + (LINE_HEIGHT / 2) * ratio);
}

function labelInside(
  ctx: CanvasRenderingContext2D,
  label: string,
  x: number,
  y: number,
  top: number,
  ratio: number,
): void {
  const above = y - top > (LINE_HEIGHT + 2) * ratio;
  ctx.textAlign = "right";
  ctx.textBaseline = above ? "bottom" : "top";
  const at = y + (above ? -2 : 4) * ratio;
  const width = ctx.measureText(label).width + 8 * ratio;
  ctx.fillStyle = color("--ground");
  ctx.globalAlpha = 0.85;
  ctx.fillRect(x - width + 4 * ratio, above ? at - LINE_HEIGHT * ratio : at - 2 * ratio, width, (LINE_HEIGHT + 2) * ratio);
  ctx.globalAlpha = 1;
  ctx.fillStyle = color("--soft");
  ctx.fillText(label, x, at);
}

/**
 * Drops at the upper edge: triangles, or ticks where triangles would run together. ECN marks: ticks at the lower edge.
 */
export function drawMarks(u: uPlot, { kind, time }: Marks): void {
  const { ctx, bbox } = u;
  const size = 4 * devicePixelRatio;
  const { min = 0, max = 0 } = u.scales["x"] ?? {};
  const edge = kind === "drop" ? bbox.top : bbox.top + bbox.height - size;
  ctx.save();
  ctx.fillStyle = color(`--${kind}`);
  ctx.beginPath();
  const visible = time.filter((time) => time >= (min ?? 0) && time <= (max ?? 0));
  const ticks = kind === "mark" || visible.length * size > bbox.width / 4;
  for (const time of visible) {
    const x = u.valToPos(time, "x", true);
    if (ticks) {
      ctx.rect(x, edge - size, devicePixelRatio / 2, 2 * size);
      continue;
    }
    ctx.moveTo(x - size, edge - size);
    ctx.lineTo(x + size, edge - size);
    ctx.lineTo(x, edge + size);
    ctx.closePath();
  }
  ctx.fill();
  ctx.restore();
}

/** Where the plan changes a link: a line, and `named`, what changes, as far as there is room. */
export function drawChanges(u: uPlot, changes: Change[], named: boolean): void {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  const { min = 0, max = 0 } = u.scales["x"] ?? {};
  let free = bbox.left;
  ctx.save();
  ctx.font = FONT.replace("11px", `${11 * ratio}px`);
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  ctx.setLineDash([2 * ratio, 3 * ratio]);
  ctx.lineWidth = ratio;
  for (const { time, label } of changes) {
    if (time < (min ?? 0) || time > (max ?? 0)) continue;
    const x = Math.round(u.valToPos(time, "x", true)) + 0.5;
    ctx.strokeStyle = color("--reference");
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const width = ctx.measureText(label).width + 8 * ratio;
    if (!named || x < free || x + width > bbox.left + bbox.width) continue;
    free = x + width;
    ctx.fillStyle = color("--ground");
    ctx.globalAlpha = 0.8;
    ctx.fillRect(x + 2 * ratio, bbox.top + ratio, width - 4 * ratio, (LINE_HEIGHT + 2) * ratio);
    ctx.globalAlpha = 1;
    ctx.fillStyle = color("--soft");
    ctx.fillText(label, x + 4 * ratio, bbox.top + 3 * ratio);
  }
  ctx.restore();
}
