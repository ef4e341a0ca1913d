// Values at the crosshair as a table: a row per flow, a column per quantity, whose head shows how it is drawn.

import type { Group, Panel, View } from "./data";
import { element } from "./dom";
import { swatch } from "./legend";
import { digits } from "./numbers";

const MARKS = ["lost", "resent"];

export interface Matrix {
  element: HTMLElement;
  /** Values of all curves of the view, in their order. */
  show(values: (number | null)[] | null): void;
  setVisible(group: number, visible: boolean): void;
}

export function matrix(panel: Panel, view: View, groups: Group[]): Matrix {
  const head = element("tr", {}, element("td", {}));
  const columns = panel.quantities.length ? panel.quantities : [{ word: "", look: "curve" as const }];
  for (const { word, look } of columns) {
    head.append(element("th", { scope: "col" }, element("i", { class: `look ${look}`, "aria-hidden": "true" }), word));
  }
  const body = element("tbody", {});
  const table = element("table", { class: "matrix", "aria-label": "Values at the crosshair" });
  if (panel.quantities.length) table.append(element("thead", {}, head));
  table.append(body);
  // Of a sequence, the last digits tell.
  const precise = panel.key.startsWith("snd_");
  const rows = new Map<string, { row: HTMLElement; group: number }>();
  const cells = view.curves.map((curve) => {
    const key = `${curve.flow} ${curve.quantity}`;
    let of = rows.get(curve.flow);
    if (!of) {
      const name = panel.quantities.length ? curve.flow : (groups[curve.group]?.label ?? curve.flow);
      const row = element("tr", {}, element("th", { scope: "row" }, swatch(curve.group, groups[curve.group]), name));
      for (const _ of columns) row.append(element("td", {}, element("output", {})));
      body.append(row);
      of = { row, group: curve.group };
      rows.set(curve.flow, of);
    }
    const isMark = MARKS.includes(columns[curve.quantity]?.look ?? "");
    return isMark ? undefined : of.row.children[curve.quantity + 1]?.firstElementChild ?? fail(key);
  });
  return {
    element: table,
    show: (values) =>
      cells.forEach((cell, i) => {
        if (cell) cell.textContent = values ? text(values[i] ?? null, precise) : "";
      }),
    setVisible: (group, visible) => {
      for (const of of rows.values()) if (of.group === group) of.row.classList.toggle("hidden", !visible);
    },
  };
}

function text(value: number | null, precise: boolean): string {
  if (value === null) return "–";
  return precise ? value.toLocaleString("en", { minimumFractionDigits: 3, maximumFractionDigits: 3 }) : digits(value);
}

function fail(key: string): never {
  throw new Error(`no cell for ${key}`);
}
