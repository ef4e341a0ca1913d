// BBR's states: for each flow a lane of bands, coloured by state.

import uPlot from "uplot";
import { gutters, join, timeAxisOptions, zoomToSelection } from "./base-plot";
import type { BandLane, Bands, Report, State } from "./data";
import { drawChanges } from "./references";
import { indexAt } from "./search";
import { color, FONT, groupColor, stateColor } from "./theme";
import type { TimeAxis } from "./time-axis";

const GAP = 5;
const HEIGHTS = [30, 24, 24, 20];
const MANY = 16;

export class BandPlot {
  readonly u: uPlot;
  private readonly hidden = new Set<number>();
  private readonly lane: number;

  constructor(
    private readonly bands: Bands,
    private readonly report: Report,
    private readonly axis: TimeAxis,
    host: HTMLElement,
    onCursor: (plot: BandPlot) => void,
  ) {
    this.lane = HEIGHTS[bands.lanes.length - 1] ?? MANY;
    const common = timeAxisOptions(axis);
    const width = host.clientWidth;
    this.u = new uPlot(
      {
        width,
        height: this.height,
        padding: [2, (u) => gutters(u.width).right, 0, 0],
        legend: common.legend ?? {},
        cursor: { ...common.cursor, points: { show: false } },
        scales: { x: common.scale, y: { range: [0, 1] } },
        axes: [common.axisX, { size: gutters(width).left, ticks: { show: false }, grid: { show: false }, values: () => [] }],
        series: [{}, { show: false }],
        hooks: {
          setSelect: [zoomToSelection(axis)],
          // uPlot calls it once before its constructor returns.
          setCursor: [() => this.u && onCursor(this)],
          draw: [(u) => (this.draw(), drawChanges(u, this.report.changes, false))],
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

  /** The state of each lane at the crosshair. */
  statesAtCursor(): (State | undefined)[] | null {
    const left = this.u.cursor.left ?? -1;
    if (left < 0) return null;
    const time = this.u.posToVal(left, "x");
    return this.bands.lanes.map((lane) => this.stateAt(lane, time));
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
    return this.bands.lanes.length * (this.lane + GAP) + 28;
  }

  private stateAt(lane: BandLane, time: number): State | undefined {
    const at = indexAt(lane.start, time);
    return time <= (lane.end[at] ?? -1) ? this.bands.states[lane.state[at] ?? -1] : undefined;
  }

  private draw(): void {
    const { ctx, bbox } = this.u;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.font = FONT.replace("11px", `${11 * ratio}px`);
    ctx.textBaseline = "middle";
    this.bands.lanes.forEach((lane, i) => {
      const top = bbox.top + (GAP / 2 + i * (this.lane + GAP)) * ratio;
      const group = this.report.groups[lane.group];
      ctx.fillStyle = groupColor(group);
      ctx.fillRect(bbox.left - 4 * ratio, top, 2.5 * ratio, this.lane * ratio);
      ctx.fillStyle = color("--ink");
      ctx.textAlign = "right";
      ctx.fillText(lane.flow, bbox.left - 9 * ratio, top + (this.lane / 2) * ratio, bbox.left - 10 * ratio);
      if (!this.hidden.has(lane.group)) this.drawLane(lane, top, this.lane * ratio);
    });
    ctx.restore();
  }

  private drawLane(lane: BandLane, top: number, height: number): void {
    const { ctx, bbox } = this.u;
    const right = bbox.left + bbox.width;
    const ground = color("--ground");
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, top, bbox.width, height);
    ctx.clip();
    for (let i = Math.max(0, indexAt(lane.start, this.axis.min)); i < lane.start.length; i++) {
      const state = this.bands.states[lane.state[i] ?? -1];
      const x = this.u.valToPos(lane.start[i] ?? 0, "x", true);
      if (x > right || !state) break;
      const end = this.u.valToPos(lane.end[i] ?? 0, "x", true);
      const width = Math.max(end - x, devicePixelRatio);
      const tall = height * state.height;
      ctx.fillStyle = stateColor(state);
      ctx.fillRect(x, top + height - tall, width, tall);
      this.name(state, Math.max(x, bbox.left), Math.min(end, right), top, height, tall, ground);
    }
    ctx.restore();
  }

  /** Inside a band that has room for it; above one that is too low. */
  private name(state: State, from: number, to: number, top: number, height: number, tall: number, ground: string): void {
    const { ctx } = this.u;
    const ratio = devicePixelRatio;
    if (this.lane < 20 || to - from < 34 * ratio) return;
    const word = shorter(state.word).find((one) => ctx.measureText(one).width + 8 * ratio < to - from);
    if (!word) return;
    const inside = tall > 13 * ratio;
    if (!inside && height - tall < 11 * ratio) return;
    ctx.textAlign = "center";
    ctx.fillStyle = inside ? readableOn(stateColor(state), ground) : color("--soft");
    ctx.fillText(word, (from + to) / 2, inside ? top + height - tall / 2 : top + (height - tall) / 2);
  }
}

/** `PROBE_BW: UP`, or `UP` where that has no room. */
function shorter(word: string): string[] {
  const [, part] = word.split(": ");
  return part ? [word, part] : [word];
}

/** Black or white, whichever stands out from `#rrggbb`. */
function readableOn(ground: string, fallback: string): string {
  const [red, green, blue] = [1, 3, 5].map((i) => Number.parseInt(ground.slice(i, i + 2), 16) / 255);
  if (red === undefined || green === undefined || blue === undefined) return fallback;
  return 0.2126 * red ** 2.2 + 0.7152 * green ** 2.2 + 0.0722 * blue ** 2.2 > 0.2 ? "#000000" : "#ffffff";
}
