// The series that `python/dumbbell/report/payload.py` puts into the page.

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

/** Moments at which something befell packets of a view's link. */
export interface Marks {
  kind: "drop" | "mark";
  time: number[];
}

export interface View {
  name: string;
  time: number[];
  lines: Line[];
  references: Reference[];
  second: { unit: string; factor: number } | null;
  marks: Marks[];
  note: string;
}

export interface Panel {
  key: string;
  title: string;
  unit: string;
  fromZero: boolean;
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

export interface Report {
  duration: number;
  groups: Group[];
  panels: Panel[];
  changes: Change[];
  kinds: Kind[];
  events: Events[];
  eventsNote: string;
  countedPerFlow: string[];
}

type Packed<T> = { [K in keyof T]: K extends "time" | "values" | "count" ? string : T[K] };
interface PackedView extends Omit<Packed<View>, "lines" | "marks"> {
  lines: Packed<Line>[];
  marks: Packed<Marks>[];
}
interface PackedReport extends Omit<Report, "panels" | "events"> {
  panels: (Omit<Panel, "views"> & { views: PackedView[] })[];
  events: Packed<Events>[];
}

/** Read the report's series out of the element with this id. */
export function read(id: string): Report {
  const packed = JSON.parse(document.getElementById(id)?.textContent ?? "") as PackedReport;
  return {
    ...packed,
    panels: packed.panels.map((panel) => ({ ...panel, views: panel.views.map(unpackView) })),
    events: packed.events.map((events) => ({ ...events, time: doubles(events.time), count: doubles(events.count) })),
  };
}

function unpackView(view: PackedView): View {
  const lines = view.lines.map((line) => ({ ...line, values: gaps(floats(line.values)) }));
  const marks = view.marks.map((one) => ({ ...one, time: doubles(one.time) }));
  return { ...view, lines, time: doubles(view.time), marks };
}

function bytes(base64: string): ArrayBuffer {
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
