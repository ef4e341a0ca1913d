// The legend of all plots, and what else belongs to all of them: time under the crosshair, zoom.

import { seconds } from "./base-plot";
import type { Group } from "./data";
import { element } from "./dom";
import type { TimeAxis } from "./time-axis";

/** Buttons that show and hide a group in every plot; Shift-click shows it alone. */
export function legend(groups: Group[], setVisible: (group: number, visible: boolean) => void): HTMLElement {
  const visible = groups.map(() => true);
  const buttons = groups.map((group, index) => {
    const button = element(
      "button",
      { type: "button", class: "flow", "aria-pressed": "true", "data-group": String(index) },
      swatch(index, group),
      group.label.replace(" x ", " × "),
    );
    button.title = "Show or hide in all plots. Shift-click: show alone.";
    button.addEventListener("click", (event) => {
      const alone = event.shiftKey && !visible.every((on, i) => on === (i === index));
      groups.forEach((_, i) => {
        const on = event.shiftKey ? !alone || i === index : i === index ? !visible[i] : visible[i];
        if (on === visible[i]) return;
        visible[i] = on ?? true;
        buttons[i]?.setAttribute("aria-pressed", String(on));
        setVisible(i, on ?? true);
      });
    });
    return button;
  });
  return element("div", { class: "legend", role: "group", "aria-label": "Flows shown in all plots" }, ...buttons);
}

/** Of a group, of a level that others are read against, or of neither. */
export function swatch(index: number | "level" | null, group: Group | undefined): HTMLElement {
  const dash = group?.dash.length ? " dashed" : "";
  const kind = index === null ? "swatch queue" : index === "level" ? "swatch level dashed" : `swatch${dash}`;
  const made = element("i", { class: kind, "aria-hidden": "true" });
  if (group) {
    made.style.setProperty("--light", group.light);
    made.style.setProperty("--dark", group.dark);
  }
  return made;
}

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
