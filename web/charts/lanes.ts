// Strips along the time axis, in rows, with a name each.

import type { Lane, Mark, View } from "./model";
import { colorOf, type Pen } from "./pen";

const TICKS = 13;
const GAP = 6;
/** Heights of a row of states, by the number of rows. */
const STATES = [30, 24, 24, 20];
const MANY = 16;
/** The distance of two lines of a row's name. */
const LINE = 11;

/** Neighbouring lanes of one name and group. */
export interface Row {
  name: string;
  group: number | null;
  /** Indices of its lanes. */
  lanes: number[];
}

export function rowsOf(view: View): Row[] {
  const rows: Row[] = [];
  view.lanes.forEach(({ name, group }, i) => {
    const last = rows.at(-1);
    if (last?.name === name && last.group === group) last.lanes.push(i);
    else rows.push({ name, group, lanes: [i] });
  });
  return rows;
}

export function hasStates(marks: readonly Mark[]): boolean {
  return marks.some((mark) => mark.kind === "state");
}

/** The height of one lane, in pixels of the screen. */
export function laneHeight(view: View): number {
  return hasStates(view.marks) ? (STATES[view.lanes.length - 1] ?? MANY) : TICKS;
}

/** The height of a plot of lanes, with its axis. */
export function heightOf(view: View): number {
  return view.lanes.length * laneHeight(view) + rowsOf(view).length * GAP + 30;
}

/** The place of a lane on the canvas. */
export function placeOf(pen: Pen, lane: number): { top: number; height: number } {
  const height = laneHeight(pen.view);
  const row = rowsOf(pen.view).findIndex(({ lanes }) => lanes.includes(lane));
  return { top: pen.box.top + (GAP / 2 + row * GAP + lane * height) * pen.ratio, height: height * pen.ratio };
}

/** Names on the left, with the colours of states' flows; on the right how many events each lane has. */
export function drawLabels(pen: Pen, counts: (lane: number) => number): void {
  const { ctx, ratio, box, theme, view } = pen;
  const withStates = hasStates(view.marks);
  ctx.textBaseline = "middle";
  rowsOf(view).forEach((row, i) => {
    const first = placeOf(pen, row.lanes[0] ?? 0);
    const height = first.height * row.lanes.length;
    if (withStates) {
      ctx.fillStyle = colorOf(pen, row.group);
      ctx.fillRect(box.left - 4 * ratio, first.top, 2.5 * ratio, height);
    } else if (i > 0) {
      ctx.fillStyle = theme.color("grid");
      ctx.fillRect(box.left, Math.round(first.top - (GAP / 2) * ratio), box.right - box.left, ratio);
    }
    ctx.fillStyle = theme.color("ink");
    ctx.textAlign = "right";
    const room = box.left - 10 * ratio;
    const lines = ctx.measureText(row.name).width > room ? halves(row.name) : [row.name];
    lines.forEach((line, n) => {
      const middle = first.top + height / 2 + (n - (lines.length - 1) / 2) * LINE * ratio;
      ctx.fillText(line, box.left - (withStates ? 9 : 8) * ratio, middle, room);
    });
    if (!withStates) for (const lane of row.lanes) drawCount(pen, lane, counts(lane));
  });
}

function drawCount(pen: Pen, lane: number, count: number): void {
  const { ctx, ratio, box } = pen;
  const of = pen.view.lanes[lane] as Lane;
  const { top, height } = placeOf(pen, lane);
  const word = pen.hasGutter ? of.word : `${of.word.slice(0, 2)}.`;
  ctx.fillStyle = pen.theme.color("soft");
  ctx.textAlign = "left";
  const x = box.right + 6 * ratio;
  ctx.fillText(`${count.toLocaleString("en")} ${word}`, x, top + height / 2, ctx.canvas.width - x);
}

/** A name of several words on two lines, about as long as each other. */
function halves(name: string): string[] {
  const words = name.split(" ");
  const length = (count: number): number =>
    Math.max(words.slice(0, count).join(" ").length, words.slice(count).join(" ").length);
  const counts = words.map((_, n) => n + 1).sort((a, b) => length(a) - length(b));
  const first = counts[0] ?? words.length;
  return [words.slice(0, first), words.slice(first)].filter((line) => line.length > 0).map((line) => line.join(" "));
}
