// The place of each varied key in the plot, and the cells that are therefore visible.

import type { Colour, StudyAxis, StudyPage } from "../../charts/model";
import { type Entries, type Entry, entryKey } from "./data";

export interface Layout {
  /** Index of the axis that is horizontal. */
  x: number | null;
  /** Index of the axis whose values are curves. */
  lines: number | null;
  /** The shown value of each axis that is neither. */
  fixed: number[];
}

/** A curve: what it is of, and the value of the second key. */
export interface Column {
  of: string;
  line: number | null;
  label: string;
  /** Null: there is no other curve. */
  colour: Colour | null;
}

/** The key that the legend shows and hides, in all charts. */
export function keyOf(column: Column): string {
  return `${column.of} ${column.line}`;
}

export class Cells {
  private readonly places = new Map<string, number>();

  constructor(private readonly study: StudyPage) {
    const count = study.axes[0]?.cells.length ?? 1;
    for (let cell = 0; cell < count; cell++) {
      this.places.set(study.axes.map((axis) => axis.cells[cell]).join(), cell);
    }
  }

  /** The cell at these values of both keys; the others have theirs. */
  at(layout: Layout, x: number, line: number | null): number | undefined {
    const indices = this.study.axes.map((_, i) => (i === layout.x ? x : i === layout.lines ? line : layout.fixed[i]));
    return this.places.get(indices.join());
  }

  /** `buffer 1 bdp, rate 10 Mbit/s` */
  words(cell: number): string {
    return this.study.axes.map((axis) => `${axis.label} ${axis.texts[axis.cells[cell] ?? 0]}`).join(", ");
  }
}

export function horizontal(study: StudyPage, layout: Layout): StudyAxis | null {
  return layout.x === null ? null : (study.axes[layout.x] ?? null);
}

export function second(study: StudyPage, layout: Layout): StudyAxis | null {
  return layout.lines === null ? null : (study.axes[layout.lines] ?? null);
}

/** Curves of these things, whether or not they have points. */
export function columns(study: StudyPage, layout: Layout, of: string[]): Column[] {
  const axis = second(study, layout);
  const lines = axis ? axis.texts.map((_, i) => i) : [null];
  return of.flatMap((name) =>
    lines.map((line) => {
      const parts = of.length > 1 || !axis ? [name] : [];
      if (axis && line !== null) parts.push(`${axis.label} ${axis.texts[line]}`);
      return { of: name, line, label: parts.filter(Boolean).join(", "), colour: colourOf(study, axis, name, line, of.length > 1) };
    }),
  );
}

/** The algorithm's colour, dashed by the second key; without algorithms the colour of the second key's value. */
function colourOf(study: StudyPage, axis: StudyAxis | null, of: string, line: number | null, several: boolean): Colour | null {
  if (!several) return axis && line !== null ? (axis.colours[line] ?? null) : null;
  const own = study.colours[study.of.indexOf(of)];
  return own ? { ...own, dash: own.dash + (line ?? 0) } : null;
}

/** Entries of a curve along the horizontal axis; undefined where there is none. */
export function along(
  study: StudyPage,
  cells: Cells,
  layout: Layout,
  column: Column,
  known: Entries,
): (Entry | undefined)[] {
  const axis = horizontal(study, layout);
  const xs = axis ? axis.texts.map((_, i) => i) : [0];
  return xs.map((x) => {
    const cell = cells.at(layout, x, column.line);
    return cell === undefined ? undefined : known.get(entryKey(cell, column.of));
  });
}
