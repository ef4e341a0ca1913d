// A panel of a run's report: its frame with title, values under the crosshair and note, and a chart for each view shown.

import { Chart, type Picked, type Place } from "../charts/chart";
import { element } from "../charts/dom";
import { hasStates } from "../charts/lanes";
import { indexOf } from "../charts/marks/points";
import type { Mark, Panel, Points, View } from "../charts/model";
import type { Shared } from "../charts/pen";
import { frameOf } from "../charts/frame";
import { inWords, pointInWords, readoutOf } from "./readout";
import { rateOf } from "./relative";
import { colours } from "../charts/states";

const KEYS = "Arrow keys move the crosshair, plus and minus zoom, 0 shows the whole run.";

/** Tell the page the time at the crosshair. */
export type OnTime = (time: number | null) => void;

/** A panel on the page. */
export interface Drawn {
  key: string;
  setVisible(group: number, visible: boolean): void;
  resize(width: number): void;
  redraw(): void;
  /** Show other data of the same panel. */
  setData(panel: Panel): void;
  /** Go on with what came since. */
  append(more: Panel): void;
  /** Mark what was at a time that is read in another panel. */
  follow(time: number | null): void;
}

export function draw(panel: Panel, shared: Shared, host: HTMLElement, isFirst: boolean, onTime: OnTime): Drawn {
  return panel.isStacked ? stacked(panel, shared, host) : single(panel, shared, host, isFirst, onTime);
}

/** One view at a time. */
function single(panel: Panel, shared: Shared, host: HTMLElement, isFirst: boolean, onTime: OnTime): Drawn {
  const frame = frameOf(panel.key, panel.title, panel.unit, host);
  const first = panel.views[0] as View;
  let readout = readoutOf(panel, first, shared.groups);
  let chosen = first;
  const hidden = new Set<number>();
  const list = (): void => {
    frame.values.replaceChildren(...readout.elements);
    frame.values.classList.toggle("two", readout.inTwo);
    for (const group of hidden) readout.setVisible(group, false);
  };
  list();
  const onCursor = (chart: Chart): void => {
    readout.show(chart);
    onTime(panel.across ? null : chart.cursor);
  };
  const chart = new Chart(panel, first, shared, frame.canvas, { width: widthOf(host, frame.canvas), isFirst, isLast: true, onCursor });
  const inColours = first.marks.some((mark) => mark.kind === "bar" && mark.state !== null);
  if (hasStates(first.marks) || inColours) {
    frame.canvas.append(colours(panel.states));
  }
  const tell = (view: View): void => {
    frame.note.textContent = view.note;
    const keys = view.lanes.length ? "" : ` ${KEYS}`;
    frame.canvas.setAttribute("aria-label", inWords(panel, view, shared.groups, shared.axis.duration) + keys);
  };
  const rate = rateOf(panel, () => show(chosen));
  const show = (view: View): void => {
    if (view.name !== chosen.name) {
      // Another view has other curves.
      readout = readoutOf(panel, view, shared.groups);
      list();
    }
    chosen = view;
    chart.setData(rate?.of(view) ?? view);
    tell(view);
  };
  tell(first);
  if (panel.views.length > 1) frame.head.append(choice(panel.choice, panel.views.map((view) => view.name), 0, (i) => show(panel.views[i] as View)));
  if (rate) frame.head.append(...rate.elements);
  const shownIn = (other: Panel) => other.views.find((view) => view.name === chart.shown.name);
  return {
    key: panel.key,
    setVisible: (group, visible) => {
      if (visible) hidden.delete(group);
      else hidden.add(group);
      chart.setVisible(group, visible);
      readout.setVisible(group, visible);
    },
    resize: (width) => chart.resize(width),
    redraw: () => chart.redraw(),
    setData: (other) => show(shownIn(other) ?? chart.shown),
    append: (more) => {
      const view = shownIn(more);
      if (view) chart.append(view);
      tell(chart.shown);
    },
    follow: () => {},
  };
}

/** All views above one another, with a shared axis. A point is the same ACK in each. */
function stacked(panel: Panel, shared: Shared, host: HTMLElement): Drawn {
  const frame = frameOf(panel.key, panel.title, panel.unit, host);
  const near = element("output", { "aria-label": "ACK at the crosshair" });
  frame.values.append(near);
  frame.note.textContent = panel.views[0]?.note ?? "";
  frame.canvas.setAttribute("aria-label", inWords(panel, panel.views[0] as View, shared.groups, shared.axis.duration));
  const charts: Chart[] = [];
  const mark = (picked: Picked[]): void => {
    near.textContent = picked.length === 1 && picked[0] ? pointInWords(panel, picked[0]) : "";
    for (const chart of charts) chart.ring(picked.flatMap((one) => place(chart.shown, one)));
  };
  const onCursor = (from: Chart): void => {
    // All charts show one chart's crosshair; only the chart that the pointer is in shows its height.
    if (!from.hasPointer) return;
    const picked = from.nearest();
    mark(picked ? [picked] : []);
  };
  const width = widthOf(host, frame.canvas);
  panel.views.forEach((view, i) => {
    const half = element("div", { class: "half" }, element("p", { class: "axis" }, `${view.title} (${view.unit})`));
    frame.canvas.append(half);
    charts.push(new Chart(panel, view, shared, half, { width, isFirst: false, isLast: i === panel.views.length - 1, onCursor }));
  });
  const byState = panel.states.length > 0 && dots(panel.views[0] as View).length === 1;
  const setColors = (on: boolean) => charts.forEach((chart) => chart.setColors(on));
  if (panel.states.length > 0) {
    frame.head.append(choice("Colours of points", ["by flow", "by BBR state"], byState ? 1 : 0, (i) => setColors(i === 1)));
  }
  setColors(byState);
  return {
    key: panel.key,
    setVisible: (group, visible) => charts.forEach((chart) => chart.setVisible(group, visible)),
    resize: (width) => charts.forEach((chart) => chart.resize(width)),
    redraw: () => charts.forEach((chart) => chart.redraw()),
    setData: (other) => charts.forEach((chart, i) => chart.setData(other.views[i] ?? chart.shown)),
    append: (more) => charts.forEach((chart, i) => more.views[i] && chart.append(more.views[i])),
    follow: (time) => mark(time === null ? [] : dots(charts[0]?.shown as View).flatMap((one) => at(one, time))),
  };
}

function widthOf(host: HTMLElement, canvas: HTMLElement): number {
  return canvas.clientWidth || host.clientWidth;
}

function dots(view: View): Points[] {
  return view.marks.filter((mark: Mark): mark is Points => mark.kind === "point" && mark.look === "dot");
}

function at(mark: Points, time: number): Picked[] {
  const index = indexOf(mark, time);
  return index === null ? [] : [{ mark, index }];
}

/** The place of the same ACK in another view. */
function place(view: View, { mark, index }: Picked): Place[] {
  const same = dots(view).find((one) => one.flow === mark.flow);
  return same ? [{ x: same.x?.[index] ?? 0, y: same.values[index] ?? Number.NaN, group: same.group }] : [];
}

function choice(name: string, texts: string[], chosen: number, onChoose: (index: number) => void): HTMLElement {
  const options = texts.map((text, i) => {
    const option = element("option", { value: String(i) }, text);
    option.selected = i === chosen;
    return option;
  });
  const select = element("select", { "aria-label": name }, ...options);
  select.addEventListener("change", () => onChoose(Number(select.value)));
  return select;
}
