// The legend of all plots of a page: buttons that show and hide what they name.

import type { Group } from "./model";
import { element } from "./dom";

/** Buttons that show and hide a group in every plot; Shift-click shows it alone. */
export function legend(groups: Pick<Group, "label" | "light" | "dark" | "dash">[], setVisible: (group: number, visible: boolean) => void): HTMLElement {
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

/** The swatch of a group, of a reference level, or of neither. */
export function swatch(index: number | "level" | null, group: Pick<Group, "light" | "dark" | "dash"> | undefined): HTMLElement {
  const dash = group?.dash.length ? " dashed" : "";
  const kind = index === null ? "swatch queue" : index === "level" ? "swatch level dashed" : `swatch${dash}`;
  const made = element("i", { class: kind, "aria-hidden": "true" });
  if (dash && group) made.style.setProperty("--dashes", dashes(group.dash));
  if (group) {
    made.style.setProperty("--light", group.light);
    made.style.setProperty("--dark", group.dark);
  }
  return made;
}

/** The stops of a gradient that shows a line's dashes, as lengths on and off. */
export function dashes(lengths: readonly number[]): string {
  let at = 0;
  return lengths
    .map((length, i) => {
      const from = at;
      at += length;
      return `${i % 2 ? "transparent" : "var(--of)"} ${from}px ${at}px`;
    })
    .join(", ");
}
