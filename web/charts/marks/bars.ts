// Upright bars: the bytes of packets and of SACK blocks in a sequence space.

import type { Bars } from "../model";
import { colorOf, type Pen } from "../pen";
import { indexAt } from "../search";
import type { Extent, Painter } from ".";

export const bars: Painter<Bars> = {
  draw(pen, mark) {
    const { ctx, ratio, theme } = pen;
    ctx.lineWidth = (mark.least > 1 ? 1.5 : 1) * ratio;
    ctx.globalAlpha = mark.isPale ? 0.35 : 0.9;
    const none = theme.color("soft");
    for (const [state, path] of pathsOf(pen, mark)) {
      const known = pen.panel.states[state];
      ctx.strokeStyle = mark.state === null ? colorOf(pen, mark.group) : known ? theme.of(known) : none;
      ctx.stroke(path);
    }
    ctx.globalAlpha = 1;
  },

  extent(mark, _, from, to): Extent {
    const [first, last] = within(mark, from, to);
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let i = first; i <= last; i++) {
      low = Math.min(low, mark.low[i] ?? low);
      high = Math.max(high, mark.high[i] ?? high);
    }
    return low > high ? null : [low, high];
  },

  rank: (mark) => (mark.isPale ? 0.7 : mark.least > 1 ? 5.5 : 4.7),
};

/** A path for each state. Bars that would lie on one another are drawn once. */
function pathsOf(pen: Pen, mark: Bars): Map<number, Path2D> {
  const paths = new Map<number, Path2D>();
  const drawn = new Map<number, [number, number, number]>();
  const least = mark.least * pen.ratio;
  const [first, last] = within(mark, pen.from, pen.to);
  for (let i = first; i <= last; i++) {
    const state = mark.state?.[i] ?? 0;
    const x = Math.round(pen.x(mark.timeS[i] ?? 0)) + 0.5;
    const foot = pen.y(mark.low[i] ?? 0);
    const head = Math.min(pen.y(mark.high[i] ?? 0), foot - least);
    let path = paths.get(state);
    if (!path) paths.set(state, (path = new Path2D()));
    const before = drawn.get(state);
    if (before && before[0] === x && foot <= before[1] + 0.5 && head >= before[2] - 0.5) continue;
    drawn.set(state, [x, foot, head]);
    path.moveTo(x, foot);
    path.lineTo(x, head);
  }
  return paths;
}

/** First and last index of the bars that are shown. */
function within(mark: Bars, from: number, to: number): [number, number] {
  return [Math.max(0, indexAt(mark.timeS, from)), Math.min(mark.timeS.length - 1, indexAt(mark.timeS, to) + 1)];
}
