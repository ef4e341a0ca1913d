// Bytes relative to a rate: what a sender is ahead of it, or behind. `python/dumbbell/report/relative.py` does it in figures.

import { element } from "../charts/dom";
import type { Line, Mark, Panel, View } from "../charts/model";

const ABSOLUTE = "from 0";
const MEAN = "less the mean rate";
const OTHER = "less another rate";

/** The view with values less what `bytesPerS` sends from the first value on. */
export function relative(view: View, bytesPerS: number): View {
  const starts = view.marks.flatMap((mark) => (mark.kind === "line" && mark.timeS?.length ? [mark.timeS[0] ?? 0] : []));
  const start = starts.length ? Math.min(...starts) : 0;
  const less = (values: ArrayLike<number>, times: ArrayLike<number>): Float32Array =>
    Float32Array.from(values, (value, i) => value - ((times[i] ?? 0) - start) * bytesPerS);
  const shifted = (mark: Mark): Mark => {
    if (mark.kind === "line" && mark.timeS) return { ...mark, values: less(mark.values, mark.timeS) } satisfies Line;
    if (mark.kind === "bar") return { ...mark, low: less(mark.low, mark.timeS), high: less(mark.high, mark.timeS) };
    return mark;
  };
  return { ...view, marks: view.marks.map(shifted), low: null, top: null, isRelative: true };
}

/** The reader's choice of a rate, for a panel of bytes. */
export interface Rate {
  elements: HTMLElement[];
  /** A view as it is chosen to be shown. */
  of(view: View): View;
}

/** A choice of how bytes are shown; null if no view of the panel has a mean rate. */
export function rateOf(panel: Panel, onChange: () => void): Rate | null {
  if (panel.views.every((view) => view.meanBps === null)) return null;
  const options = [ABSOLUTE, MEAN, OTHER].map((text) => element("option", { value: text }, text));
  const select = element("select", { "aria-label": "Bytes are shown" }, ...options);
  const input = element("input", { type: "number", min: "0", step: "any", "aria-label": "Rate in Mbit/s", title: "Mbit/s" });
  const other = element("label", { class: "rate" }, input, " Mbit/s");
  other.hidden = true;
  select.addEventListener("change", () => {
    other.hidden = select.value !== OTHER;
    if (select.value === OTHER && !input.value) input.value = ((panel.views[0]?.meanBps ?? 0) / 1e6).toPrecision(4);
    onChange();
  });
  input.addEventListener("input", onChange);
  return {
    elements: [select, other],
    of: (view) => {
      if (select.value === ABSOLUTE) return view;
      const rate = select.value === MEAN ? (view.meanBps ?? 0) : 1e6 * Number(input.value);
      return relative(view, rate / 8 / panel.perUnit);
    },
  };
}
