// The vertical axis of a metric's plot, as pictures have it: the same whatever the reader chooses of the other keys.

import type { StudyPage } from "../../charts/model";
import type { Entries, Entry } from "./data";
import type { Layout } from "./layout";

/** Lowest and highest value of all plots that the reader can choose among, 0 among them. Null: the axis is that of the plot,
 * as it is the only one, or as the largest values of plots are so far apart that small ones would be flat lines. */
export function sharedRange(study: StudyPage, layout: Layout, known: Entries): [number, number] | null {
  const sizes = new Map<string, number>();
  let [low, high] = [0, 0];
  for (const { entry, plot } of placed(study, layout, known)) {
    grow(sizes, plot, entry);
    low = Math.min(low, entry.low ?? entry.mean);
    high = Math.max(high, entry.high ?? entry.mean);
  }
  if (sizes.size < 2 || ![...sizes.values()].some((size) => size > 0) || areApart(sizes, study.mostApart)) return null;
  return [low, high + 0.05 * (high - low)];
}

/** True if bars at one value of the horizontal key would be flat lines beside those at another, in any plot that the reader can
 * choose, and several bars stand at a value: each value then has a plot, as in pictures. */
export function areRowsApart(study: StudyPage, layout: Layout, known: Entries): boolean {
  if (study.rowsApart === null || layout.x === null) return false;
  const plots = new Map<string, { rows: Map<string, number>; columns: Set<string> }>();
  for (const { entry, plot, x, line } of placed(study, layout, known)) {
    const { rows, columns } = plots.get(plot) ?? { rows: new Map<string, number>(), columns: new Set<string>() };
    grow(rows, String(x), entry);
    plots.set(plot, { rows, columns: columns.add(`${entry.of} ${line}`) });
  }
  const most = study.rowsApart;
  return [...plots.values()].some(({ rows, columns }) => columns.size > 1 && areApart(rows, most));
}

interface Placed {
  entry: Entry;
  /** Values of the keys that are neither horizontal nor curves. */
  plot: string;
  x: number | undefined;
  line: number | undefined;
}

function placed(study: StudyPage, { x, lines }: Layout, known: Entries): Placed[] {
  return [...known.values()].flatMap((entry) => {
    const indices = study.axes.map((axis) => axis.cells[entry.cell] ?? -1);
    if (indices.some((index) => index < 0)) return [];
    const plot = indices.filter((_, i) => i !== x && i !== lines).join();
    return [{ entry, plot, x: x === null ? undefined : indices[x], line: lines === null ? undefined : indices[lines] }];
  });
}

function grow(sizes: Map<string, number>, key: string, entry: Entry): void {
  sizes.set(key, Math.max(sizes.get(key) ?? 0, Math.abs(entry.mean)));
}

/** True if the largest of these values is more than `times` the smallest; zeros don't count. */
function areApart(sizes: Map<string, number>, times: number): boolean {
  const some = [...sizes.values()].filter((size) => size > 0);
  return Math.max(...some) > times * Math.min(...some);
}
