// The content of a chart of few points, independent of its size: averages with their intervals, bars, distributions, a
// heat map.

import type { Hued } from "./theme";

export interface Axis {
  kind: "linear" | "log" | "category";
  /** Values, or places of categories from 0. */
  ticks: { at: number; text: string }[];
  /** First and last value; null: round numbers from 0, or below, to the highest that is shown. */
  range: [number, number] | null;
  title: string;
}

export type Shape =
  | { kind: "line"; points: [number, number][]; hasDots: boolean }
  /** x, lowest and highest value. */
  | { kind: "band"; points: [number, number, number][] }
  | { kind: "whisker"; x: number; low: number; high: number }
  /** A bar from 0, at a category, beside those of other series. */
  | { kind: "bar"; x: number; value: number }
  /** A square at two categories; `share`: its place between the lowest and the highest value. */
  | { kind: "cell"; x: number; y: number; share: number; text: string };

/** A place that the reader can point at, by mouse, finger or keys, and open. */
export interface Spot {
  x: number;
  y: number;
  /** The line in which arrow keys go left and right. */
  row: number;
  words: string[];
  cell: number;
  of: string;
}

export interface Series {
  /** The key that the legend shows and hides, the same in all charts of a page. */
  key: string;
  label: string;
  /** Null: the only one. */
  color: Hued | null;
  dash: number;
  shapes: Shape[];
  spots: Spot[];
}

export interface Figure {
  /** A description for readers who do not see the chart. */
  name: string;
  /** Above the plot, where several stand side by side. */
  heading?: string;
  x: Axis;
  y: Axis;
  series: Series[];
}

/** A figure that goes on with what came since: lines and bands of the same series, at later values. */
export function joined(figure: Figure, more: Figure): Figure {
  const series = figure.series.map((one) => {
    const next = more.series.find(({ key }) => key === one.key);
    return next ? { ...one, shapes: together(one.shapes, next.shapes), spots: [...one.spots, ...next.spots] } : one;
  });
  const known = new Set(figure.series.map(({ key }) => key));
  return { ...more, series: [...series, ...more.series.filter(({ key }) => !known.has(key))] };
}

function together(first: Shape[], second: Shape[]): Shape[] {
  const rest = [...second];
  const grown = first.map((shape): Shape => {
    const i = rest.findIndex((one) => one.kind === shape.kind);
    const [next] = i >= 0 && (shape.kind === "line" || shape.kind === "band") ? rest.splice(i, 1) : [];
    if (shape.kind === "line" && next?.kind === "line") return { ...shape, points: [...shape.points, ...next.points] };
    if (shape.kind === "band" && next?.kind === "band") return { ...shape, points: [...shape.points, ...next.points] };
    return shape;
  });
  return [...grown, ...rest];
}

/** Lowest and highest value, 0 among them. */
export function fit(series: Series[]): [number, number] {
  const values = series.flatMap(({ shapes }) => shapes.flatMap(valuesOf));
  const low = Math.min(0, ...values);
  return [low, Math.max(low + 1e-9, ...values)];
}

function valuesOf(shape: Shape): number[] {
  switch (shape.kind) {
    case "line":
      return shape.points.map(([, value]) => value);
    case "band":
      return shape.points.flatMap(([, low, high]) => [low, high]);
    case "whisker":
      return [shape.low, shape.high];
    case "bar":
      return [shape.value];
    case "cell":
      return [];
  }
}
