// The series that `python/dumbbell/report/render/payload.py` puts into the page.

export interface Group {
  label: string;
  light: string;
  dark: string;
  dash: number[];
  flows: number;
}

export interface Reference {
  value: number;
  label: string;
}

/** One curve. A NaN in its values is a gap. A level is what others are read against. */
export interface Line {
  group: number | null;
  flow: string | null;
  name: string;
  level: boolean;
  values: (number | null)[];
}

/** A curve with times of its own. */
export interface Curve {
  group: number;
  flow: string;
  /** Index into the panel's quantities. */
  quantity: number;
  /** A value holds until the next one. */
  steps: boolean;
  time: Float64Array;
  /** NaN is a gap. */
  values: Float32Array;
}

export type Look = "curve" | "pale" | "low" | "high" | "resent" | "lost";

/** One of the things that a panel shows of each flow. */
export interface Quantity {
  word: string;
  look: Look;
}

/** Moments at which something befell packets of a view's link. */
export interface Marks {
  kind: "drop" | "mark";
  time: number[];
}

export interface View {
  name: string;
  time: number[];
  lines: Line[];
  curves: Curve[];
  references: Reference[];
  second: { unit: string; factor: number } | null;
  marks: Marks[];
  note: string;
  /** Values above it are cut off. */
  top: number | null;
}

export interface Panel {
  key: string;
  title: string;
  unit: string;
  fromZero: boolean;
  quantities: Quantity[];
  views: View[];
}

/** What can befall packets: a lane of marks. */
export interface Kind {
  key: string;
  word: string;
  pale: boolean;
}

/** The plan changes a link. */
export interface Change {
  time: number;
  label: string;
}

export interface Events {
  kind: string;
  group: number | null;
  time: number[];
  count: number[];
}

export interface State {
  word: string;
  light: string;
  dark: string;
  height: number;
}

/** States of one flow, in the order of time. */
export interface BandLane {
  flow: string;
  group: number;
  start: Float64Array;
  end: Float64Array;
  state: Uint8Array;
}

export interface Bands {
  states: State[];
  lanes: BandLane[];
  note: string;
}

/** ACKs of one flow; state 255: of none. */
export interface Cloud {
  flow: string;
  group: number;
  time: Float64Array;
  inflight: Float32Array;
  rate: Float32Array;
  rtt: Float32Array;
  state: Uint8Array;
}

export interface Limit {
  label: string;
  inflight: number[];
  values: number[];
}

/** Delivery rate (bit/s) and RTT (ms) against data in flight (bytes). */
export interface Kleinrock {
  clouds: Cloud[];
  bdp: number | null;
  full: number | null;
  rateLimits: Limit[];
  rttLimits: Limit[];
  topRate: number;
  topRtt: number;
  bottomRtt: number;
  right: number;
  note: string;
}

export interface Report {
  duration: number;
  groups: Group[];
  panels: Panel[];
  changes: Change[];
  kinds: Kind[];
  events: Events[];
  eventsNote: string;
  countedPerFlow: string[];
  bands: Bands | null;
  kleinrock: Kleinrock | null;
}

type Series = Float64Array | Float32Array | Uint8Array;
/** All series as base64; `ticks` instead of `time` where they are integers. */
type Packed<T> = { [K in keyof T]: K extends "time" | "values" | "count" ? string : T[K] extends Series ? string : T[K] };
type Ticked<T> = Omit<Packed<T>, "time"> & { ticks: string };
interface PackedView extends Omit<Packed<View>, "lines" | "curves" | "marks"> {
  lines: (Packed<Line> & Partial<Ticked<Curve>>)[];
  marks: Packed<Marks>[];
}
interface PackedReport extends Omit<Report, "panels" | "events" | "bands" | "kleinrock"> {
  /** Seconds. */
  tick: number;
  panels: (Omit<Panel, "views"> & { views: PackedView[] })[];
  events: Packed<Events>[];
  bands: (Omit<Bands, "lanes"> & { lanes: Packed<BandLane>[] }) | null;
  kleinrock: (Omit<Kleinrock, "clouds"> & { clouds: Ticked<Cloud>[] }) | null;
}

/** Read the report's series out of the element with this id. */
export function read(id: string): Report {
  const packed = JSON.parse(document.getElementById(id)?.textContent ?? "") as PackedReport;
  const times = (base64: string) => Float64Array.from(new Uint32Array(bytes(base64)), (n) => n * packed.tick);
  const { bands, kleinrock } = packed;
  return {
    ...packed,
    panels: packed.panels.map((panel) => ({ ...panel, views: panel.views.map((view) => unpackView(view, times)) })),
    events: packed.events.map((events) => ({ ...events, time: doubles(events.time), count: doubles(events.count) })),
    bands: bands && {
      ...bands,
      lanes: bands.lanes.map((lane) => ({
        ...lane,
        start: times(lane.start),
        end: times(lane.end),
        state: new Uint8Array(bytes(lane.state)),
      })),
    },
    kleinrock: kleinrock && {
      ...kleinrock,
      clouds: kleinrock.clouds.map(({ ticks, ...cloud }) => ({
        ...cloud,
        time: times(ticks),
        inflight: floats(cloud.inflight),
        rate: floats(cloud.rate),
        rtt: floats(cloud.rtt),
        state: new Uint8Array(bytes(cloud.state)),
      })),
    },
  };
}

function unpackView(view: PackedView, times: (base64: string) => Float64Array): View {
  const lines: Line[] = [];
  const curves: Curve[] = [];
  for (const line of view.lines) {
    const { group, flow, quantity = 0, steps = false, ticks } = line;
    if (ticks === undefined) lines.push({ ...line, values: gaps(floats(line.values)) });
    else curves.push({ group: group ?? 0, flow: flow ?? "", quantity, steps, time: times(ticks), values: floats(line.values) });
  }
  const marks = view.marks.map((one) => ({ ...one, time: doubles(one.time) }));
  return { ...view, lines, curves, time: doubles(view.time), marks };
}

export function bytes(base64: string): ArrayBuffer {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)).buffer;
}

function doubles(base64: string): number[] {
  return Array.from(new Float64Array(bytes(base64)));
}

function floats(base64: string): Float32Array {
  return new Float32Array(bytes(base64));
}

function gaps(values: Float32Array): (number | null)[] {
  return Array.from(values, (value) => (Number.isNaN(value) ? null : value));
}
