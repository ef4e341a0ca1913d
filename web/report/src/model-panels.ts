// Panels of what BBR does: its states over time, and where its flows are on Kleinrock's plot.

import { BandPlot } from "./band-plot";
import type { Bands, Cloud, Kleinrock, Report, State } from "./data";
import { element } from "./dom";
import { frameOf } from "./frame";
import { swatch } from "./legend";
import { digits, prefix } from "./numbers";
import type { Drawn, OnTime } from "./panels";
import { type Half, type Picked, ScatterPlot } from "./scatter-plot";
import { indexAt } from "./search";
import type { TimeAxis } from "./time-axis";

export function bandPanel(bands: Bands, report: Report, axis: TimeAxis, host: HTMLElement, onTime: OnTime): Drawn {
  const frame = frameOf("bbr_state", "BBR state", "", host);
  frame.note.textContent = bands.note;
  frame.canvas.setAttribute("aria-label", `BBR's state over ${axis.duration} s. ${bandsInWords(bands)}`);
  const near = bands.lanes.map((lane) => {
    const value = element("output", {});
    const line = element("div", {}, swatch(lane.group, report.groups[lane.group]), lane.flow, value);
    return { group: lane.group, value, line };
  });
  frame.values.append(...near.map(({ line }) => line));
  const plot = new BandPlot(bands, report, axis, frame.canvas, (drawn) => {
    const states = drawn.statesAtCursor();
    near.forEach(({ value }, i) => {
      value.textContent = states ? (states[i]?.word ?? "–") : "";
    });
    const left = drawn.u.cursor.left ?? -1;
    onTime(left >= 0 ? drawn.u.posToVal(left, "x") : null);
  });
  frame.canvas.append(element("ul", { class: "states", "aria-label": "Colours of states" }, ...bands.states.map(entry)));
  return {
    setVisible: (group, visible) => {
      plot.setVisible(group, visible);
      for (const one of near) if (one.group === group) one.line.classList.toggle("hidden", !visible);
    },
    resize: () => plot.resize(frame.canvas.clientWidth),
    redraw: () => plot.u.redraw(false, true),
  };
}

function entry(state: State): HTMLElement {
  const box = element("i", { class: "state", "aria-hidden": "true" });
  box.style.setProperty("--light", state.light);
  box.style.setProperty("--dark", state.dark);
  box.style.setProperty("--tall", `${Math.max(25, Math.round(100 * state.height))}%`);
  return element("li", {}, element("span", { class: "box" }, box), state.word);
}

function bandsInWords(bands: Bands): string {
  const lanes = bands.lanes.map((lane) => {
    const seconds = bands.states.map(() => 0);
    lane.state.forEach((state, i) => {
      seconds[state] = (seconds[state] ?? 0) + (lane.end[i] ?? 0) - (lane.start[i] ?? 0);
    });
    const said = bands.states.flatMap((state, i) => (seconds[i] ? [`${state.word} ${digits(seconds[i] ?? 0)} s`] : []));
    return `${lane.flow}: ${said.join(", ")}`;
  });
  return `${lanes.join("; ")}.`;
}

