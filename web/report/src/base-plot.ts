// What every plot on the time axis has in common: size, time scale, crosshair, drag to zoom.

import uPlot from "uplot";
import { bindInput } from "./input";
import { color, FONT } from "./theme";
import type { TimeAxis } from "./time-axis";

const SYNC_KEY = "time";
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

export function timeAxisOptions(axis: TimeAxis): Pick<uPlot.Options, "cursor" | "legend"> & {
  scale: uPlot.Scale;
  axisX: uPlot.Axis;
} {
  return {
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false },
      sync: {
        key: SYNC_KEY,
        scales: ["x", null],
        setSeries: false,
        // A drag belongs to the plot in which it began; the axis tells the others.
        filters: { pub: (type) => type === "mousemove" || type === "mouseleave" },
      },
      bind: {
        dblclick: () => () => {
          axis.reset();
          return null;
        },
      },
    },
    scale: { time: false, range: () => [axis.min, axis.max] },
    axisX: {
      font: FONT,
      size: 24,
      gap: 4,
      space: 64,
      stroke: () => color("--soft"),
      grid: { stroke: () => color("--grid"), width: 1 },
      ticks: { show: false },
      values: (_, ticks, __, ___, step) => ticks.map((tick) => `${seconds(tick, step)} s`),
    },
  };
}

/** The axis of values: on the left, or a second one on the right. */
export function valueAxisOptions(
  scale: string,
  width: number,
  values: (tick: number) => string = label,
  side: 1 | 3 = 3,
): uPlot.Axis {
  const { left, right } = gutters(width);
  return {
    scale,
    side,
    size: side === 3 ? left : right,
    font: FONT,
    gap: 6,
    space: 32,
    stroke: () => color("--soft"),
    grid: { show: side === 3, stroke: () => color("--grid"), width: 1 },
    ticks: { show: false },
    values: (_, ticks) => ticks.map(values),
  };
}

export function label(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: 6 });
}

/** Connect a plot with the axis: zoom by drag, keys and fingers; follow the others. */
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
