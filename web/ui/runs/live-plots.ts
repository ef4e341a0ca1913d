// Plots of a run while it goes on: those of reports, drawn again as figures come.

import { Chart } from "../../charts/chart";
import { element } from "../../charts/dom";
import { legend as legendOf, swatch } from "../../charts/legend";
import type { Lane, Line, Mark, Panel, Reference, State, States, Ticks, View } from "../../charts/model";
import { digits } from "../../charts/numbers";
import type { Shared } from "../../charts/pen";
import { Theme } from "../../charts/theme";
import { TimeAxis } from "../../charts/time-axis";
import { frameOf } from "../../charts/frame";
import { colours } from "../../charts/states";
import type { Legend } from "../kit/run-messages";
import type { BbrLive } from "./bbr";
import type { Series } from "./series";

/** Lists of values beside a plot are no longer than this. */
const MOST_VALUES = 12;
/** A plot is described to those who don't see it this often, in milliseconds. */
const TELL_MS = 3000;
/** Finer curves are asked for this long after the last change of the time that is shown, in milliseconds. */
const AT_REST_MS = 200;

export interface Curve {
  label: string;
  group: number | null;
  flow: string | null;
  series: Series;
  drops?: readonly number[];
}

/** The states of one flow, in a lane. */
export interface StateLane {
  name: string;
  group: number | null;
  bbr: BbrLive;
}

/** What a panel shows of one link, or of all flows. */
export interface Source {
  name: string;
  curves: () => Curve[];
  references: Reference[];
  /** In place of curves. */
  lanes?: StateLane[];
}

/** Series of a run by the ids of its flows and the names of its links. */
export interface Measured {
  flows: ReadonlyMap<string, FlowSeries>;
  links: ReadonlyMap<string, LinkSeries>;
}

interface FlowSeries {
  goodput: Series;
  rtt: Series;
  cwnd: Series;
  inFlight?: Series;
  /** The simulator in the page has none. */
  bbr?: BbrLive;
}

interface LinkSeries {
  queue: Series;
  drops: readonly number[];
}

export interface Plot {
  key: string;
  title: string;
  unit: string;
  note: string;
  sources: Source[];
  fromZero: boolean;
  /** What lanes may show. */
  states?: State[];
}

/** Curves of a plot between two times, finer than those that are shown; null: there are none. */
export type Finer = (plot: string, source: string, from: number, to: number) => Promise<Curve[] | null>;

