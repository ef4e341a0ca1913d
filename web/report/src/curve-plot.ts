// A panel of curves that each have their own times: of every ACK, so that no two flows share one.

import uPlot from "uplot";
import { gutters, join, timeAxisOptions, valueAxisOptions, zoomToSelection } from "./base-plot";
import type { Curve, Look, Panel, Report, View } from "./data";
import { drawChanges, drawReferences } from "./references";
import { indexAt } from "./search";
import { color, groupColor } from "./theme";
import type { TimeAxis } from "./time-axis";

const HEIGHT = 172;
/** Pale ones first: what is made from them stands above. */
const ORDER: Look[] = ["pale", "high", "low", "curve", "lost", "resent"];
const DOTS = [1.5, 2.5];
const DASHES = [6, 3.5];

export class CurvePlot {
  readonly u: uPlot;
  readonly view: View;
  private readonly hidden = new Set<number>();
  private readonly drawn: Curve[];

  constructor(
    private readonly panel: Panel,
    private readonly report: Report,
    private readonly axis: TimeAxis,
    host: HTMLElement,
    onCursor: (plot: CurvePlot) => void,
  ) {
    this.view = panel.views[0] as View;
    this.drawn = [...this.view.curves].sort((a, b) => ORDER.indexOf(this.look(a)) - ORDER.indexOf(this.look(b)));
    const common = timeAxisOptions(axis);
    this.u = new uPlot(
      {
        width: host.clientWidth,
        height: HEIGHT,
        padding: [8, (u) => gutters(u.width).right, 0, 0],
        legend: common.legend ?? {},
        cursor: { ...common.cursor, points: { show: false } },
        scales: { x: common.scale, y: { range: () => this.range() } },
        axes: [common.axisX, valueAxisOptions("y", host.clientWidth)],
        series: [{}, { show: false }],
        hooks: {
          setSelect: [zoomToSelection(axis)],
          // uPlot calls it once before its constructor returns.
          setCursor: [() => this.u && onCursor(this)],
          draw: [(u) => this.draw(u)],
        },
      },
      [
        [0, axis.duration],
        [null, null],
      ],
      host,
    );
    join(this.u, axis, host);
  }

  /** Of each curve of the view, what it was at the crosshair: its latest value by then. */
  valuesAtCursor(): (number | null)[] | null {
    const left = this.u.cursor.left ?? -1;
    if (left < 0) return null;
    const time = this.u.posToVal(left, "x");
    const late = (this.axis.max - this.axis.min) * 0.02;
    return this.view.curves.map((curve) => {
      const at = indexAt(curve.time, time);
      const value = curve.values[at] ?? Number.NaN;
      const over = at === curve.time.length - 1 && time - (curve.time[at] ?? 0) > late;
      return Number.isNaN(value) || over ? null : value;
    });
  }

  setVisible(group: number, visible: boolean): void {
    if (visible) this.hidden.delete(group);
    else this.hidden.add(group);
    this.u.setScale("x", { min: this.axis.min, max: this.axis.max });
  }

  resize(width: number): void {
    const y = this.u.axes[1];
    if (y) y.size = () => gutters(width).left;
    this.u.setSize({ width, height: HEIGHT });
  }

  private look(curve: Curve): Look {
    return this.panel.quantities[curve.quantity]?.look ?? "curve";
  }

  private shown(): Curve[] {
    return this.drawn.filter((curve) => !this.hidden.has(curve.group));
  }

  /** The part of a curve within the time axis, and one point more on each side. */
  private window(curve: Curve): [number, number] {
    const first = Math.max(0, indexAt(curve.time, this.axis.min));
    return [first, Math.min(curve.time.length - 1, indexAt(curve.time, this.axis.max) + 1)];
  }

