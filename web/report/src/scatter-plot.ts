// Points over data in flight, and the limits that none can pass: half of Kleinrock's plot.

import uPlot from "uplot";
import { gutters, isNarrow, label, valueAxisOptions } from "./base-plot";
import type { Cloud, Kleinrock, Limit, Report } from "./data";
import { element } from "./dom";
import { labelInGutter } from "./references";
import { color, FONT, groupColor, stateColor } from "./theme";
import type { TimeAxis } from "./time-axis";

const HEIGHT = 220;
const POINT = 2;
const NEAR = 18;
const NO_STATE = 255;

/** A point of a cloud. */
export interface Picked {
  cloud: Cloud;
  index: number;
}

export interface Half {
  unit: string;
  /** Values per unit. */
  factor: number;
  bottom: number;
  top: number;
  of(cloud: Cloud): Float32Array;
  limits: Limit[];
  /** Whether points are below the limits, or above. */
  below: boolean;
  /** What the rising limit is. */
  slope: string;
  hasAxis: boolean;
}

export class ScatterPlot {
  readonly u: uPlot;
  /** Colours of states, and not of flows. */
  byState = false;
  private readonly rings: HTMLElement[] = [];
  private readonly hidden = new Set<number>();

  constructor(
    private readonly half: Half,
    private readonly plot: Kleinrock,
    private readonly xUnit: { name: string; bytes: number },
    private readonly report: Report,
    private readonly axis: TimeAxis,
    host: HTMLElement,
    onCursor: (plot: ScatterPlot) => void,
  ) {
    const width = host.clientWidth;
    this.u = new uPlot(
      {
        width,
        height: this.height,
        padding: [8, (u) => gutters(u.width).right, half.hasAxis ? 0 : 8, 0],
        legend: { show: false },
        cursor: {
          y: false,
          points: { show: false },
          drag: { x: false, y: false, setScale: false },
          sync: { key: "inflight", scales: ["x", null], setSeries: false },
        },
        scales: {
          x: { time: false, range: () => [0, plot.right / xUnit.bytes] },
          y: { range: () => [half.bottom / half.factor, half.top / half.factor] },
        },
        axes: [
          {
            font: FONT,
            size: half.hasAxis ? 24 : 0,
            gap: 4,
            space: 64,
            stroke: () => color("--soft"),
            grid: { stroke: () => color("--grid"), width: 1 },
            ticks: { show: false },
            values: (_, ticks) => ticks.map((tick) => (half.hasAxis ? (tick ? `${label(tick)} ${xUnit.name}` : "0") : "")),
          },
          valueAxisOptions("y", width),
        ],
        series: [{}, { show: false }],
        hooks: {
          // uPlot calls it once before its constructor returns.
          setCursor: [() => this.u && onCursor(this)],
          drawClear: [(u) => this.drawImpossible(u)],
          draw: [(u) => this.draw(u)],
        },
      },
      [
        [0, plot.right / xUnit.bytes],
        [null, null],
      ],
      host,
    );
    axis.add({ follow: () => this.u.redraw(false) });
  }

  /** The point closest to the crosshair, if any is near. */
  nearest(): Picked | undefined {
    const { left = -1, top = -1 } = this.u.cursor;
    if (left < 0 || top < 0) return undefined;
    const x = this.u.posToVal(left, "x") * this.xUnit.bytes;
    const y = this.u.posToVal(top, "y") * this.half.factor;
    const perX = this.u.over.clientWidth / this.plot.right;
    const perY = this.u.over.clientHeight / (this.half.top - this.half.bottom);
    let best: Picked | undefined;
    let least = NEAR ** 2;
    for (const cloud of this.shown()) {
      const values = this.half.of(cloud);
      for (let index = 0; index < values.length; index++) {
        if (!this.isInTime(cloud, index)) continue;
        const away = (((cloud.inflight[index] ?? 0) - x) * perX) ** 2 + (((values[index] ?? 0) - y) * perY) ** 2;
        if (away < least) [best, least] = [{ cloud, index }, away];
      }
    }
    return best;
  }

