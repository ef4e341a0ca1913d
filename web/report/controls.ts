// The controls of all plots over time: the time under the crosshair, zoom.

import { seconds } from "../charts/axes";
import { element } from "../charts/dom";
import type { TimeAxis } from "../charts/time-axis";

/** The time range that is shown, buttons to change it, and the time under the crosshair. */
export function controls(axis: TimeAxis): { bar: HTMLElement; setTime(time: number | null): void } {
  const time = element("output", { class: "time", "aria-label": "Time under the crosshair" });
  const button = (text: string, label: string, act: () => void): HTMLButtonElement => {
    const made = element("button", { type: "button", "aria-label": label, title: label }, text);
    made.addEventListener("click", act);
    return made;
  };
  const reset = button("whole run", "Show the whole run", () => axis.reset());
  const update = () => {
    reset.disabled = axis.isWhole;
  };
  axis.onChange(update);
  update();
  const bar = element(
    "div",
    { class: "controls", role: "group", "aria-label": "Time axis of all plots" },
    time,
    button("‹", "Earlier", () => axis.pan(-0.5)),
    button("›", "Later", () => axis.pan(0.5)),
    button("−", "Zoom out", () => axis.zoom(2)),
    button("+", "Zoom in", () => axis.zoom(0.5)),
    reset,
  );
  return {
    bar,
    setTime: (value) => {
      time.textContent = value === null ? "" : `t = ${seconds(value, 10 ** Math.floor(Math.log10((axis.max - axis.min) / 500)))} s`;
    },
  };
}