  /** From 0, or from just below the lowest curve or reference, to just above the highest. */
  private range(): [number, number] {
    const levels = this.view.references.map((reference) => reference.value);
    const whole = this.axis.isWhole;
    let low = Number.POSITIVE_INFINITY;
    let high = 0;
    for (const curve of this.shown().filter((curve) => !isMark(this.look(curve)))) {
      const [first, last] = this.window(curve);
      for (let i = first; i <= last; i++) {
        const value = curve.values[i] ?? Number.NaN;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    if (low > high) low = 0;
    if (this.view.top !== null) high = Math.min(high, this.view.top);
    // A short time of a sequence is read between its own values.
    const zoomed = !whole && !this.panel.fromZero && levels.length === 0;
    const top = Math.max(high, ...levels);
    const bottom = this.panel.fromZero || (whole && levels.length === 0) ? 0 : Math.min(low, ...levels);
    const margin = (top - bottom || top || 1) * 0.06;
    return [bottom === 0 && !zoomed ? 0 : Math.max(0, bottom - margin), top + margin];
  }

  private draw(u: uPlot): void {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top - 2, bbox.width, bbox.height + 4);
    ctx.clip();
    for (const curve of this.shown()) this.drawCurve(u, curve);
    ctx.restore();
    drawReferences(u, this.view, false);
    drawChanges(u, this.report.changes, this.panel === this.report.panels[0]);
  }

  private drawCurve(u: uPlot, curve: Curve): void {
    const { ctx } = u;
    const ratio = devicePixelRatio;
    const look = this.look(curve);
    const group = this.report.groups[curve.group];
    if (isMark(look)) {
      this.drawMarks(u, curve, look);
      return;
    }
    const dash = look === "low" ? DOTS : look === "high" ? DASHES : (group?.dash ?? []);
    ctx.strokeStyle = groupColor(group);
    ctx.globalAlpha = look === "pale" ? 0.36 : 1;
    ctx.lineWidth = (look === "pale" ? 1 : look === "curve" ? 1.4 : 1.2) * ratio;
    ctx.lineJoin = "round";
    ctx.setLineDash(dash.map((length) => length * ratio));
    ctx.stroke(this.path(u, curve));
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
  }

  private path(u: uPlot, curve: Curve): Path2D {
    const path = new Path2D();
    const [first, last] = this.window(curve);
    let before = Number.NaN;
    for (let i = first; i <= last; i++) {
      const value = curve.values[i] ?? Number.NaN;
      const x = u.valToPos(curve.time[i] ?? 0, "x", true);
      const y = u.valToPos(value, "y", true);
      if (curve.steps && !Number.isNaN(before)) path.lineTo(x, before);
      if (Number.isNaN(before)) path.moveTo(x, y);
      else if (!Number.isNaN(value)) path.lineTo(x, y);
      before = Number.isNaN(value) ? Number.NaN : y;
    }
    return path;
  }

  /** Lost: triangles that point at the curve from above. Resent: crosses on it. Ticks where these would run together. */
  private drawMarks(u: uPlot, curve: Curve, look: "lost" | "resent"): void {
    const { ctx } = u;
    const size = 3 * devicePixelRatio;
    const [first, last] = this.window(curve);
    const ticks = (last - first) * 4 * size > u.bbox.width;
    ctx.beginPath();
    for (let i = first; i <= last; i++) {
      const x = u.valToPos(curve.time[i] ?? 0, "x", true);
      const y = u.valToPos(curve.values[i] ?? 0, "y", true);
      if (ticks) {
        const top = look === "lost" ? y - 4 * size : y + 1.5 * size;
        ctx.rect(x, top, devicePixelRatio / 2, 2.5 * size);
      } else if (look === "lost") {
        ctx.moveTo(x, y - size);
        ctx.lineTo(x - size, y - 3 * size);
        ctx.lineTo(x + size, y - 3 * size);
        ctx.closePath();
      } else {
        ctx.moveTo(x - size, y - size);
        ctx.lineTo(x + size, y + size);
        ctx.moveTo(x - size, y + size);
        ctx.lineTo(x + size, y - size);
      }
    }
    ctx.strokeStyle = ctx.fillStyle = color(look === "lost" ? "--drop" : "--ink");
    ctx.lineWidth = 1.2 * devicePixelRatio;
    if (ticks || look === "lost") ctx.fill();
    else ctx.stroke();
  }
}

function isMark(look: Look): look is "lost" | "resent" {
  return look === "lost" || look === "resent";
}
