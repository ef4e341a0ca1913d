// Plots of a run while it goes on: those of reports, drawn again as figures come.

import { Chart } from "../../charts/chart";
import { element } from "../../charts/dom";
import { legend as legendOf, swatch } from "../../charts/legend";
import type { Line, Mark, Panel, Reference, Ticks, View } from "../../charts/model";
import { digits } from "../../charts/numbers";
import type { Shared } from "../../charts/pen";
import { Theme } from "../../charts/theme";
import { TimeAxis } from "../../charts/time-axis";
import { frameOf } from "../../report/frame";
import type { Legend } from "../run-messages";
import type { FlowLive, LinkLive, LiveRun } from "./live";
import type { Series } from "./series";

/** Lists of values beside a plot are no longer than this. */
const MOST_VALUES = 12;
/** A plot is described to those who don't see it this often, in milliseconds. */
const TELL_MS = 3000;

export interface Curve {
  label: string;
  group: number | null;
  flow: string | null;
  series: Series;
  drops?: readonly number[];
}

/** What a panel shows of one link, or of all flows. */
export interface Source {
  name: string;
  curves: () => Curve[];
  references: Reference[];
}

export interface Plot {
  key: string;
  title: string;
  unit: string;
  note: string;
  sources: Source[];
  fromZero: boolean;
}

const QUIET: Omit<View, "name" | "marks" | "references"> = {
  timeS: new Float64Array(), note: "", second: null, low: null, top: null, lanes: [], key: "", perUnit: 1, title: "", unit: "",
};

function lineOf({ label, group, flow, series }: Curve): Line {
  return {
    kind: "line", values: series.values, timeS: series.times, group, flow, name: label,
    isLevel: false, quantity: 0, x: null, steps: false,
  };
}

function dropsOf(times: readonly number[]): Ticks {
  return { kind: "tick", timeS: Float64Array.from(times), count: null, lane: null, edge: "drop" };
}

function viewOf(source: Source): View {
  const curves = source.curves();
  const marks: Mark[] = curves.map(lineOf);
  for (const { drops } of curves) if (drops?.length) marks.push(dropsOf(drops));
  return { ...QUIET, name: source.name, marks, references: source.references };
}

/** One plot with its values: those at the crosshair, or else the latest. */
class LivePlot {
  readonly chart: Chart;
  private source: Source;
  private outputs: HTMLOutputElement[] = [];
  private told = 0;
  private readonly frame;
  private readonly panel: Panel;

  constructor(private readonly of: Plot, private readonly shared: Shared, host: HTMLElement, isFirst: boolean) {
    this.source = of.sources[0] as Source;
    this.frame = frameOf(of.key, of.title, of.unit, host);
    this.frame.note.textContent = of.note;
    this.panel = {
      key: of.key, perUnit: 1, title: of.title, unit: of.unit, views: [], fromZero: of.fromZero, quantities: [], across: null,
      states: [], isStacked: false, isLog: false, choice: "", decimals: null, pictured: 1,
    };
    if (of.sources.length > 1) this.frame.head.append(this.choice());
    const width = this.frame.canvas.clientWidth || host.clientWidth || 600;
    this.chart = new Chart(this.panel, viewOf(this.source), shared, this.frame.canvas, {
      width, isFirst, isLast: true, onCursor: () => this.read(),
    });
    this.list();
  }

  draw(now: number): void {
    this.chart.setData(viewOf(this.source));
    if (this.chart.cursor === null) this.read();
    if (now - this.told < TELL_MS) return;
    this.told = now;
    const curves = this.source.curves().slice(0, MOST_VALUES);
    const said = curves.map(({ label, series }) => `${label} ${series.length ? digits(series.last) : "no value"}`);
    this.frame.canvas.setAttribute("aria-label", `${this.of.title} in ${this.of.unit}, now: ${said.join(", ")}.`);
  }

  get width(): number {
    return this.frame.canvas.clientWidth;
  }

  private choice(): HTMLElement {
    const options = this.of.sources.map(({ name }, i) => element("option", { value: String(i) }, name));
    const select = element("select", { "aria-label": `Link of ${this.of.title}` }, ...options);
    select.addEventListener("change", () => {
      this.source = this.of.sources[Number(select.value)] as Source;
      this.list();
      this.told = 0;
      this.draw(performance.now());
    });
    return select;
  }

  private list(): void {
    const curves = this.source.curves();
    this.outputs = [];
    const lines = curves.length > MOST_VALUES ? [] : curves.map(({ label, group }) => {
      const output = element("output", {});
      this.outputs.push(output);
      return element("div", {}, swatch(group, group === null ? undefined : this.shared.groups[group]), label, output);
    });
    this.frame.values.replaceChildren(...lines);
    this.frame.values.classList.toggle("two", lines.length > 5);
    this.read();
  }

