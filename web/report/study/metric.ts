// A metric against the swept value: curves with bands, or grouped bars.

import type { Axis, Figure, Series, Shape } from "../../charts/figure";
import type { StudyAxis, StudyPage, StudyPanel } from "../../charts/model";
import { digits } from "../../charts/numbers";
import type { Entries, Entry } from "./data";
import { along, type Cells, columns, horizontal, keyOf, type Layout } from "./layout";
import { sharedRange } from "./scale";

export function metric(study: StudyPage, cells: Cells, layout: Layout, panel: StudyPanel, known: Entries): Figure {
  const axis = horizontal(study, layout);
  const isBars = !axis || axis.kind === "category";
  const place = (i: number) => (isBars ? i : (axis.at[i] ?? 0));
  const drawn = columns(study, layout, panel.of)
    .map((column) => ({ column, found: along(study, cells, layout, column, known) }))
    .filter(({ found }) => found.some(Boolean));
  const series = drawn.map(({ column, found }, row): Series => {
    const shapes = isBars ? bars(found) : curves(found, place);
    const spots = found.flatMap((entry, i) => {
      if (!entry) return [];
      const words = [cells.words(entry.cell), column.of, ...told(entry, panel, study), doubt(study, entry.cell)].filter(Boolean);
      return [{ x: place(i), y: entry.mean, row, words, cell: entry.cell, of: entry.of }];
    });
    return { key: keyOf(column), label: column.label, color: column.colour, dash: column.colour?.dash ?? 0, shapes, spots };
  });
  return {
    name: `${panel.title}: arrow keys go from point to point`,
    x: axisOf(axis),
    y: { kind: "linear", ticks: [], range: sharedRange(study, layout, known), title: panel.unit },
    series,
  };
}

export function axisOf(axis: StudyAxis | null): Axis {
  if (!axis) return { kind: "category", ticks: [{ at: 0, text: "" }], range: null, title: "" };
  const isCategory = axis.kind === "category";
  const ticks = axis.ticks.map((text, i) => ({ at: isCategory ? i : (axis.at[i] ?? 0), text }));
  return { kind: axis.kind, ticks, range: null, title: axis.title };
}

/** `3 of 5 runs suspect`; empty if none is. */
export function doubt(study: StudyPage, cell: number): string {
  const runs = study.runs[cell] ?? [];
  const suspect = runs.filter(([, , , , verdict]) => study.verdicts[verdict]?.startsWith("suspect")).length;
  return suspect ? `${suspect} of ${runs.length} runs suspect` : "";
}

/** The mean with its interval, n, median and standard deviation. */
export function told(entry: Entry, panel: StudyPanel, study: StudyPage): string[] {
  const unit = panel.unit ? ` ${panel.unit}` : "";
  const interval = entry.low === null || entry.high === null ? "one run: no interval" : `${study.confidence}: ${digits(entry.low)} to ${digits(entry.high)}`;
  const sd = entry.sd === null ? "" : `, s ${digits(entry.sd)}`;
  return [`${digits(entry.mean)}${unit}`, interval, `n = ${entry.n}, median ${digits(entry.median)}${sd}`];
}

function curves(found: (Entry | undefined)[], place: (i: number) => number): Shape[] {
  return stretches(found).flatMap((run): Shape[] => {
    const banded = run.filter(({ entry }) => entry.low !== null && entry.high !== null);
    const band = banded.map(({ i, entry }): [number, number, number] => [place(i), entry.low ?? 0, entry.high ?? 0]);
    const [alone] = band;
    const within: Shape[] = band.length > 1 ? [{ kind: "band", points: band }] : alone ? [{ kind: "whisker", x: alone[0], low: alone[1], high: alone[2] }] : [];
    return [...within, { kind: "line", points: run.map(({ i, entry }) => [place(i), entry.mean]), hasDots: true }];
  });
}

/** Neighbours that all have a value. */
function stretches(found: (Entry | undefined)[]): { i: number; entry: Entry }[][] {
  const runs: { i: number; entry: Entry }[][] = [[]];
  found.forEach((entry, i) => {
    if (entry) runs[runs.length - 1]?.push({ i, entry });
    else runs.push([]);
  });
  return runs.filter((run) => run.length);
}

function bars(found: (Entry | undefined)[]): Shape[] {
  return found.flatMap((entry, i): Shape[] => {
    if (!entry) return [];
    const bar: Shape = { kind: "bar", x: i, value: entry.mean };
    if (entry.low === null || entry.high === null) return [bar];
    return [bar, { kind: "whisker", x: i, low: entry.low, high: entry.high }];
  });
}
