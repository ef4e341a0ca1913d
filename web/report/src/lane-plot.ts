// What befell packets: for each group of flows, a lane of marks for each kind of event.

import uPlot from "uplot";
import { gutters, join, timeAxisOptions, zoomToSelection } from "./base-plot";
import type { Events, Kind, Report } from "./data";
import { drawChanges } from "./references";
import { color, FONT, groupColor } from "./theme";
import type { TimeAxis } from "./time-axis";

const LANE = 13;
const GAP = 6;
const REACH = 4;
/** Between two lines of a row's name. */
const LINE = 11;

/** One kind of event of one group; `events` is missing if there were none. */
export interface Lane {
  word: string;
  pale: boolean;
  events: Events | undefined;
}

export interface Row {
  group: number | null;
  name: string;
  lanes: Lane[];
}

export function rows(report: Report): Row[] {
  const lane = ({ key, word, pale }: Kind, group: number | null): Lane => ({
    word,
    pale,
    events: report.events.find((events) => events.kind === key && events.group === group),
  });
  const perFlow = report.kinds.filter((kind) => report.countedPerFlow.includes(kind.key));
  const flows = report.groups.map(
    ({ label, flows }, group): Row => ({
      group,
      name: flows === 1 ? (label.split(" ")[0] ?? "") : label,
      lanes: perFlow.map((kind) => lane(kind, group)),
    }),
  );
  const others = report.kinds.filter((kind) => report.events.some(({ kind: key, group }) => key === kind.key && group === null));
  if (others.length === 0) return flows;
  const known = perFlow.some((kind) => others.includes(kind));
  return [...flows, { group: null, name: known ? "other" : "any flow", lanes: others.map((kind) => lane(kind, null)) }];
}

/** A name of several words on two lines, about as long as each other. */
function halves(name: string): string[] {
  const words = name.split(" ");
  const length = (count: number): number =>
    Math.max(words.slice(0, count).join(" ").length, words.slice(count).join(" ").length);
  const counts = words.map((_, n) => n + 1).sort((a, b) => length(a) - length(b));
  const first = counts[0] ?? words.length;
  return [words.slice(0, first), words.slice(first)].filter((line) => line.length > 0).map((line) => line.join(" "));
}

export class LanePlot {
  readonly u: uPlot;
  private readonly hidden = new Set<number>();

  constructor(
    readonly all: Row[],
    private readonly report: Report,
    private readonly axis: TimeAxis,
    host: HTMLElement,
    onCursor: (plot: LanePlot) => void,
  ) {
    const common = timeAxisOptions(axis);
    const width = host.clientWidth;
    this.u = new uPlot(
      {
        width,
        height: this.height,
        padding: [4, (u) => gutters(u.width).right, 0, 0],
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

  /** How many of each lane are within a few pixels of the crosshair, row by row. */
  countsAtCursor(): number[][] | null {
    const left = this.u.cursor.left ?? -1;
    if (left < 0) return null;
    const from = this.u.posToVal(left - REACH, "x");
    const to = this.u.posToVal(left + REACH, "x");
    return this.all.map((row) => row.lanes.map((lane) => sum(lane.events, from, to)));
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
    return this.all.reduce((total, row) => total + row.lanes.length * LANE + GAP, 32);
  }

  private draw(): void {
    const { ctx, bbox } = this.u;
    const ratio = devicePixelRatio;
    let top = bbox.top;
    ctx.save();
    ctx.font = FONT.replace("11px", `${11 * ratio}px`);
    ctx.textBaseline = "middle";
    this.all.forEach((row, i) => {
      const height = row.lanes.length * LANE * ratio;
      const group = row.group === null ? undefined : this.report.groups[row.group];
      this.labels(row, top + (GAP / 2) * ratio, height, ratio);
      ctx.fillStyle = group ? groupColor(group) : color("--soft");
      if (row.group === null || !this.hidden.has(row.group)) {
        row.lanes.forEach((lane, n) => this.marks(lane, top + (GAP / 2 + n * LANE) * ratio, LANE * ratio));
      }
      ctx.fillStyle = color("--grid");
      if (i > 0) ctx.fillRect(bbox.left, Math.round(top), bbox.width, ratio);
      top += height + GAP * ratio;
    });
    ctx.restore();
  }

  private labels(row: Row, top: number, height: number, ratio: number): void {
    const { ctx, bbox } = this.u;
    ctx.fillStyle = color("--ink");
    ctx.textAlign = "right";
    const left = bbox.left - 10 * ratio;
    const lines = ctx.measureText(row.name).width > left ? halves(row.name) : [row.name];
    lines.forEach((line, n) => {
      const middle = top + height / 2 + (n - (lines.length - 1) / 2) * LINE * ratio;
      ctx.fillText(line, bbox.left - 8 * ratio, middle, left);
    });
    ctx.fillStyle = color("--soft");
    ctx.textAlign = "left";
    const x = bbox.left + bbox.width + 6 * ratio;
    const room = this.u.width * ratio - x;
    const narrow = room / ratio <= 60;
    row.lanes.forEach((lane, n) => {
      const word = narrow ? `${lane.word.slice(0, 2)}.` : lane.word;
      ctx.fillText(`${total(lane).toLocaleString("en")} ${word}`, x, top + (n + 0.5) * LANE * ratio, room);
    });
  }

  private marks(lane: Lane, top: number, height: number): void {
    if (!lane.events) return;
    const { ctx, bbox } = this.u;
    const width = Math.max(1, Math.round(1.25 * devicePixelRatio));
    ctx.globalAlpha = lane.pale ? 0.5 : 1;
    for (const time of lane.events.time) {
      if (time < this.axis.min || time > this.axis.max) continue;
      const x = Math.min(this.u.valToPos(time, "x", true), bbox.left + bbox.width - width);
      ctx.fillRect(Math.round(x), Math.round(top), width, Math.round(height - 1));
    }
    ctx.globalAlpha = 1;
  }
}

export function total(lane: Lane): number {
  return lane.events?.count.reduce((a, b) => a + b, 0) ?? 0;
}

function sum(events: Events | undefined, from: number, to: number): number {
  return events?.time.reduce((total, t, i) => (t >= from && t <= to ? total + (events.count[i] ?? 0) : total), 0) ?? 0;
}
