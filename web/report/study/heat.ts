// A metric over two varied keys.

import type { Figure, Shape, Spot } from "../../charts/figure";
import type { StudyPage, StudyPanel } from "../../charts/model";
import { digits } from "../../charts/numbers";
import { type Entries, type Entry, entryKey } from "./data";
import type { Cells, Layout } from "./layout";
import { doubt, told } from "./metric";

/** The drawn keys: indices of axes, and of the others' values. */
export interface Keys {
  x: number;
  y: number;
  fixed: number[];
}

export function heat(study: StudyPage, cells: Cells, { x, y, fixed }: Keys, panel: StudyPanel, known: Entries, of: string): Figure {
  const [across, up] = [study.axes[x], study.axes[y]];
  const shown: { entry: Entry; i: number; j: number }[] = [];
  const there: Layout = { x, lines: y, fixed };
  across?.texts.forEach((_, i) =>
    up?.texts.forEach((_, j) => {
      const cell = cells.at(there, i, j);
      const entry = cell === undefined ? undefined : known.get(entryKey(cell, of));
      if (entry) shown.push({ entry, i, j });
    }),
  );
  const means = shown.map(({ entry }) => entry.mean);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const shapes = shown.map(({ entry, i, j }): Shape => {
    const share = high > low ? (entry.mean - low) / (high - low) : 0.5;
    return { kind: "cell", x: i, y: j, share, text: digits(entry.mean) };
  });
  const spots = shown.map(({ entry, i, j }): Spot => {
    const words = [cells.words(entry.cell), of, ...told(entry, panel, study), doubt(study, entry.cell)].filter(Boolean);
    return { x: i, y: j, row: -j, words, cell: entry.cell, of };
  });
  const places = (ticks: string[] = []) => ticks.map((text, at) => ({ at, text }));
  return {
    name: `${panel.title}: arrow keys go from square to square`,
    x: { kind: "category", ticks: places(across?.ticks), range: null, title: across?.title ?? "" },
    y: { kind: "category", ticks: places(up?.ticks), range: null, title: up?.title ?? "" },
    series: [{ key: "heat", label: "", color: null, dash: 0, shapes, spots }],
  };
}
