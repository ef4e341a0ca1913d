// A study as the page carries it.


export interface Axis {
  key: string;
  label: string;
  title: string;
  kind: "linear" | "log" | "category";
  /** Where each value stands. */
  at: number[];
  texts: string[];
  ticks: string[];
  /** Index of each cell's value. */
  cells: number[];
}

/** cell, index in `of`, n, mean, low, high, median, standard deviation */
type Row = [number, number, number, number, number | null, number | null, number, number | null];

interface Packed {
  run: string;
  of: string;
  value: string;
}

export interface Panel {
  name: string;
  title: string;
  unit: string;
  direction: "higher" | "lower" | "neither";
  formula: string;
  source: string;
  of: string[];
  points: Row[];
  values: Packed | null;
}

export interface Curve {
  cell: number;
  of: string;
  /** How many flows have a value, and of how many. */
  label: string;
  /** What the curve goes up to: less than 1 if some flows have none. */
  share: number;
  thinned: boolean;
  values: string;
}

export interface Distribution {
  key: string;
  title: string;
  unit: string;
  curves: Curve[];
}

export interface Study {
  confidence: string;
  hues: { light: string; dark: string }[];
  of: string[];
  axes: Axis[];
  x: number | null;
  lines: number | null;
  /** Number, id, seed and repetition of the runs of each cell. */
  runs: [number, string, number, number][][];
  command: string;
  /** Beginning of the path of a run's report, if runs have one. */
  report: string | null;
  panels: Panel[];
  distributions: Distribution[];
}

export interface Entry {
  cell: number;
  of: string;
  n: number;
  mean: number;
  low: number | null;
  high: number | null;
  median: number;
  sd: number | null;
}

export function readStudy(id: string): Study {
  return JSON.parse(document.getElementById(id)?.textContent ?? "") as Study;
}

export function floats(packed: string): Float32Array {
  return new Float32Array(bytes(packed));
}

/** Cell and what it is of -> entry. */
export function entries(panel: Panel): Map<string, Entry> {
  return new Map(
    panel.points.map(([cell, of, n, mean, low, high, median, sd]) => {
      const name = panel.of[of] ?? "";
      return [entryKey(cell, name), { cell, of: name, n, mean, low, high, median, sd }];
    }),
  );
}

export function entryKey(cell: number, of: string): string {
  return `${cell} ${of}`;
}

/** Of a panel: run -> value, of one algorithm. */
export function valuesOf(panel: Panel, of: string): Map<number, number> {
  const found = new Map<number, number>();
  if (!panel.values) return found;
  const runs = new Uint32Array(bytes(panel.values.run));
  const which = new Uint8Array(bytes(panel.values.of));
  const values = floats(panel.values.value);
  const wanted = panel.of.indexOf(of);
  runs.forEach((run, i) => {
    if (which[i] === wanted) found.set(run, values[i] ?? NaN);
  });
  return found;
}

function bytes(base64: string): ArrayBuffer {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)).buffer;
}