const QUIET: Omit<View, "name" | "marks" | "references"> = {
  timeS: new Float64Array(), note: "", second: null, low: null, top: null, lanes: [], key: "", perUnit: 1, title: "", unit: "",
  meanBps: null, isRelative: false,
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

function statesOf({ bbr }: StateLane, lane: number, known: readonly State[]): States {
  const index = new Map(known.map(({ key }, i) => [key, i]));
  return { kind: "state", lane, startS: Float64Array.from(bbr.start), endS: Float64Array.from(bbr.end), state: Uint8Array.from(bbr.state, (key) => index.get(key) ?? 255) };
}

function viewOf(source: Source, curves: readonly Curve[], states: readonly State[] = []): View {
  const lanes: Lane[] = (source.lanes ?? []).map(({ name, group }) => ({ key: "", name, group, word: "", isPale: false }));
  const marks: Mark[] = [...curves.map(lineOf), ...(source.lanes ?? []).map((one, lane) => statesOf(one, lane, states))];
  for (const { drops } of curves) if (drops?.length) marks.push(dropsOf(drops));
  return { ...QUIET, name: source.name, marks, references: source.references, lanes };
}

/** One plot with its values: those at the crosshair, or else the latest. */
class LivePlot {
  readonly chart: Chart;
  private source: Source;
  private outputs: HTMLOutputElement[] = [];
  private told = 0;
  private readonly frame;
  private readonly panel: Panel;
  /** Curves of the time that is shown, in place of the source's. */
  private finer: Curve[] | null = null;

  constructor(private readonly of: Plot, private readonly shared: Shared, host: HTMLElement, isFirst: boolean) {
    this.source = of.sources[0] as Source;
    this.frame = frameOf(of.key, of.title, of.unit, host);
    this.frame.note.textContent = of.note;
    this.panel = {
      key: of.key, perUnit: 1, title: of.title, unit: of.unit, views: [], fromZero: of.fromZero, quantities: [], across: null,
      states: of.states ?? [], isStacked: false, isLog: false, choice: "", decimals: null, pictured: 1,
    };
    if (of.sources.length > 1) this.frame.head.append(this.choice());
    const width = this.frame.canvas.clientWidth || host.clientWidth || 600;
    if (of.states) this.frame.canvas.append(colours(of.states));
    this.chart = new Chart(this.panel, this.view(), shared, this.frame.canvas, {
      width, isFirst, isLast: true, onCursor: () => this.read(),
    });
    this.list();
  }

  draw(now: number): void {
    this.chart.setData(this.view());
    if (this.chart.cursor === null) this.read();
    if (now - this.told < TELL_MS) return;
    this.told = now;
    const curves = this.source.curves().slice(0, MOST_VALUES);
    const said = curves.map(({ label, series }) => `${label} ${series.length ? digits(series.last) : "no value"}`);
    for (const { name, bbr } of this.source.lanes ?? []) said.push(`${name} ${this.word(bbr.state.at(-1)) || "no state"}`);
    this.frame.canvas.setAttribute("aria-label", `${this.of.title}${this.of.unit && ` in ${this.of.unit}`}, now: ${said.join(", ")}.`);
  }

  get width(): number {
    return this.frame.canvas.clientWidth;
  }

  /** The key of the plot and the name of what it shows, by which finer curves are asked for. */
  get subject(): [string, string] {
    return [this.of.key, this.source.name];
  }

  /** Show these curves in place of the source's; null: the source's again. */
  refine(curves: Curve[] | null): void {
    this.finer = curves;
    this.draw(performance.now());
  }

  private view(): View {
    return viewOf(this.source, this.finer ?? this.source.curves(), this.of.states);
  }

  private word(key: string | undefined): string {
    return this.of.states?.find((one) => one.key === key)?.word ?? "";
  }

  private choice(): HTMLElement {
    const options = this.of.sources.map(({ name }, i) => element("option", { value: String(i) }, name));
    const select = element("select", { "aria-label": `Link of ${this.of.title}` }, ...options);
    select.addEventListener("change", () => {
      this.source = this.of.sources[Number(select.value)] as Source;
      this.finer = null;
      this.list();
      this.told = 0;
      this.draw(performance.now());
    });
    return select;
  }

  private list(): void {
    const curves = this.source.curves();
    this.outputs = [];
    const named = [...curves, ...(this.source.lanes ?? []).map(({ name, group }) => ({ label: name, group }))];
    const lines = named.length > MOST_VALUES ? [] : named.map(({ label, group }) => {
      const output = element("output", {});
      this.outputs.push(output);
      return element("div", {}, swatch(group, group === null ? undefined : this.shared.groups[group]), label, output);
    });
    this.frame.values.replaceChildren(...lines);
    this.frame.values.classList.toggle("two", lines.length > 5 && named.every(({ label }) => label.length <= SHORT));
    this.read();
  }

  private read(): void {
    if (!this.chart) return;
    const values = this.chart.values();
    const lanes = this.source.lanes;
    if (lanes) {
      const states = this.chart.states();
      this.outputs.forEach((output, i) => (output.textContent = (states ? states[i]?.word : this.word(lanes[i]?.bbr.state.at(-1))) || "–"));
      return;
    }
    const curves = this.finer ?? this.source.curves();
    if (this.outputs.length !== curves.length && curves.length <= MOST_VALUES) return this.list();
    this.outputs.forEach((output, i) => {
      const value = values ? (values[i] ?? Number.NaN) : (curves[i]?.series.last ?? Number.NaN);
      output.textContent = Number.isNaN(value) ? "–" : digits(value);
    });
  }
}

/** All plots of a run on one time axis. */
/** So many letters of a curve's name leave room for a second column. */
const SHORT = 10;

export class LivePlots {
  private readonly axis: TimeAxis;
  private readonly plots: LivePlot[];
  private readonly observer: ResizeObserver;
  private readonly shared: Shared;
  private width = 0;
  private frame = 0;
  private following = false;
  private asking: ReturnType<typeof setTimeout> | undefined;
  private asked = 0;

  /** `finer`: where curves of a shorter time come from, once one zooms in. */
  constructor(host: HTMLElement, plots: Plot[], groups: Shared["groups"], changes: Shared["changes"], duration: number, private readonly finer: Finer | null = null) {
    this.axis = new TimeAxis(duration);
    this.shared = { groups, changes, axis: this.axis, theme: new Theme() };
    if (groups.length > 1) {
      host.append(legendOf(groups, (group, visible) => this.plots.forEach(({ chart }) => chart.setVisible(group, visible))));
    }
    this.plots = plots.map((plot, i) => new LivePlot(plot, this.shared, host, i === 0));
    this.shared.theme.onChange(() => this.plots.forEach(({ chart }) => chart.redraw()));
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(host);
    this.fit();
    if (finer) this.axis.onChange(() => this.refineSoon());
  }

  /** Once the axis is at rest, ask for what it shows. */
  private refineSoon(): void {
    clearTimeout(this.asking);
    const number = ++this.asked;
    const { min, max, isWhole } = this.axis;
    this.asking = setTimeout(() => {
      for (const plot of this.plots) {
        if (isWhole || !this.finer) plot.refine(null);
        else void this.finer(...plot.subject, min, max).then((curves) => number === this.asked && plot.refine(curves), () => undefined);
      }
    }, AT_REST_MS);
  }

  /** Show the last `seconds` up to `now`; null: all of the time so far, or of the run. */
  follow(seconds: number | null, now: number): void {
    if (now > this.axis.duration) this.axis.extend(now);
    if (seconds !== null) this.axis.show(Math.max(0, now - seconds), Math.max(now, seconds));
    else if (this.following) this.axis.reset();
    this.following = seconds !== null;
  }

  /** The time that one has zoomed into, in seconds; null: none. */
  get span(): readonly [number, number] | null {
    return this.following || this.axis.isWhole ? null : [this.axis.min, this.axis.max];
  }

  /** Zoom into a time. */
  zoom([min, max]: readonly [number, number]): void {
    this.axis.show(min, max);
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
    clearTimeout(this.asking);
    this.asked++;
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

/** The plots of a run: goodput, RTT and window of each flow, queues of the links that have a rate. `live`: as events tell them. */
export function plotsOf(run: Measured, legend: Legend, live = true): Plot[] {
  const flows = (pick: (flow: FlowSeries) => Series | undefined) => (): Curve[] =>
    legend.flows.flatMap(({ id, label, group }) => {
      const live = run.flows.get(id);
      const series = live && pick(live);
      return series ? [{ label, group, flow: id, series }] : [];
    });
  const limited = legend.links.filter(({ rate_bps }) => rate_bps !== null);
  const narrowest = Math.min(...limited.map(({ rate_bps }) => rate_bps ?? Number.POSITIVE_INFINITY));
  const capacity: Reference[] = Number.isFinite(narrowest) ? [{ value: narrowest / 1e6, label: `capacity ${digits(narrowest / 1e6)} Mbit/s` }] : [];
  const base: Reference[] = legend.base_rtt_s ? [{ value: legend.base_rtt_s * 1e3, label: `base ${digits(legend.base_rtt_s * 1e3)} ms` }] : [];
  const of = (references: Reference[], curves: () => Curve[]): Source[] => [{ name: ALL_FLOWS, references, curves }];
  const plots: Plot[] = [
    { key: "goodput", title: "Goodput", unit: "Mbit/s", note: `Bytes read by the receiver's application${live ? ", over half a second" : ""}.`, fromZero: true, sources: of(capacity, flows((flow) => flow.goodput)) },
    { key: "rtt", title: "RTT", unit: "ms", note: "Smoothed RTT of the sender's kernel.", fromZero: false, sources: of(base, flows((flow) => flow.rtt)) },
    { key: "cwnd", title: "Congestion window", unit: "packets", note: "", fromZero: true, sources: of([], flows((flow) => flow.cwnd)) },
  ];
  // Before its first event a run has no flows.
  if ([...run.flows.values()].every(({ inFlight }) => inFlight))
    plots.push({ key: "in-flight", title: "Bytes in flight", unit: "kB", note: "As the sender’s kernel counts them.", fromZero: true, sources: of([], flows((flow) => flow.inFlight)) });
  const lanes = legend.flows.flatMap(({ id, label, group }): StateLane[] => {
    const bbr = run.flows.get(id)?.bbr;
    return bbr?.state.length ? [{ name: label, group, bbr }] : [];
  });
  if (lanes.length) plots.push(bbrStates(lanes.slice(0, MOST_LANES), legend.states));
  if (limited.length) plots.push(queues(limited, (name) => run.links.get(name), live));
  return plots;
}

const MOST_LANES = 8;
/** States that gains can tell apart: see `stateOf`. */
const BY_GAINS = ["startup", "drain", "probe_bw_below", "probe_bw", "probe_bw_above", "probe_rtt"];

function bbrStates(lanes: StateLane[], known: readonly State[]): Plot {
  return {
    key: "bbr", title: "BBR state", unit: "", fromZero: true, states: known.filter(({ key }) => BY_GAINS.includes(key)),
    note: "Derived from its gains, ten times a second: shorter states can be missing. The report has the state as of each ACK.",
    sources: [{ name: ALL_FLOWS, references: [], curves: () => [], lanes }],
  };
}

/** The queue of each link that has one; first those called `bottleneck`. */
export function queues(limited: Pick<Legend["links"][number], "name" | "buffer_bytes">[], of: (name: string) => LinkSeries | undefined, live = true): Plot {
  const sorted = [...limited].sort((a, b) => Number(b.name === "bottleneck") - Number(a.name === "bottleneck"));
  return {
    key: "queue", title: "Queue", unit: "kB", note: `Bytes that wait${live ? ", ten times a second" : ""}. Triangles: drops.`, fromZero: true,
    sources: sorted.map(({ name, buffer_bytes }) => ({
      name,
      references: buffer_bytes ? [{ value: buffer_bytes / 1e3, label: `buffer ${digits(buffer_bytes / 1e3)} kB` }] : [],
      curves: () => {
        const link = of(name);
        return link ? [{ label: name, group: null, flow: null, series: link.queue, drops: link.drops }] : [];
      },
    })),
  };
}
