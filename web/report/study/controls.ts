// The reader's choice of a place in the plot for each varied key.

import { element } from "../../charts/dom";
import type { StudyPage } from "../../charts/model";
import type { Layout } from "./layout";

/** A list to choose from, with its name. */
export function choice(name: string, texts: string[], chosen: number, onChoose: (index: number) => void): HTMLLabelElement {
  const options = texts.map((text, i) => {
    const option = element("option", { value: String(i) }, text);
    option.selected = i === chosen;
    return option;
  });
  const select = element("select", {}, ...options);
  select.addEventListener("change", () => onChoose(Number(select.value)));
  return element("label", { class: "choice" }, `${name} `, select);
}

/** Choices for the horizontal axis, the curves, and the values of all other keys. A study of fewer than two keys has
 * none. */
export function controls(study: StudyPage, layout: Layout, onChange: () => void): HTMLElement {
  const bar = element("div", { class: "bar choices" });
  const fill = (): void => {
    bar.replaceChildren();
    if (study.axes.length < 2) return;
    const labels = study.axes.map((axis) => axis.label);
    const change = () => {
      fill();
      onChange();
    };
    bar.append(
      choice("across", labels, layout.x ?? 0, (i) => {
        if (layout.lines === i) layout.lines = layout.x;
        layout.x = i;
        change();
      }),
    );
    const others = labels.map((_, i) => i).filter((i) => i !== layout.x);
    const names = [...others.map((i) => labels[i] ?? ""), "none"];
    const chosen = layout.lines === null ? others.length : others.indexOf(layout.lines);
    bar.append(
      choice("curves by", names, chosen, (i) => {
        layout.lines = others[i] ?? null;
        change();
      }),
    );
    for (const i of others.filter((i) => i !== layout.lines)) {
      const axis = study.axes[i];
      if (!axis) continue;
      bar.append(
        choice(axis.label, axis.texts, layout.fixed[i] ?? 0, (value) => {
          layout.fixed[i] = value;
          onChange();
        }),
      );
    }
  };
  fill();
  return bar;
}
