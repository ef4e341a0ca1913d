// Which varied key is drawn how, and which cells that makes visible.

import { type Axis, type Entry, entryKey, type Study } from "./data";

export interface Layout {
  /** Index of the axis that is horizontal. */
  x: number | null;
  /** Index of the axis whose values are curves. */
  lines: number | null;
  /** Of each axis, the value that is shown where it is neither. */
  fixed: number[];
}

/** A curve: what it is of, and the value of the second key. */
export interface Column {
  of: string;
  line: number | null;
  label: string;
  hue: number;
  dash: number;
}

export const HUES = 6;

export class Cells {
  private readonly places = new Map<string, number>();

  constructor(private readonly study: Study) {
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

export function horizontal(study: Study, layout: Layout): Axis | null {
  return layout.x === null ? null : (study.axes[layout.x] ?? null);
}

export function second(study: Study, layout: Layout): Axis | null {
  return layout.lines === null ? null : (study.axes[layout.lines] ?? null);
}

/** Curves of these things, whether or not they have points. */
export function columns(study: Study, layout: Layout, of: string[]): Column[] {
  const axis = second(study, layout);
  const lines = axis ? axis.texts.map((_, i) => i) : [null];
  return of.flatMap((name) =>
    lines.map((line) => {
      const [hue, dash] = of.length > 1 ? [study.of.indexOf(name), line ?? 0] : [line ?? 0, 0];
      const parts = of.length > 1 || !axis ? [name] : [];
      if (axis && line !== null) parts.push(`${axis.label} ${axis.texts[line]}`);
      return { of: name, line, label: parts.filter(Boolean).join(", "), hue, dash: dash + Math.floor(hue / HUES) };
    }),
  );
}

/** Entries of a curve along the horizontal axis; undefined where there is none. */
export function along(
  study: Study,
  cells: Cells,
  layout: Layout,
  column: Column,
  known: Map<string, Entry>,
): (Entry | undefined)[] {
  const axis = horizontal(study, layout);
  const xs = axis ? axis.texts.map((_, i) => i) : [0];
  return xs.map((x) => {
    const cell = cells.at(layout, x, column.line);
    return cell === undefined ? undefined : known.get(entryKey(cell, column.of));
  });
}
