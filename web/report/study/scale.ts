// The vertical axis of a metric's plot, as pictures have it: the same whatever the reader chooses of the other keys.

import type { StudyPage } from "../../charts/model";
import type { Entries } from "./data";
import type { Layout } from "./layout";

/** Lowest and highest value of all plots that the reader can choose among, 0 among them. Null: the axis is that of the plot,
 * as it is the only one, or as the largest values of plots are so far apart that small ones would be flat lines. */
export function sharedRange(study: StudyPage, layout: Layout, known: Entries): [number, number] | null {
  const sizes = new Map<string, number>();
  let [low, high] = [0, 0];
  for (const entry of known.values()) {
    const indices = study.axes.map((axis) => axis.cells[entry.cell] ?? -1);
    if (indices.some((index) => index < 0)) continue;
    const plot = indices.filter((_, i) => i !== layout.x && i !== layout.lines).join();
    sizes.set(plot, Math.max(sizes.get(plot) ?? 0, Math.abs(entry.mean)));
    low = Math.min(low, entry.low ?? entry.mean);
    high = Math.max(high, entry.high ?? entry.mean);
  }
  const some = [...sizes.values()].filter((size) => size > 0);
  if (sizes.size < 2 || !some.length || Math.max(...some) > study.mostApart * Math.min(...some)) return null;
  return [low, high + 0.05 * (high - low)];
}
