// A plot with its caption: title, unit, values under the crosshair, where the data comes from.

import { CurvePlot } from "./curve-plot";
import type { Group, Panel, Report, View } from "./data";
import { element } from "./dom";
import { frameOf } from "./frame";
import { LanePlot, type Row, rows as rowsOf, total } from "./lane-plot";
import { swatch } from "./legend";
import { LinePlot } from "./line-plot";
import { type Matrix, matrix } from "./matrix";
import { digits } from "./numbers";
import type { TimeAxis } from "./time-axis";

const MOST_READOUTS = 12;
const MOST_NAMED = 5;
const KEYS = "Arrow keys move the crosshair, plus and minus zoom, 0 shows the whole run.";

export interface Drawn {
  setVisible(group: number, visible: boolean): void;
  resize(): void;
  redraw(): void;
}

export type OnTime = (time: number | null) => void;

export function linePanel(panel: Panel, report: Report, axis: TimeAxis, host: HTMLElement, onTime: OnTime): Drawn {
  const first = panel.views[0] as View;
  const frame = frameOf(panel.key, panel.title, panel.unit, host);
  frame.canvas.setAttribute("aria-label", description(panel, first, report.groups, axis));
  const rows = readouts(first, report.groups);
  frame.values.append(...rows.map((row) => row.line));
  frame.values.classList.toggle("two", rows.length > MOST_NAMED);
  const plot = new LinePlot(panel, report, axis, frame.canvas, (drawn) => {
    const values = drawn.valuesAtCursor();
    rows.forEach((row, i) => {
      row.value.textContent = values ? text(values[i] ?? null, panel, drawn.shown) : "";
    });
    onTime(timeAtCursor(drawn));
  });
  frame.note.textContent = first.note;
  if (panel.views.length > 1) {
    frame.head.append(
      linkSelector(panel.views, (view) => {
        plot.select(view);
        frame.note.textContent = view.note;
        frame.canvas.setAttribute("aria-label", description(panel, view, report.groups, axis));
      }),
    );
  }
  return {
    setVisible: (group, visible) => {
      plot.setVisible(group, visible);
      rows.forEach((row) => row.group === group && row.line.classList.toggle("hidden", !visible));
    },
    resize: () => plot.resize(frame.canvas.clientWidth),
    redraw: () => plot.u.redraw(false, true),
  };
}

/** A panel of curves with times of their own, and a table of what they are at the crosshair. */
export function curvePanel(panel: Panel, report: Report, axis: TimeAxis, host: HTMLElement, onTime: OnTime): Drawn {
  const view = panel.views[0] as View;
  const frame = frameOf(panel.key, panel.title, panel.unit, host);
  frame.canvas.setAttribute("aria-label", curvesInWords(panel, view, report.groups, axis));
  const values: Matrix = matrix(panel, view, report.groups);
  frame.values.append(values.element);
  const plot = new CurvePlot(panel, report, axis, frame.canvas, (drawn) => {
    values.show(drawn.valuesAtCursor());
    onTime(timeAtCursor(drawn));
  });
  frame.note.textContent = view.note;
  return {
    setVisible: (group, visible) => {
      plot.setVisible(group, visible);
      values.setVisible(group, visible);
    },
    resize: () => plot.resize(frame.canvas.clientWidth),
    redraw: () => plot.u.redraw(false, true),
  };
}

export function lanePanel(report: Report, axis: TimeAxis, host: HTMLElement, onTime: OnTime): Drawn {
  const all = rowsOf(report);
  const frame = frameOf("events", "What befell packets", "", host);
  frame.note.textContent = report.eventsNote;
  frame.canvas.setAttribute("aria-label", `What befell packets over time. ${laneTotals(all)}`);
  const near = element("output", { "aria-label": "What befell packets at the crosshair" });
  frame.values.append(near);
  const plot = new LanePlot(all, report, axis, frame.canvas, (drawn) => {
    near.textContent = countsInWords(all, drawn.countsAtCursor());
    onTime(timeAtCursor(drawn));
  });
  return {
    setVisible: (group, visible) => plot.setVisible(group, visible),
    resize: () => plot.resize(frame.canvas.clientWidth),
    redraw: () => plot.u.redraw(false, true),
  };
}

function timeAtCursor({ u }: LinePlot | CurvePlot | LanePlot): number | null {
  const left = u.cursor.left ?? -1;
  return left >= 0 ? u.posToVal(left, "x") : null;
}

interface Readout {
  group: number | null;
  line: HTMLElement;
  value: HTMLElement;
}

function readouts(view: View, groups: Group[]): Readout[] {
  if (view.lines.length > MOST_READOUTS) return [];
  return view.lines.map((line) => {
    const group = line.group === null ? undefined : groups[line.group];
    const value = element("output", {});
    const label = group?.label ?? line.name;
    const name = view.lines.length > MOST_NAMED ? (label.split(" ")[0] ?? "") : label;
    return { group: line.group, value, line: element("div", {}, swatch(line.level ? "level" : line.group, group), name, value) };
  });
}

function text(value: number | null, panel: Panel, view: View): string {
  if (value === null) return "–";
  const number = digits(value);
  return view.second ? `${number} ${panel.unit} · ${digits(value * view.second.factor)} ${view.second.unit}` : number;
}

function linkSelector(views: View[], onSelect: (view: View) => void): HTMLElement {
  const options = views.map((view, i) => element("option", { value: String(i) }, view.name));
  const select = element("select", { "aria-label": "Link whose queue is shown" }, ...options);
  select.addEventListener("change", () => {
    const view = views[Number(select.value)];
    if (view) onSelect(view);
  });
  return select;
}

function description(panel: Panel, view: View, groups: Group[], axis: TimeAxis): string {
  const known = view.lines.filter((line) => line.values.some((value) => value !== null));
  const curves = known.slice(0, MOST_READOUTS).map((line) => {
    const values = line.values.filter((value) => value !== null);
    const low = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    const high = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
    const name = line.group === null ? view.name || line.name : (groups[line.group]?.label ?? "");
    return `${name} from ${digits(low)} to ${digits(high)}`;
  });
  return `${panel.title} in ${panel.unit} over ${axis.duration} s: ${curves.join("; ")}. ${KEYS}`;
}

function curvesInWords(panel: Panel, view: View, groups: Group[], axis: TimeAxis): string {
  const curves = view.curves.slice(0, MOST_READOUTS).map((curve) => {
    const values = curve.values.filter((value) => !Number.isNaN(value));
    const low = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    const high = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
    const word = panel.quantities[curve.quantity]?.word;
    return `${groups[curve.group]?.label ?? curve.flow}${word ? ` ${word}` : ""} from ${digits(low)} to ${digits(high)}`;
  });
  return `${panel.title} in ${panel.unit} over ${axis.duration} s: ${curves.join("; ")}. ${KEYS}`;
}

function countsInWords(all: Row[], counts: number[][] | null): string {
  const said = (counts ?? []).flatMap((row, i) => {
    const words = row.flatMap((n, lane) => (n ? [`${n} ${all[i]?.lanes[lane]?.word}`] : []));
    return words.length ? [`${all[i]?.name}: ${words.join(", ")}`] : [];
  });
  return said.length > MOST_NAMED ? `${said.slice(0, MOST_NAMED).join("; ")}; …` : said.join("; ");
}

function laneTotals(all: Row[]): string {
  return `${all.map((row) => `${row.name}: ${row.lanes.map((lane) => `${total(lane)} ${lane.word}`).join(", ")}`).join("; ")}.`;
}
