// Values at the crosshair, in words and numbers: what they look like follows from the marks of a panel.

import type { Chart, Picked } from "../charts/chart";
import { element } from "../charts/dom";
import { hasStates, rowsOf } from "../charts/lanes";
import { swatch } from "../charts/legend";
import type { Group, Mark, Panel, View } from "../charts/model";
import { digits } from "../charts/numbers";

const MOST_VALUES = 12;
const MOST_NAMED = 5;

export interface Readout {
  elements: HTMLElement[];
  /** The names are in two columns. */
  inTwo: boolean;
  /** Show the values at a chart's crosshair. */
  show(chart: Chart): void;
  setVisible(group: number, visible: boolean): void;
}

export function readoutOf(panel: Panel, view: View, groups: Group[]): Readout {
  if (hasStates(view.marks)) return states(view, groups);
  if (view.lanes.length) return events(panel);
  return panel.quantities.length ? matrix(panel, view, groups) : list(panel, view, groups);
}

/** The description of a point, with its values in all views of its panel. */
export function pointInWords(panel: Panel, { mark, index }: Picked): string {
  const across = panel.across;
  const views = panel.views.map((view) => {
    const same = view.marks.find((one) => one.kind === "point" && one.look === "dot" && one.flow === mark.flow);
    const value = same?.kind === "point" ? (same.values[index] ?? Number.NaN) : Number.NaN;
    return `${view.title} ${number(Number.isNaN(value) ? null : value, null)} ${view.unit}`;
  });
  const state = panel.states[mark.state?.[index] ?? -1]?.word;
  return [
    `${mark.flow}, t = ${(mark.timeS[index] ?? 0).toFixed(3)} s${state ? `, sent in ${state}` : ""}`,
    `${digits(mark.x?.[index] ?? 0)} ${across?.unit} ${across?.title}`,
    views.join(", "),
  ].join("\n");
}

/** The range of each curve, what each lane holds: for those who do not see the plot. */
export function inWords(panel: Panel, view: View, groups: Group[], duration: number): string {
  const over = `over ${duration} s`;
  if (hasStates(view.marks)) return `${panel.title} ${over}: ${statesInWords(panel, view)}.`;
  if (view.lanes.length) return `${panel.title} over time. ${countsInWords(view)}.`;
  if (panel.across) {
    const clouds = view.marks.flatMap((mark) => (mark.kind === "point" && mark.look === "dot" ? [mark] : []));
    if (!clouds.length) return `${panel.title}: ${view.title} (${view.unit}) against ${panel.across.title} (${panel.across.unit}).`;
    const points = clouds.map((mark) => `${mark.flow} ${mark.values.length.toLocaleString("en")} points`);
    return `${panel.views.map((one) => one.title).join(", and ")}, against data ${panel.across.title}: ${points.join(", ")}.`;
  }
  const curves = view.marks.slice(0, MOST_VALUES).flatMap((mark) => {
    if (mark.kind !== "line" && mark.kind !== "point") return [];
    const known = mark.values.filter((value) => !Number.isNaN(value));
    if (!known.length) return [];
    const [low, high] = [known.reduce((a, b) => Math.min(a, b)), known.reduce((a, b) => Math.max(a, b))];
    const word = panel.quantities[mark.quantity]?.word;
    const name = mark.group === null ? view.name || nameOf(mark) : (groups[mark.group]?.label ?? "");
    return [`${name}${word ? ` ${word}` : ""} from ${digits(low)} to ${digits(high)}`];
  });
  return `${panel.title} in ${panel.unit} ${over}: ${curves.join("; ")}.`;
}

function nameOf(mark: Mark): string {
  return mark.kind === "line" ? mark.name : "";
}

function statesInWords(panel: Panel, view: View): string {
  const lanes = view.marks.flatMap((mark) => {
    if (mark.kind !== "state") return [];
    const seconds = panel.states.map(() => 0);
    mark.state.forEach((state, i) => {
      seconds[state] = (seconds[state] ?? 0) + (mark.endS[i] ?? 0) - (mark.startS[i] ?? 0);
    });
    const said = panel.states.flatMap((state, i) => (seconds[i] ? [`${state.word} ${digits(seconds[i] ?? 0)} s`] : []));
    return [`${view.lanes[mark.lane]?.name}: ${said.join(", ")}`];
  });
  return lanes.join("; ");
}

function countsInWords(view: View): string {
  const total = (lane: number) =>
    view.marks.reduce((sum, mark) => {
      if (mark.kind !== "tick" || mark.lane !== lane) return sum;
      return sum + (mark.count ? mark.count.reduce((a, b) => a + b, 0) : mark.timeS.length);
    }, 0);
  const said = (lanes: number[]) => lanes.map((lane) => `${total(lane)} ${view.lanes[lane]?.word}`).join(", ");
  return rowsOf(view).map((row) => `${row.name}: ${said(row.lanes)}`).join("; ");
}