  /** Put a ring around points. The canvas with its many points stays as it is. */
  mark(picked: Picked[]): void {
    const shown = picked.filter(({ cloud }) => !this.hidden.has(cloud.group));
    while (this.rings.length < shown.length) this.rings.push(this.u.over.appendChild(element("i", { class: "ring" })));
    this.rings.forEach((ring, i) => {
      const one = shown[i];
      const value = one && (this.half.of(one.cloud)[one.index] ?? Number.NaN);
      ring.hidden = !one || value === undefined || Number.isNaN(value);
      if (ring.hidden || !one || value === undefined) return;
      ring.style.left = `${this.u.valToPos((one.cloud.inflight[one.index] ?? 0) / this.xUnit.bytes, "x")}px`;
      ring.style.top = `${this.u.valToPos(value / this.half.factor, "y")}px`;
    });
  }

  setVisible(group: number, visible: boolean): void {
    if (visible) this.hidden.delete(group);
    else this.hidden.add(group);
    this.u.redraw(false);
  }

  resize(width: number): void {
    const y = this.u.axes[1];
    if (y) y.size = () => gutters(width).left;
    this.u.setSize({ width, height: this.height });
  }

  private get height(): number {
    return HEIGHT + (this.half.hasAxis ? 16 : 0);
  }

  private shown(): Cloud[] {
    return this.plot.clouds.filter((cloud) => !this.hidden.has(cloud.group));
  }

  private isInTime(cloud: Cloud, index: number): boolean {
    const time = cloud.time[index] ?? -1;
    return time >= this.axis.min && time <= this.axis.max;
  }

  /** Where no flow can be: beyond the widest of the limits. */
  private drawImpossible(u: uPlot): void {
    const { ctx, bbox } = u;
    const [widest] = this.half.limits;
    if (!widest) return;
    ctx.save();
    this.clip(u);
    ctx.beginPath();
    this.trace(u, widest);
    const edge = this.half.below ? bbox.top - 9 : bbox.top + bbox.height + 9;
    ctx.lineTo(bbox.left + bbox.width * 2, edge);
    ctx.lineTo(bbox.left, edge);
    ctx.closePath();
    ctx.fillStyle = color("--raised");
    ctx.fill();
    ctx.restore();
  }

  private draw(u: uPlot): void {
    const { ctx } = u;
    ctx.save();
    this.clip(u);
    for (const inTime of [false, true]) this.drawPoints(u, inTime);
    this.drawLimits(u);
    ctx.restore();
    this.drawCapacity(u);
  }

  /** What the flat limit is, right of it. */
  private drawCapacity(u: uPlot): void {
    const limit = this.half.limits.at(-1);
    if (!limit || !this.half.below || isNarrow(u.width)) return;
    const y = u.valToPos((limit.values[1] ?? 0) / this.half.factor, "y", true);
    labelInGutter(u.ctx, limit.label, u.bbox.left + u.bbox.width + 6 * devicePixelRatio, y, devicePixelRatio);
  }

  /** All that the time axis shows, in colour, and beneath it the others, as a shade. */
  private drawPoints(u: uPlot, inTime: boolean): void {
    const { ctx, bbox } = u;
    const size = POINT * devicePixelRatio;
    if (!inTime && this.axis.isWhole) return;
    ctx.globalAlpha = inTime ? (this.byState ? 0.75 : 0.55) : 0.1;
    const states = this.report.bands?.states ?? [];
    const xScale = bbox.width / this.plot.right;
    const yScale = bbox.height / (this.half.top - this.half.bottom);
    const bottom = bbox.top + bbox.height;
    for (const cloud of this.shown()) {
      const own = groupColor(this.report.groups[cloud.group]);
      const colors = states.map((state) => stateColor(state));
      const values = this.half.of(cloud);
      ctx.fillStyle = inTime ? own : color("--soft");
      for (let i = 0; i < values.length; i++) {
        if (this.isInTime(cloud, i) !== inTime) continue;
        const state = cloud.state[i] ?? NO_STATE;
        if (inTime && this.byState) ctx.fillStyle = colors[state] ?? color("--soft");
        const x = bbox.left + (cloud.inflight[i] ?? 0) * xScale;
        const y = bottom - ((values[i] ?? Number.NaN) - this.half.bottom) * yScale;
        ctx.fillRect(x - size / 2, y - size / 2, size, size);
      }
    }
    ctx.globalAlpha = 1;
  }

