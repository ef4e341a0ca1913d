// The charts of reports on an empty page: what a test puts into them is all that they know.

import { Chart } from "../../web/charts/chart";
import type { Figure } from "../../web/charts/figure";
import type { Line, Panel, View } from "../../web/charts/model";
import { SmallChart } from "../../web/charts/small-chart";
import { Theme } from "../../web/charts/theme";
import { TimeAxis } from "../../web/charts/time-axis";
import { LiveRun, type RunEvent } from "../../web/ui/runs/live";
import { Series } from "../../web/ui/runs/series";

function place(): HTMLElement {
  return document.body.appendChild(document.createElement("div"));
}

/** One curve over time, a value each second. */
function live(): void {
  const shared = {
    groups: [{ label: "a", flows: ["a"], light: "#0072b2", dark: "#3d9fe0", dash: [] }],
    changes: [],
    axis: new TimeAxis(10),
    theme: new Theme(),
  };
  const line = (from: number, to: number): Line => ({
    kind: "line", group: 0, flow: "a", name: "", isLevel: false, quantity: 0, x: null, steps: false,
    timeS: Float64Array.from({ length: to - from }, (_, i) => from + i),
    values: Float32Array.from({ length: to - from }, (_, i) => 3 * (from + i)),
  });
  const view = (from: number, to: number): View => ({
    name: "", timeS: new Float64Array(), note: "", references: [], second: null, low: null, top: null, lanes: [],
    key: "", perUnit: 1, title: "", unit: "", meanBps: null, isRelative: false, marks: [line(from, to)],
  });
  const panel: Panel = {
    key: "k", perUnit: 1, title: "t", unit: "u", views: [], fromZero: true, quantities: [], across: null, states: [],
    isStacked: false, choice: "", decimals: null, isLog: false, pictured: 1,
  };
  const host = place();
  const chart = new Chart(panel, view(0, 5), shared, host, { width: 600, isFirst: true, isLast: true, onCursor() {} });
  Object.assign(globalThis, { chart, view, shared, host });
}

/** Two curves of few points. */
function few(): void {
  const figure = (from: number, to: number): Figure => ({
    name: "f",
    x: { kind: "linear", ticks: [0, 5, 10].map((at) => ({ at, text: `${at}` })), range: null, title: "x" },
    y: { kind: "linear", ticks: [], range: null, title: "" },
    series: ["a", "b"].map((key, k) => {
      const points = Array.from({ length: to - from }, (_, i): [number, number] => [from + i, (k + 1) * (from + i)]);
      return { key, label: key, color: null, dash: 0, spots: [], shapes: [{ kind: "line", points, hasDots: true }] };
    }),
  });
  const host = place();
  Object.assign(globalThis, { small: new SmallChart(figure(0, 5), 500, host, () => {}), figure, host });
}

/** A series of an hour, ten values a second, with one peak and one gap. */
function hour(): object {
  const series = new Series();
  for (let i = 0; i < 36_000; i++) series.push(i / 10, i === 1234 ? 1000 : i === 2345 ? -7 : i >= 9000 && i < 9600 ? null : Math.sin(i));
  const [times, values] = [[...series.times], [...series.values]];
  const recent = times.filter((time) => time >= 3540);
  return {
    points: series.length,
    recent: recent.length,
    ascending: times.every((time, i) => i === 0 || time > (times[i - 1] as number)),
    peaks: [values.indexOf(1000), values.indexOf(-7)].map((at) => times[at]),
    gap: times.some((time, i) => time >= 900 && time < 960 && Number.isNaN(values[i])),
    first: times[0],
    last: times.at(-1),
  };
}

/** What a run is after these events. */
function after(events: RunEvent[]): object {
  const run = new LiveRun();
  for (const event of events) run.take(event);
  const flow = run.flows.get("f1");
  return { time: run.time, ticks: run.ticks, stage: run.stage, health: run.health, log: run.log, times: [...(flow?.goodput.times ?? [])], bps: flow?.bps ?? null };
}

Object.assign(globalThis, { live, few, hour, after });
