// The frame of every plot: title, values under the crosshair, and a note on where the data comes from.

import { element } from "./dom";

export interface Frame {
  head: HTMLElement;
  values: HTMLElement;
  note: HTMLElement;
  canvas: HTMLElement;
}

export function frameOf(key: string, title: string, unit: string, host: HTMLElement): Frame {
  const id = `plot-${key}`;
  const head = element("h3", { id }, title, " ", element("span", { class: "unit" }, unit));
  const values = element("div", { class: "values" });
  const note = element("p", { class: "note" });
  const canvas = element("div", { class: "canvas", tabindex: "0", role: "group", "aria-roledescription": "plot" });
  const side = element("div", { class: "side" }, head, values, note);
  host.append(element("section", { class: "plot", "data-plot": key, "aria-labelledby": id }, side, canvas));
  return { head, values, note, canvas };
}