  private drawLimits(u: uPlot): void {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio;
    const { bdp, full } = this.plot;
    ctx.strokeStyle = color("--reference");
    ctx.lineWidth = 1.25 * ratio;
    for (const limit of this.half.limits) {
      ctx.beginPath();
      this.trace(u, limit);
      ctx.stroke();
    }
    ctx.setLineDash([2 * ratio, 3 * ratio]);
    ctx.lineWidth = ratio;
    for (const at of [bdp, full]) {
      if (at === null) continue;
      const x = Math.round(u.valToPos(at / this.xUnit.bytes, "x", true)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.setLineDash([]);
    const widest = this.half.limits.at(-1);
    if (bdp === null || !widest) return;
    this.ring(u, bdp, widest.values[1] ?? 0, 6);
    this.drawWords(u, widest, bdp, full);
  }

  /** Beyond the limits, where no point can be. */
  private drawWords(u: uPlot, limit: Limit, bdp: number, full: number | null): void {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio;
    const x = (bytes: number) => u.valToPos(bytes / this.xUnit.bytes, "x", true);
    const y = (value: number) => u.valToPos(value / this.half.factor, "y", true);
    const flat = y(limit.values[1] ?? 0);
    const middle = (limit.inflight[1] ?? 0) / 2;
    ctx.font = FONT.replace("11px", `${11 * ratio}px`);
    ctx.fillStyle = color("--soft");
    ctx.textBaseline = "alphabetic";
    if (this.half.below) {
      const rise = y((limit.values[1] ?? 0) * 0.62);
      this.word(this.half.slope, x(1.24 * middle) - 8 * ratio, rise, "right");
      this.word("operating point", x(bdp) - 9 * ratio, flat - 5 * ratio, "right");
      return;
    }
    this.word(limit.label, bbox.left + 6 * ratio, flat + 14 * ratio, "left");
    if (!isNarrow(u.width)) {
      const at = bdp + 0.5 * (Math.min(this.plot.right, limit.inflight[2] ?? bdp) - bdp);
      const value = ((limit.values[1] ?? 0) * at) / bdp;
      this.word(this.half.slope, x(at) + 14 * ratio, y(value) + 16 * ratio, "left");
    }
    if (full !== null) this.word("buffer full", x(full) - 5 * ratio, bbox.top + bbox.height - 6 * ratio, "right");
    this.word("operating point", x(bdp) + 8 * ratio, flat + 14 * ratio, "left");
  }

  private word(text: string, x: number, y: number, align: CanvasTextAlign): void {
    const { ctx, bbox } = this.u;
    const start = align === "right" ? x - ctx.measureText(text).width : x;
    if (start < bbox.left || start + ctx.measureText(text).width > bbox.left + bbox.width) return;
    ctx.textAlign = align;
    // Points that a limit does not hold for must not hide it.
    ctx.strokeStyle = color("--raised");
    ctx.lineWidth = 3 * devicePixelRatio;
    ctx.strokeText(text, x, y);
    ctx.fillText(text, x, y);
  }

  private ring(u: uPlot, bytes: number, value: number, radius: number): void {
    const { ctx } = u;
    ctx.beginPath();
    const x = u.valToPos(bytes / this.xUnit.bytes, "x", true);
    ctx.arc(x, u.valToPos(value / this.half.factor, "y", true), radius * devicePixelRatio, 0, 2 * Math.PI);
    ctx.strokeStyle = color("--ink");
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.stroke();
  }

  private trace(u: uPlot, limit: Limit): void {
    limit.inflight.forEach((bytes, i) => {
      const x = u.valToPos(bytes / this.xUnit.bytes, "x", true);
      u.ctx.lineTo(x, u.valToPos((limit.values[i] ?? 0) / this.half.factor, "y", true));
    });
  }

  private clip(u: uPlot): void {
    const { ctx, bbox } = u;
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
  }
}
