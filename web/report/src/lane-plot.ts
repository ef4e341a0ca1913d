// Drops and retransmissions: two lanes of marks per group of flows.

import uPlot from "uplot";
import { gutters, join, timeAxisOptions, zoomToSelection } from "./base-plot";
import type { Events, Group, Report } from "./data";
import { color, FONT, groupColor } from "./theme";
import type { TimeAxis } from "./time-axis";

const LANE = 13;
const PAIR = 2 * LANE + 6;
const REACH = 4;

export interface Lane {
  group: number | null;
  name: string;
  /** Which kinds are known for this lane. */
  known: Events["kind"][];
  drops: Events | undefined;
  retransmissions: Events | undefined;
}

export function lanes(report: Report): Lane[] {
  const of = (kind: Events["kind"], group: number | null) =>
    report.events.find((events) => events.kind === kind && events.group === group);
  const perFlow = report.countedPerFlow;
  const marks = (group: number | null) => ({ drops: of("drop", group), retransmissions: of("retransmission", group) });
  const flows = report.groups.map(
    ({ label, flows }, group): Lane => ({
      group,
      name: flows === 1 ? (label.split(" ")[0] ?? "") : label,
      known: perFlow,
      ...marks(group),
    }),
  );
  if (report.events.every((events) => events.group !== null)) return flows;
  return [...flows, { group: null, name: perFlow.includes("drop") ? "other" : "any flow", known: ["drop"], ...marks(null) }];
}

export class LanePlot {
  readonly u: uPlot;
  private readonly hidden = new Set<number>();

  constructor(
    readonly all: Lane[],
    private readonly groups: Group[],
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
          draw: [() => this.draw()],
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

  /** Drops and retransmissions within a few pixels of the crosshair, lane by lane. */
  countsAtCursor(): [drops: number, retransmissions: number][] | null {
    const left = this.u.cursor.left ?? -1;
    if (left < 0) return null;
    const from = this.u.posToVal(left - REACH, "x");
    const to = this.u.posToVal(left + REACH, "x");
    return this.all.map((lane) => [sum(lane.drops, from, to), sum(lane.retransmissions, from, to)]);
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
    return this.all.length * PAIR + 32;
  }

  private draw(): void {
    const { ctx, bbox } = this.u;
    const ratio = devicePixelRatio;
    const step = bbox.height / this.all.length;
    ctx.save();
    ctx.font = FONT.replace("11px", `${11 * ratio}px`);
    ctx.textBaseline = "middle";
    this.all.forEach((lane, i) => {
      const top = bbox.top + i * step;
      const half = (step - 6 * ratio) / 2;
      const group = lane.group === null ? undefined : this.groups[lane.group];
      this.labels(lane, top, half, ratio);
      ctx.fillStyle = group ? groupColor(group) : color("--soft");
      if (lane.group === null || !this.hidden.has(lane.group)) {
        this.marks(lane.drops, top + 3 * ratio, half, 1);
        this.marks(lane.retransmissions, top + 3 * ratio + half, half, 0.5);
      }
      ctx.fillStyle = color("--grid");
      if (i > 0) ctx.fillRect(bbox.left, Math.round(top), bbox.width, ratio);
    });
    ctx.restore();
  }

  private labels(lane: Lane, top: number, half: number, ratio: number): void {
    const { ctx, bbox } = this.u;
    ctx.fillStyle = color("--ink");
    ctx.textAlign = "right";
    ctx.fillText(lane.name, bbox.left - 8 * ratio, top + 3 * ratio + half, bbox.left - 10 * ratio);
    ctx.fillStyle = color("--soft");
    ctx.textAlign = "left";
    const x = bbox.left + bbox.width + 6 * ratio;
    const room = this.u.width * ratio - x;
    const [dropped, resent] = room / ratio > 60 ? ["dropped", "resent"] : ["dr.", "re."];
    const y = top + 3 * ratio + half / 2;
    if (lane.known.includes("drop")) ctx.fillText(count(lane.drops, dropped), x, y, room);
    if (lane.known.includes("retransmission")) ctx.fillText(count(lane.retransmissions, resent), x, y + half, room);
  }

  private marks(events: Events | undefined, top: number, height: number, alpha: number): void {
    if (!events) return;
    const { ctx, bbox } = this.u;
    const width = Math.max(1, Math.round(1.25 * devicePixelRatio));
    ctx.globalAlpha = alpha;
    for (const time of events.time) {
      if (time < this.axis.min || time > this.axis.max) continue;
      const x = Math.min(this.u.valToPos(time, "x", true), bbox.left + bbox.width - width);
      ctx.fillRect(Math.round(x), Math.round(top), width, Math.round(height - 1));
    }
    ctx.globalAlpha = 1;
  }
}

function count(events: Events | undefined, word = ""): string {
  return `${(events?.count.reduce((a, b) => a + b, 0) ?? 0).toLocaleString("en")} ${word}`;
}

function sum(events: Events | undefined, from: number, to: number): number {
  return events?.time.reduce((total, t, i) => (t >= from && t <= to ? total + (events.count[i] ?? 0) : total), 0) ?? 0;
}