/** Delivery rate above RTT, both over data in flight. */
export function kleinrockPanel(plot: Kleinrock, report: Report, axis: TimeAxis, host: HTMLElement): Drawn & Follows {
  const frame = frameOf("kleinrock", "Kleinrock's plot", "", host);
  const [rateFactor, ratePrefix] = prefix(plot.topRate);
  const [sizeFactor, sizePrefix] = prefix(plot.right);
  const xUnit = plot.bdp === null ? { name: `${sizePrefix}B`, bytes: sizeFactor } : { name: "BDP", bytes: plot.bdp };
  const rate: Half = {
    unit: `${ratePrefix}bit/s`,
    factor: rateFactor,
    bottom: 0,
    top: plot.topRate,
    of: (cloud) => cloud.rate,
    limits: plot.rateLimits,
    below: true,
    slope: "in flight / base RTT",
    hasAxis: false,
  };
  const rtt: Half = {
    unit: "ms",
    factor: 1,
    bottom: plot.bottomRtt,
    top: plot.topRtt,
    of: (cloud) => cloud.rtt,
    limits: plot.rttLimits,
    below: false,
    slope: "in flight / capacity",
    hasAxis: true,
  };
  const near = element("output", { "aria-label": "ACK at the crosshair" });
  const inWords = ({ cloud, index }: Picked): string => {
    const state = report.bands?.states[cloud.state[index] ?? -1]?.word;
    const inflight = (cloud.inflight[index] ?? 0) / xUnit.bytes;
    return [
      `${cloud.flow}, t = ${(cloud.time[index] ?? 0).toFixed(3)} s${state ? `, sent in ${state}` : ""}`,
      `${digits(inflight)} ${xUnit.name} in flight`,
      `${known((cloud.rate[index] ?? Number.NaN) / rateFactor)} ${rate.unit}, RTT ${known(cloud.rtt[index] ?? Number.NaN)} ms`,
    ].join("\n");
  };
  const show = (picked: Picked[]): void => {
    near.textContent = picked.length === 1 && picked[0] ? inWords(picked[0]) : "";
    for (const half of halves) half.mark(picked);
  };
  const onCursor = (from: ScatterPlot): void => {
    // The crosshair of one stands in both; only the one that the pointer is in has a height.
    if (from.u.cursor.event == null) return;
    const picked = from.nearest();
    show(picked ? [picked] : []);
  };
  const halves = [rate, rtt].map((half) => {
    const title = half === rate ? `Delivery rate (${rate.unit})` : "RTT (ms)";
    const place = element("div", { class: "half" }, element("p", { class: "axis" }, title));
    frame.canvas.append(place);
    return new ScatterPlot(half, plot, xUnit, report, axis, place, onCursor);
  });
  const byState = report.bands !== null && plot.clouds.length === 1;
  const setColors = (on: boolean): void => {
    for (const half of halves) {
      half.byState = on;
      half.u.redraw(false);
    }
  };
  if (report.bands !== null) frame.head.append(colorSelector(byState, setColors));
  setColors(byState);
  frame.values.append(near);
  frame.note.textContent = plot.note;
  frame.canvas.setAttribute("aria-label", `Delivery rate, and RTT, against data in flight: ${inTotal(plot.clouds)}.`);
  return {
    setVisible: (group, visible) => halves.forEach((half) => half.setVisible(group, visible)),
    resize: () => halves.forEach((half) => half.resize(frame.canvas.clientWidth)),
    redraw: () => halves.forEach((half) => half.u.redraw(false, true)),
    follow: (time) => show(time === null ? [] : plot.clouds.flatMap((cloud) => at(cloud, time))),
  };
}

export interface Follows {
  /** Mark the ACKs at a time that is read in another plot. */
  follow(time: number | null): void;
}

function known(value: number): string {
  return Number.isNaN(value) ? "–" : digits(value);
}

function at(cloud: Cloud, time: number): Picked[] {
  const index = indexAt(cloud.time, time);
  return index < 0 || index === cloud.time.length - 1 ? [] : [{ cloud, index }];
}

function inTotal(clouds: Cloud[]): string {
  return clouds.map((cloud) => `${cloud.flow} ${cloud.time.length.toLocaleString("en")} points`).join(", ");
}

function colorSelector(byState: boolean, onSelect: (byState: boolean) => void): HTMLElement {
  const options = ["by flow", "by BBR state"].map((name, i) => {
    const option = element("option", { value: String(i) }, name);
    option.selected = byState === (i === 1);
    return option;
  });
  const select = element("select", { "aria-label": "Colours of points" }, ...options);
  select.addEventListener("change", () => onSelect(select.value === "1"));
  return select;
}
