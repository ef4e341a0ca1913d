// A table of any metric with any keys in rows and columns: studies with many keys have more tables than a page.

import { element } from "../../charts/dom";
import type { Spot } from "../../charts/figure";
import type { StudyPage, StudyPanel } from "../../charts/model";
import { digits } from "../../charts/numbers";
import { choice, controls } from "./controls";
import type { Entries, Entry } from "./data";
import { along, type Cells, columns, horizontal, type Layout } from "./layout";
import { doubt } from "./metric";

type Open = (spot: Pick<Spot, "cell" | "of">, panel: StudyPanel) => void;

/** Fill `host` with the choices and the table that they select. */
export function anyTable(host: HTMLElement, study: StudyPage, cells: Cells, known: Entries[], open: Open): void {
  const layout: Layout = { x: study.x, lines: study.lines, fixed: study.axes.map(() => 0) };
  let at = 0;
  const body = element("div", { class: "wide fit", tabindex: "0", role: "region", "aria-label": "Any table" });
  const draw = () => {
    const panel = study.panels[at];
    if (panel) body.replaceChildren(table(study, cells, layout, panel, known[at] ?? new Map(), open));
  };
  const titles = study.panels.map(({ title, unit }) => (unit ? `${title} (${unit})` : title));
  const metrics = choice("metric", titles, at, (index) => {
    at = index;
    draw();
  });
  host.replaceChildren(element("div", { class: "choices" }, metrics), controls(study, layout, draw), body);
  draw();
}

function table(study: StudyPage, cells: Cells, layout: Layout, panel: StudyPanel, known: Entries, open: Open): HTMLElement {
  const axis = horizontal(study, layout);
  const found = columns(study, layout, panel.of)
    .map((column) => ({ column, entries: along(study, cells, layout, column, known) }))
    .filter(({ entries }) => entries.some(Boolean));
  const names = [axis?.title ?? "", ...found.map(({ column }) => column.label)];
  const head = element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)));
  const rows = (axis?.ticks ?? [""]).map((tick, row) => {
    const values = found.map(({ entries }) => value(study, panel, entries[row], open));
    return element("tr", {}, element("th", { scope: "row" }, tick), ...values);
  });
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
}

function value(study: StudyPage, panel: StudyPanel, entry: Entry | undefined, open: Open): HTMLElement {
  if (!entry) return element("td", { class: "n" }, "\u2013");
  const button = element("button", { type: "button", class: "point" }, digits(entry.mean));
  button.addEventListener("click", () => open(entry, panel));
  const interval = entry.low === null || entry.high === null ? ", one run" : ` [${digits(entry.low)}, ${digits(entry.high)}]`;
  const doubted = doubt(study, entry.cell);
  return element("td", {}, button, element("small", {}, interval), ...(doubted ? [element("small", { class: "doubt" }, doubted)] : []));
}