/** A line per flow with the state that it is in. */
function states(view: View, groups: Group[]): Readout {
  const lines = view.lanes.map(({ name, group }) => {
    const value = element("output", {});
    const of = group === null ? undefined : groups[group];
    return { group, value, line: element("div", {}, swatch(group, of), name, value) };
  });
  return {
    elements: lines.map(({ line }) => line),
    inTwo: false,
    show: (chart) => {
      const found = chart.states();
      lines.forEach(({ value }, i) => {
        value.textContent = found ? (found[i]?.word ?? "–") : "";
      });
    },
    setVisible: (group, visible) => dim(lines, group, visible),
  };
}

/** A sentence on the events near the crosshair. */
function events(panel: Panel): Readout {
  const near = element("output", { "aria-label": `${panel.title} at the crosshair` });
  return {
    elements: [near],
    inTwo: false,
    show: (chart) => {
      const counts = chart.counts(true);
      const said = rowsOf(chart.shown).flatMap((row) => {
        const words = row.lanes.flatMap((lane) => (counts?.[lane] ? [`${counts[lane]} ${chart.shown.lanes[lane]?.word}`] : []));
        return words.length ? [`${row.name}: ${words.join(", ")}`] : [];
      });
      near.textContent = said.length > MOST_NAMED ? `${said.slice(0, MOST_NAMED).join("; ")}; …` : said.join("; ");
    },
    setVisible: () => {},
  };
}

/** A line per curve: one quantity of each flow. */
function list(panel: Panel, view: View, groups: Group[]): Readout {
  const curves = view.marks.flatMap((mark, index) => (mark.kind === "line" ? [{ mark, index }] : []));
  if (curves.length > MOST_VALUES) return { elements: [], inTwo: false, show: () => {}, setVisible: () => {} };
  const lines = curves.map(({ mark, index }) => {
    const group = mark.group === null ? undefined : groups[mark.group];
    const value = element("output", {});
    const label = group?.label ?? mark.name;
    const name = curves.length > MOST_NAMED ? (label.split(" ")[0] ?? "") : label;
    const line = element("div", {}, swatch(mark.isLevel ? "level" : mark.group, group), name, value);
    return { group: mark.group, index, value, line };
  });
  return {
    elements: lines.map(({ line }) => line),
    inTwo: lines.length > MOST_NAMED,
    show: (chart) => {
      const values = chart.values();
      for (const { value, index } of lines) value.textContent = values ? withSecond(values[index] ?? null, panel, chart.shown) : "";
    },
    setVisible: (group, visible) => dim(lines, group, visible),
  };
}

/** A table: a row per flow, a column per quantity, whose head shows how it is drawn. */
function matrix(panel: Panel, view: View, groups: Group[]): Readout {
  const head = element("tr", {}, element("td", {}));
  for (const { word, look } of panel.quantities) {
    head.append(element("th", { scope: "col" }, element("i", { class: `look ${look}`, "aria-hidden": "true" }), word));
  }
  const body = element("tbody", {});
  const table = element("table", { class: "matrix", "aria-label": "Values at the crosshair" }, element("thead", {}, head), body);
  const rows = new Map<string, { group: number | null; line: HTMLElement; cells: HTMLElement[] }>();
  const cells = view.marks.map((mark): HTMLElement | undefined => {
    if (mark.kind !== "line" && mark.kind !== "point") return undefined;
    const flow = mark.flow ?? nameOf(mark);
    let row = rows.get(flow);
    if (!row) {
      const of = mark.group === null ? undefined : groups[mark.group];
      const made = panel.quantities.map(() => element("output", {}));
      const line = element("tr", {}, element("th", { scope: "row" }, swatch(mark.group, of), flow));
      line.append(...made.map((one) => element("td", {}, one)));
      body.append(line);
      row = { group: mark.group, line, cells: made };
      rows.set(flow, row);
    }
    return mark.kind === "line" ? row.cells[mark.quantity] : undefined;
  });
  return {
    elements: [table],
    inTwo: false,
    show: (chart) => {
      const values = chart.values();
      cells.forEach((cell, i) => {
        if (cell) cell.textContent = values ? number(values[i] ?? null, panel.decimals) : "";
      });
    },
    setVisible: (group, visible) => dim([...rows.values()], group, visible),
  };
}

function dim(lines: { group: number | null; line: HTMLElement }[], group: number, visible: boolean): void {
  for (const one of lines) if (one.group === group) one.line.classList.toggle("hidden", !visible);
}

function withSecond(value: number | null, panel: Panel, view: View): string {
  if (value === null || !view.second) return number(value, panel.decimals);
  return `${digits(value)} ${panel.unit} · ${digits(value * view.second.factor)} ${view.second.unit}`;
}

function number(value: number | null, decimals: number | null): string {
  if (value === null) return "–";
  if (decimals === null) return digits(value);
  return value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}
