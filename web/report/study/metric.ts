// A metric against the swept value: curves with bands, grouped bars, or a plot of bars for each value.

import type { Axis, Figure, Series, Shape } from "../../charts/figure";
import type { StudyAxis, StudyPage, StudyPanel } from "../../charts/model";
import { digits } from "../../charts/numbers";
import type { Entries, Entry } from "./data";
import { along, type Cells, columns, horizontal, keyOf, type Layout } from "./layout";
import { areRowsApart, sharedRange } from "./scale";

/** The plots of a metric: one, or one for each value of the horizontal key where their bars are far apart. */
export function metric(study: StudyPage, cells: Cells, layout: Layout, panel: StudyPanel, known: Entries): Figure[] {
  const axis = horizontal(study, layout);
  if (!axis || axis.kind !== "category" || !areRowsApart(study, layout, known)) return [plot(study, cells, layout, panel, known)];
  const every = axis.texts.flatMap((heading, value) => {
    const fixed = layout.fixed.map((index, i) => (i === layout.x ? value : index));
    const one = plot(study, cells, { x: null, lines: layout.lines, fixed }, panel, known);
    return one.series.length ? [{ ...one, name: `${heading}. ${one.name}`, heading }] : [];
  });
  const drawn = spread(every.length, study.mostPlots).flatMap((i) => every[i] ?? []);
  const last = drawn.at(-1);
  if (last && drawn.length < every.length) last.x.title = `${drawn.length} of ${every.length} plots`;
  return drawn;
}

function plot(study: StudyPage, cells: Cells, layout: Layout, panel: StudyPanel, known: Entries): Figure {
  const axis = horizontal(study, layout);
  const isBars = !axis || axis.kind === "category";
  const place = (i: number) => (isBars ? i : (axis.at[i] ?? 0));
  const drawn = columns(study, layout, panel.of)
    .map((column) => ({ column, found: along(study, cells, layout, column, known) }))
    .filter(({ found }) => found.some(Boolean));
  const series = drawn.map(({ column, found }, row): Series => {
    // Without a horizontal key each bar stands above its name.
    const at = axis ? place : () => row;
    const shapes = isBars ? bars(found, at) : curves(found, at);
    const spots = found.flatMap((entry, i) => {
      if (!entry) return [];
      const words = [cells.words(entry.cell), column.of, ...told(entry, panel, study), doubt(study, entry.cell)].filter(Boolean);
      return [{ x: at(i), y: entry.mean, row: axis ? row : 0, words, cell: entry.cell, of: entry.of }];
    });
    return { key: keyOf(column), label: column.label, color: column.colour, dash: column.colour?.dash ?? 0, shapes, spots };
  });
  return {
    name: `${panel.title}: arrow keys go from point to point`,
    x: axis ? axisOf(axis) : { kind: "category", ticks: series.map(({ label }, i) => ({ at: i, text: label })), range: null, title: "" },
    y: { kind: "linear", ticks: [], range: sharedRange(study, layout, known), title: panel.unit },
    series,
  };
}

function axisOf(axis: StudyAxis): Axis {
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

function bars(found: (Entry | undefined)[], at: (i: number) => number): Shape[] {
  return found.flatMap((entry, i): Shape[] => {
    if (!entry) return [];
    const bar: Shape = { kind: "bar", x: at(i), value: entry.mean };
    if (entry.low === null || entry.high === null) return [bar];
    return [bar, { kind: "whisker", x: at(i), low: entry.low, high: entry.high }];
  });
}

/** Indices, evenly spread, first and last among them. */
function spread(count: number, most: number): number[] {
  if (count <= most) return [...Array(count).keys()];
  return [...new Set(Array.from({ length: most }, (_, i) => Math.round((i * (count - 1)) / (most - 1))))];
}
