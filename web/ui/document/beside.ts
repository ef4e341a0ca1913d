// Where words stand that belong to a steep link: on its upper side, so that they cross neither it nor what lies below.

/** A link is steep from here on: its words stand beside it, not above. */
const STEEP = 0.3;
/** A link is upright below this: its words stand on its right, around its middle. */
const UPRIGHT = 0.2;
/** Pixels from one line of words to the next. */
export const LINE = 15;

export interface Beside {
  anchor: "start" | "end";
  dx: number;
  /** Of the first line's baseline. */
  dy: number;
}

/** For the direction of a link, as a unit vector in pixels; null for a flat one. `gap`: pixels from its middle. */
export function beside(ux: number, uy: number, lines: number, gap: number): Beside | null {
  if (Math.abs(uy) <= STEEP) return null;
  if (Math.abs(ux) < UPRIGHT) return { anchor: "start", dx: gap, dy: 4 - ((lines - 1) * LINE) / 2 };
  const falls = ux * uy > 0;
  // The flatter a link is, the nearer it comes to the words' lower edge.
  return { anchor: falls ? "start" : "end", dx: falls ? gap : -gap, dy: (Math.abs(uy) < 0.55 ? -3 : 1) - (lines - 1) * LINE };
}
