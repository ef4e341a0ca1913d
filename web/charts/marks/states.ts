// States of a flow: blocks of colour in a lane.

import { laneHeight, placeOf } from "../lanes";
import type { State, States } from "../model";
import { clipped, type Pen } from "../pen";
import { indexAt } from "../search";
import type { Painter } from ".";

/** Lanes less high have no names in their blocks. */
const NAMED = 20;

export const states: Painter<States> = {
  draw(pen, mark) {
    const { ctx, box, ratio, theme } = pen;
    const { top, height } = placeOf(pen, mark.lane);
    clipped(pen, () => {
      ctx.textBaseline = "middle";
      for (let i = Math.max(0, indexAt(mark.startS, pen.from)); i < mark.startS.length; i++) {
        const state = pen.panel.states[mark.state[i] ?? -1];
        const x = pen.x(mark.startS[i] ?? 0);
        if (x > box.right || !state) break;
        const end = pen.x(mark.endS[i] ?? 0);
        const tall = height * state.height;
        ctx.fillStyle = theme.of(state);
        ctx.fillRect(x, top + height - tall, Math.max(end - x, ratio), tall);
        name(pen, state, Math.max(x, box.left), Math.min(end, box.right), top, height, tall);
      }
    });
  },
  extent: () => null,
  rank: () => 0,
};

/** The state at a time. */
export function stateAt(mark: States, known: State[], time: number): State | undefined {
  const at = indexAt(mark.startS, time);
  return time <= (mark.endS[at] ?? -1) ? known[mark.state[at] ?? -1] : undefined;
}

/** Inside a block that has room for it; above one that is too low. */
function name(pen: Pen, state: State, from: number, to: number, top: number, height: number, tall: number): void {
  const { ctx, ratio, theme } = pen;
  if (laneHeight(pen.view) < NAMED || to - from < 34 * ratio) return;
  const word = shorter(state.word).find((one) => ctx.measureText(one).width + 8 * ratio < to - from);
  if (!word) return;
  const inside = tall > 13 * ratio;
  if (!inside && height - tall < 11 * ratio) return;
  ctx.textAlign = "center";
  ctx.fillStyle = inside ? readableOn(theme.of(state), theme.color("ground")) : theme.color("soft");
  ctx.fillText(word, (from + to) / 2, inside ? top + height - tall / 2 : top + (height - tall) / 2);
}

/** `PROBE_BW: UP`, or `UP` where that has no room. */
function shorter(word: string): string[] {
  const [, part] = word.split(": ");
  return part ? [word, part] : [word];
}

/** Black or white, whichever contrasts more with `#rrggbb`. */
function readableOn(ground: string, fallback: string): string {
  const [red, green, blue] = [1, 3, 5].map((i) => Number.parseInt(ground.slice(i, i + 2), 16) / 255);
  if (red === undefined || green === undefined || blue === undefined) return fallback;
  return 0.2126 * red ** 2.2 + 0.7152 * green ** 2.2 + 0.0722 * blue ** 2.2 > 0.2 ? "#000000" : "#ffffff";
}
