// Axes, grid and crosshair of charts: uPlot draws them.

import type uPlot from "uplot";
import { bindInput } from "./input";
import { FONT, type Theme } from "./theme";
import type { TimeAxis } from "./time-axis";

const NARROW = 560;

export function gutters(width: number): { left: number; right: number } {
  return width < NARROW ? { left: 44, right: 40 } : { left: 54, right: 74 };
}

export function isNarrow(width: number): boolean {
  return width < NARROW;
}

/** Seconds with as many digits as neighbouring ticks need. */
export function seconds(value: number, step: number): string {
  let digits = 0;
  while (digits < 6 && !nearInteger(step * 10 ** digits)) digits++;
  return value.toFixed(digits);
}

function nearInteger(value: number): boolean {
  return value >= 0.999 && Math.abs(value - Math.round(value)) < 1e-6;
}

type Cursor = uPlot.Cursor;

/** A crosshair that has the same place in all charts of one horizontal axis. */
export function crosshair(key: string, drag: boolean, onDoubleClick: () => void): Cursor {
  return {
    y: false,
    points: { show: false },
    drag: { x: drag, y: false, setScale: false },
    sync: {
      key,
      scales: ["x", null],
      setSeries: false,
      // A drag belongs to the plot in which it began; the axis tells the others.
      filters: { pub: (type) => type === "mousemove" || type === "mouseleave" },
    },
    bind: {
      dblclick: () => () => {
        onDoubleClick();
        return null;
      },
    },
  };
}

/** `values`: the labels of ticks; `size`: 0 leaves them out and keeps the grid. */
export function horizontal(theme: Theme, values: uPlot.Axis.DynamicValues, size = 24): uPlot.Axis {
  return {
    font: FONT,
    size,
    gap: 4,
    space: 64,
    stroke: () => theme.color("soft"),
    grid: { stroke: () => theme.color("grid"), width: 1 },
    ticks: { show: false },
    values,
  };
}

export const SECONDS: uPlot.Axis.DynamicValues = (_, ticks, __, ___, step) => ticks.map((tick) => `${seconds(tick, step)} s`);

/** The axis of values: on the left, or a second one on the right. */
export function vertical(theme: Theme, width: number, values: (tick: number) => string = label, side: 1 | 3 = 3): uPlot.Axis {
  const { left, right } = gutters(width);
  return {
    scale: side === 3 ? "y" : "second",
    side,
    size: side === 3 ? left : right,
    font: FONT,
    gap: 6,
    space: 32,
    stroke: () => theme.color("soft"),
    grid: { show: side === 3, stroke: () => theme.color("grid"), width: 1 },
    ticks: { show: false },
    // On a logarithmic axis some ticks have no label.
    values: (_, ticks) => ticks.map((tick: number | null) => (tick === null ? null : values(tick))),
  };
}

/** An empty axis of values: room for names of lanes. */
export function noAxis(width: number): uPlot.Axis {
  return { size: gutters(width).left, ticks: { show: false }, grid: { show: false }, values: () => [] };
}

/** Millions are M: more than seven characters don't fit beside a chart. */
export function label(value: number): string {
  const notation = Math.abs(value) >= 1e6 ? "compact" : "standard";
  return value.toLocaleString("en", { notation, maximumFractionDigits: 6 });
}

/** Connect a chart with the time axis: zoom by drag, keys and fingers; follow the others. */
export function join(u: uPlot, axis: TimeAxis, host: HTMLElement): void {
  axis.add({
    follow: () => u.setScale("x", { min: axis.min, max: axis.max }),
  });
  bindInput(u, axis, host);
}

export function zoomToSelection(axis: TimeAxis): (u: uPlot) => void {
  return (u) => {
    const { left, width } = u.select;
    if (width > 2) axis.show(u.posToVal(left, "x"), u.posToVal(left + width, "x"));
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  };
}