  private read(): void {
    if (!this.chart) return;
    const values = this.chart.values();
    const curves = this.source.curves();
    if (this.outputs.length !== curves.length && curves.length <= MOST_VALUES) return this.list();
    this.outputs.forEach((output, i) => {
      const value = values ? (values[i] ?? Number.NaN) : (curves[i]?.series.last ?? Number.NaN);
      output.textContent = Number.isNaN(value) ? "–" : digits(value);
    });
  }
}

/** All plots of a run on one time axis. */
export class LivePlots {
  private readonly axis: TimeAxis;
  private readonly plots: LivePlot[];
  private readonly observer: ResizeObserver;
  private readonly shared: Shared;
  private width = 0;
  private frame = 0;
  private following = false;

  constructor(host: HTMLElement, plots: Plot[], groups: Shared["groups"], changes: Shared["changes"], duration: number, names = true) {
    this.axis = new TimeAxis(duration);
    this.shared = { groups, changes, axis: this.axis, theme: new Theme() };
    if (names && groups.length > 1) {
      host.append(legendOf(groups, (group, visible) => this.plots.forEach(({ chart }) => chart.setVisible(group, visible))));
    }
    this.plots = plots.map((plot, i) => new LivePlot(plot, this.shared, host, i === 0));
    this.shared.theme.onChange(() => this.plots.forEach(({ chart }) => chart.redraw()));
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(host);
    this.fit();
  }

  /** Show the last `seconds` up to `now`; null: all of the time so far, or of the run. */
  follow(seconds: number | null, now: number): void {
    if (now > this.axis.duration) this.axis.extend(now);
    if (seconds !== null) this.axis.show(Math.max(0, now - seconds), Math.max(now, seconds));
    else if (this.following) this.axis.reset();
    this.following = seconds !== null;
  }

  /** Draw with the screen's next frame; a page that nobody sees has none. */
  draw(): void {
    this.frame ||= requestAnimationFrame((now) => {
      this.frame = 0;
      for (const plot of this.plots) plot.draw(now);
    });
  }

  end(): void {
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
    for (const { chart } of this.plots) chart.u.destroy();
  }

  private fit(): void {
    const width = this.plots[0]?.width ?? 0;
    if (!width || width === this.width) return;
    this.width = width;
    for (const { chart } of this.plots) chart.resize(width);
  }
}

const ALL_FLOWS = "all flows";

/** The plots of a run: goodput, RTT and window of each flow, queues of the links that have a rate. */
export function plotsOf(run: LiveRun, legend: Legend): Plot[] {
  const flows = (pick: (flow: FlowLive) => Series) => (): Curve[] =>
    legend.flows.flatMap(({ id, label, group }) => {
      const live = run.flows.get(id);
      return live ? [{ label, group, flow: id, series: pick(live) }] : [];
    });
  const limited = legend.links.filter(({ rate_bps }) => rate_bps !== null);
  const narrowest = Math.min(...limited.map(({ rate_bps }) => rate_bps ?? Number.POSITIVE_INFINITY));
  const capacity: Reference[] = Number.isFinite(narrowest) ? [{ value: narrowest / 1e6, label: `capacity ${digits(narrowest / 1e6)} Mbit/s` }] : [];
  const base: Reference[] = legend.base_rtt_s ? [{ value: legend.base_rtt_s * 1e3, label: `base ${digits(legend.base_rtt_s * 1e3)} ms` }] : [];
  const of = (references: Reference[], curves: () => Curve[]): Source[] => [{ name: ALL_FLOWS, references, curves }];
  const plots: Plot[] = [
    { key: "goodput", title: "Goodput", unit: "Mbit/s", note: "Bytes read by the receiver's application, over half a second.", fromZero: true, sources: of(capacity, flows((flow) => flow.goodput)) },
    { key: "rtt", title: "RTT", unit: "ms", note: "Smoothed RTT of the sender's kernel.", fromZero: false, sources: of(base, flows((flow) => flow.rtt)) },
    { key: "cwnd", title: "Congestion window", unit: "packets", note: "", fromZero: true, sources: of([], flows((flow) => flow.cwnd)) },
  ];
  if (limited.length) plots.push(queues(limited, (name) => run.links.get(name)));
  return plots;
}

/** The queue of each link that has one; first those called `bottleneck`. */
export function queues(limited: Pick<Legend["links"][number], "name" | "buffer_bytes">[], live: (name: string) => LinkLive | undefined): Plot {
  const sorted = [...limited].sort((a, b) => Number(b.name === "bottleneck") - Number(a.name === "bottleneck"));
  return {
    key: "queue", title: "Queue", unit: "kB", note: "Bytes that wait, ten times a second. Triangles: drops.", fromZero: true,
    sources: sorted.map(({ name, buffer_bytes }) => ({
      name,
      references: buffer_bytes ? [{ value: buffer_bytes / 1e3, label: `buffer ${digits(buffer_bytes / 1e3)} kB` }] : [],
      curves: () => {
        const link = live(name);
        return link ? [{ label: name, group: null, flow: null, series: link.queue, drops: link.drops }] : [];
      },
    })),
  };
}
