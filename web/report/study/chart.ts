// A metric against the swept value: curves with bands, or grouped bars.

import { digits } from "../../charts/numbers";
import { type Entry, type Panel, type Study } from "./data";
import { along, type Cells, type Column, columns, horizontal, HUES, type Layout } from "./layout";
import type { Spot } from "./spots";
import { type Box, DASHES, frame, linear, logarithmic, path, round, type Scale, svg, type Tick } from "./svg";

/** Attributes that give a curve its colour. */
export type Palette = (column: Column) => Record<string, string>;

export interface Drawing {
  node: SVGSVGElement;
  spots: Spot[];
  columns: Column[];
}

export const HEIGHT = 262;

interface Drawn {
  column: Column;
  entries: (Entry | undefined)[];
}

export function chart(study: Study, cells: Cells, layout: Layout, panel: Panel, known: Map<string, Entry>, palette: Palette, width: number): Drawing {
  const drawn = columns(study, layout, panel.of)
    .map((column) => ({ column, entries: along(study, cells, layout, column, known) }))
    .filter(({ entries }) => entries.some(Boolean));
  const box = { left: 50, right: width - 14, top: 10, bottom: HEIGHT - 44 };
  const all = drawn.flatMap(({ entries }) => entries.filter((one) => one !== undefined));
  const low = Math.min(0, ...all.map((one) => one.low ?? one.mean));
  const high = Math.max(...all.map((one) => Math.max(one.high ?? one.mean, one.mean)), low + 1e-9);
  const y = linear([low, high + (high - low) * 0.05], [box.bottom, box.top]);
  const ticks = round(low, high).map((value) => ({ at: y(value), text: value.toLocaleString("en", { maximumFractionDigits: 6 }) }));
  const node = svg("svg", { width, height: HEIGHT, role: "img", tabindex: 0, "aria-label": `${panel.title}: arrow keys go from point to point` });
  const axis = horizontal(study, layout);
  const isBars = !axis || axis.kind === "category";
  const { x, marks } = isBars ? bars(axis?.ticks ?? [""], box) : lines(axis.kind, axis.at, axis.ticks, box);
  node.append(frame(box, marks, ticks, axis?.title ?? "", !isBars));
  const spots: Spot[] = [];
  drawn.forEach(({ column, entries }, row) => {
    const at = (i: number) => (isBars ? x(i) + barOffset(row, drawn.length, box, marks.length) : x(axis.at[i] ?? 0));
    const shape = isBars ? barsOf(column, entries, at, y, barWidth(drawn.length, box, marks.length)) : curveOf(column, entries, at, y);
    node.append(svg("g", palette(column), ...shape));
    entries.forEach((entry, i) => {
      if (!entry) return;
      const words = [...[cells.words(entry.cell), column.of].filter(Boolean), ...told(entry, panel, study)];
      spots.push({ x: at(i), y: y(entry.mean), row, words, cell: entry.cell, of: entry.of });
    });
  });
  return { node, spots, columns: drawn.map(({ column }: Drawn) => column) };
}

/** The mean with its interval, n, median and standard deviation. */
export function told(entry: Entry, panel: Panel, study: Study): string[] {
  const unit = panel.unit ? ` ${panel.unit}` : "";
  const interval = entry.low === null || entry.high === null ? "one run: no interval" : `${study.confidence}: ${digits(entry.low)} to ${digits(entry.high)}`;
  const sd = entry.sd === null ? "" : `, s ${digits(entry.sd)}`;
  return [`${digits(entry.mean)}${unit}`, interval, `n = ${entry.n}, median ${digits(entry.median)}${sd}`];
}

/** Attributes that give a curve its colour. */
export function hued(study: Study, column: Column, several: boolean): Record<string, string> {
  const hue = study.hues[column.hue % HUES];
  return hue && several ? { class: "series", style: `--light:${hue.light};--dark:${hue.dark}` } : { class: "series" };
}

function lines(kind: "linear" | "log" | "category", at: number[], texts: string[], box: Box): { x: Scale; marks: Tick[] } {
  const ends: [number, number] = [at[0] ?? 0, at[at.length - 1] ?? 1];
  const x = (kind === "log" ? logarithmic : linear)(ends, [box.left + 10, box.right - 10]);
  return { x, marks: at.map((value, i) => ({ at: x(value), text: texts[i] ?? "" })) };
}

function bars(texts: string[], box: Box): { x: Scale; marks: Tick[] } {
  const step = (box.right - box.left) / texts.length;
  const x = (i: number) => box.left + step * (i + 0.5);
  return { x, marks: texts.map((text, i) => ({ at: x(i), text })) };
}

function barWidth(series: number, box: Box, groups: number): number {
  return Math.min(46, (0.78 * (box.right - box.left)) / groups / series);
}

function barOffset(row: number, series: number, box: Box, groups: number): number {
  return (row - (series - 1) / 2) * barWidth(series, box, groups);
}

function curveOf(column: Column, entries: (Entry | undefined)[], at: (i: number) => number, y: Scale): SVGElement[] {
  const group: SVGElement[] = [];
  for (const run of stretches(entries)) {
    const band = run.filter(({ entry }) => entry.low !== null && entry.high !== null);
    const upper = band.map(({ i, entry }): [number, number] => [at(i), y(entry.high ?? 0)]);
    const lower = band.map(({ i, entry }): [number, number] => [at(i), y(entry.low ?? 0)]).reverse();
    if (band.length > 1) group.push(svg("path", { class: "band", d: `${path([...upper, ...lower])}Z` }));
    const points = run.map(({ i, entry }): [number, number] => [at(i), y(entry.mean)]);
    group.push(svg("path", { class: "curve", d: path(points), "stroke-dasharray": DASHES[column.dash % DASHES.length] ?? "" }));
    for (const { i, entry } of run) {
      if (band.length === 1) group.push(whisker(at(i), entry, y));
      group.push(svg("circle", { cx: at(i), cy: y(entry.mean), r: 3 }));
    }
  }
  return group;
}

/** Neighbours that all have a value. */
function stretches(entries: (Entry | undefined)[]): { i: number; entry: Entry }[][] {
  const found: { i: number; entry: Entry }[][] = [[]];
  entries.forEach((entry, i) => {
    if (entry) found[found.length - 1]?.push({ i, entry });
    else found.push([]);
  });
  return found.filter((run) => run.length);
}

function barsOf(column: Column, entries: (Entry | undefined)[], at: (i: number) => number, y: Scale, width: number): SVGElement[] {
  const group: SVGElement[] = [];
  entries.forEach((entry, i) => {
    if (!entry) return;
    const [top, foot] = [Math.min(y(entry.mean), y(0)), Math.max(y(entry.mean), y(0))];
    const shape = { x: at(i) - width / 2 + 1, y: top, width: Math.max(width - 2, 1), height: foot - top };
    group.push(svg("rect", { class: column.dash % 2 ? "bar pale" : "bar", ...shape }), whisker(at(i), entry, y));
  });
  return group;
}

function whisker(x: number, entry: Entry, y: Scale): SVGPathElement {
  if (entry.low === null || entry.high === null) return svg("path");
  const [low, high] = [y(entry.low), y(entry.high)];
  return svg("path", { class: "whisker", d: `M${x},${low}V${high}M${x - 3},${low}h6M${x - 3},${high}h6` });
}
