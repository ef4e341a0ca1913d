// Words at a place of the plot.

import { labelInGutter } from "../levels";
import type { Text } from "../model";
import type { Painter } from ".";

const AWAY = { left: 6, right: -9 };
const HEIGHT = 14;

export const text: Painter<Text> = {
  draw(pen, mark) {
    const { ctx, ratio, box, theme } = pen;
    if (mark.onlyWide && !pen.hasGutter) return;
    if (mark.isOutside) {
      labelInGutter(pen, mark.words, box.right + 6 * ratio, pen.y(mark.y));
      return;
    }
    const width = ctx.measureText(mark.words).width;
    const x = pen.x(mark.x) + AWAY[mark.align] * ratio;
    const start = mark.align === "right" ? x - width : x;
    if (start < box.left || start + width > box.right) return;
    ctx.textAlign = mark.align;
    ctx.textBaseline = "alphabetic";
    // Points that a limit does not hold for must not hide it.
    ctx.strokeStyle = theme.color("raised");
    ctx.lineWidth = 3 * ratio;
    const y = pen.y(mark.y) + { above: -5, middle: 0, below: HEIGHT }[mark.side] * ratio;
    ctx.strokeText(mark.words, x, y);
    ctx.fillStyle = theme.color("soft");
    ctx.fillText(mark.words, x, y);
  },
  extent: () => null,
  rank: () => 9,
};
