// Areas between two curves.

import type { Band } from "../model";
import { clipped, colorOf } from "../pen";
import type { Painter } from ".";
import { positions } from "./line";

export const band: Painter<Band> = {
  draw(pen, mark) {
    const { ctx } = pen;
    const at = positions(mark, pen.view);
    const path = new Path2D();
    for (let i = 0; i < at.length; i++) path.lineTo(pen.x(at[i] ?? 0), pen.y(mark.high[i] ?? 0));
    for (let i = at.length - 1; i >= 0; i--) path.lineTo(pen.x(at[i] ?? 0), pen.y(mark.low[i] ?? 0));
    path.closePath();
    clipped(pen, () => {
      ctx.fillStyle = mark.isExcluded ? pen.theme.color("raised") : colorOf(pen, mark.group);
      ctx.globalAlpha = mark.isExcluded ? 1 : 0.18;
      ctx.fill(path);
    });
  },

  extent(mark) {
    if (mark.isExcluded || mark.low.length === 0) return null;
    const known = (values: Float32Array) => values.filter((value) => !Number.isNaN(value));
    return [known(mark.low).reduce((a, b) => Math.min(a, b)), known(mark.high).reduce((a, b) => Math.max(a, b))];
  },

  rank: (mark) => (mark.isExcluded ? -1 : 0.5),
};
