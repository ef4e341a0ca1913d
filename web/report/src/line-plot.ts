// A panel of curves over time.

import uPlot from "uplot";
import { gutters, join, label, timeAxisOptions, valueAxisOptions, zoomToSelection } from "./base-plot";
import type { Line, Panel, Report, View } from "./data";
import { drawChanges, drawMarks, drawReferences } from "./references";
import { color, groupColor } from "./theme";
import type { TimeAxis } from "./time-axis";

const HEIGHT = 172;
const MANY = 24;

export class LinePlot {
  readonly u: uPlot;
  private view: View;

  constructor(
    private readonly panel: Panel,
    private readonly report: Report,
    private readonly axis: TimeAxis,
    host: HTMLElement,
    onCursor: (plot: LinePlot) => void,
  ) {
    this.view = panel.views[0] as View;
    this.u = new uPlot(this.options(host.clientWidth, onCursor), this.data(), host);
    join(this.u, axis, host);
  }

  get shown(): View {
    return this.view;
  }

  /** Value under the crosshair of each group's first curve, in the order of `view.lines`. */
  valuesAtCursor(): (number | null)[] | null {
    const index = this.u.cursor.idx;
    if (index == null || (this.u.cursor.left ?? -1) < 0) return null;
    return this.view.lines.map((line) => line.values[index] ?? null);
  }

  select(view: View): void {
    this.view = view;
    this.u.setData(this.data());
    this.axis.show(this.axis.min, this.axis.max);
  }

  setVisible(group: number, visible: boolean): void {
    this.u.batch(() => {
      this.view.lines.forEach((line, i) => {
        if (line.group === group) this.u.setSeries(i + 1, { show: visible });
      });
    });
  }

  resize(width: number): void {
    const { left, right } = gutters(width);
    const [, y, second] = this.u.axes;
    if (y) y.size = () => left;
    if (second) second.size = () => right;
    this.u.setSize({ width, height: HEIGHT });
  }

  private data(): uPlot.AlignedData {
    return [this.view.time, ...this.view.lines.map((line) => line.values)];
  }

  private options(width: number, onCursor: (plot: LinePlot) => void): uPlot.Options {
    const common = timeAxisOptions(this.axis);
    const second = this.view.second;
    return {
      width,
      height: HEIGHT,
      padding: [8, second ? 0 : (u) => gutters(u.width).right, 0, 0],
      legend: common.legend ?? {},
      cursor: {
        ...common.cursor,
        points: this.view.lines.length > MANY ? { show: false } : { size: 6, width: 1.5, fill: () => color("--ground") },
      },
      scales: {
        x: common.scale,
        y: { range: (_, low, high) => this.range(low, high) },
        ...(second && { second: { from: "y", range: (_, low, high) => [this.inSecond(low), this.inSecond(high)] } }),
      },
      axes: [
        common.axisX,
        valueAxisOptions("y", width),
        ...(second ? [valueAxisOptions("second", width, (tick) => this.secondLabel(tick), 1)] : []),
      ],
      series: [{}, ...this.view.lines.map((line) => this.series(line))],
      hooks: {
        setSelect: [zoomToSelection(this.axis)],
        // uPlot calls it once before its constructor returns.
        setCursor: [() => this.u && onCursor(this)],
        draw: [(u) => this.drawOver(u, second !== null)],
      },
    };
  }

  private drawOver(u: uPlot, labelsInside: boolean): void {
    for (const marks of this.view.marks) drawMarks(u, marks);
    drawReferences(u, this.view, labelsInside);
    drawChanges(u, this.report.changes, this.panel === this.report.panels[0]);
  }

  /** Another link may have another rate, or none that bytes tell a time by. */
  private inSecond(value: number): number {
    return value * (this.view.second?.factor ?? 1);
  }

  private secondLabel(tick: number): string {
    return this.view.second ? `${label(tick)} ${this.view.second.unit}` : "";
  }

  private series({ group, level }: Line): uPlot.Series {
    const of = group === null ? undefined : this.report.groups[group];
    const many = this.view.lines.length > MANY;
    if (level) return { stroke: () => color("--reference"), width: 1.25, dash: [5, 4], points: { show: false } };
    return {
      stroke: () => groupColor(of),
      width: many ? 0.75 : of ? 1.4 : 1,
      alpha: many ? 0.4 : 1,
      ...(of?.dash.length && { dash: of.dash }),
      ...(!of && { fill: () => color("--queue-fill") }),
      points: many ? { show: false } : { size: 4, fill: () => color("--ground") },
    };
  }

  /** From 0, or from just below the lowest curve or reference, to just above the highest. */
  private range(low: number | null, high: number | null): [number, number] {
    const levels = this.view.references.map((reference) => reference.value);
    const top = Math.max(high ?? 0, ...levels);
    const bottom = this.panel.fromZero ? 0 : Math.min(low ?? top, ...levels);
    const margin = (top - bottom || top || 1) * 0.06;
    return [this.panel.fromZero ? 0 : Math.max(0, bottom - margin), top + margin];
  }
}
