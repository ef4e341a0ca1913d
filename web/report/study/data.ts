// Points and values of a study, by what they are of.

import type { StudyPanel } from "../../charts/model";

export interface Entry {
  cell: number;
  of: string;
  n: number;
  mean: number;
  low: number | null;
  high: number | null;
  median: number;
  sd: number | null;
}

/** Cell and what it is of -> entry. */
export type Entries = Map<string, Entry>;

export function entries(panel: StudyPanel): Entries {
  return new Map(
    panel.points.map(([cell, of, n, mean, low, high, median, sd]) => {
      const name = panel.of[of] ?? "";
      return [entryKey(cell, name), { cell, of: name, n, mean, low, high, median, sd }];
    }),
  );
}

export function entryKey(cell: number, of: string): string {
  return `${cell} ${of}`;
}

/** Values of a panel for one algorithm: run -> value. */
export function valuesOf(panel: StudyPanel, of: string): Map<number, number> {
  const found = new Map<number, number>();
  if (!panel.values) return found;
  const { run, of: which, value } = panel.values;
  const wanted = panel.of.indexOf(of);
  run.forEach((number, i) => {
    if (which[i] === wanted) found.set(number, value[i] ?? NaN);
  });
  return found;
}
