// What the colours of BBR's states mean.

import { element } from "./dom";
import type { State } from "./model";

export function colours(states: readonly State[]): HTMLElement {
  return element("ul", { class: "states", "aria-label": "Colours of states" }, ...states.map(entry));
}

function entry(state: State): HTMLElement {
  const box = element("i", { class: "state", "aria-hidden": "true" });
  box.style.setProperty("--light", state.light);
  box.style.setProperty("--dark", state.dark);
  box.style.setProperty("--tall", `${Math.max(25, Math.round(100 * state.height))}%`);
  return element("li", {}, element("span", { class: "box" }, box), state.word);
}
