// Every kind of mark: how it is drawn, how much room its values take, and its rank among the others.

import type { Mark, View } from "../model";
import type { Pen } from "../pen";
import { band } from "./band";
import { bars } from "./bars";
import { line } from "./line";
import { points } from "./points";
import { states } from "./states";
import { text } from "./text";
import { ticks } from "./ticks";

/** Lowest and highest value between `from` and `to` on the horizontal axis. */
export type Extent = [number, number] | null;

export interface Painter<M> {
  draw(pen: Pen, mark: M): void;
  extent(mark: M, view: View, from: number, to: number): Extent;
  /** Marks of higher rank are drawn above. Marks of a rank below 0 are drawn below the grid. */
  rank(mark: M, pen: Pen): number;
}

const PAINTERS: { [K in Mark["kind"]]: Painter<Extract<Mark, { kind: K }>> } = {
  line, band, point: points, bar: bars, tick: ticks, state: states, text,
};

function painterOf<M extends Mark>(mark: M): Painter<M> {
  return PAINTERS[mark.kind] as unknown as Painter<M>;
}

/** Draw the marks below the grid, or all others. */
export function draw(pen: Pen, marks: readonly Mark[], beneath: boolean): void {
  const ranked = marks.map((mark) => ({ mark, rank: painterOf(mark).rank(mark, pen) }));
  const chosen = ranked.filter(({ rank }) => rank < 0 === beneath).sort((a, b) => a.rank - b.rank);
  for (const { mark } of chosen) painterOf(mark).draw(pen, mark);
}

export function extent(marks: readonly Mark[], view: View, from: number, to: number): Extent {
  let found: Extent = null;
  for (const mark of marks) {
    const one = painterOf(mark).extent(mark, view, from, to);
    if (one) found = found ? [Math.min(found[0], one[0]), Math.max(found[1], one[1])] : one;
  }
  return found;
}

/** The group whose entry in the legend shows and hides a mark; null: none does. */
export function groupOf(mark: Mark, view: View): number | null {
  if (mark.kind === "text") return null;
  if (mark.kind === "state") return view.lanes[mark.lane]?.group ?? null;
  if (mark.kind === "tick") return mark.lane === null ? null : (view.lanes[mark.lane]?.group ?? null);
  return mark.group;
}

/** A mark that goes on with what `more`, of the same kind, has. */
export function appended<M extends Mark>(mark: M, more: M): M {
  const joined: Record<string, unknown> = { ...mark };
  for (const [key, value] of Object.entries(more)) joined[key] = together(joined[key], value);
  return joined as unknown as M;
}

/** Two arrays joined; for any other values the first. */
export function together(first: unknown, second: unknown): unknown {
  if (!ArrayBuffer.isView(first) || !ArrayBuffer.isView(second)) return first;
  const [a, b] = [first as Float64Array, second as Float64Array];
  const made = new (a.constructor as Float64ArrayConstructor)(a.length + b.length);
  made.set(a);
  made.set(b, a.length);
  return made;
}
