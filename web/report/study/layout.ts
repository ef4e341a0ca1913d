// The place of each varied key in the plot, and the cells that are therefore visible.

import type { Curve, StudyAxis, StudyPage } from "../../charts/model";
import { type Entries, type Entry, entryKey } from "./data";

export interface Layout {
  /** Index of the axis that is horizontal. */
  x: number | null;
  /** Index of the axis whose values are curves. */
  lines: number | null;
  /** The shown value of each axis that is neither. */
  fixed: number[];
}

/** A curve with its scope and its value of the second key. */
export interface Column extends Curve {
  of: string;
  line: number | null;
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

/** Curves of these scopes, whether or not they have points. */
export function columns(study: StudyPage, layout: Layout, of: string[]): Column[] {
  const looks = study.curves[layout.lines ?? study.axes.length];
  return of.flatMap((name) => (looks?.[name] ?? []).map((curve, i) => ({ ...curve, of: name, line: layout.lines === null ? null : i })));
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
