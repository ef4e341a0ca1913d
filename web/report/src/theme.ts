// Colours of the canvas, from the same custom properties as the page's.

import type { Group, State } from "./data";

const dark = matchMedia("(prefers-color-scheme: dark)");
let printing = false;

/** A custom property of the page, such as `--grid`. */
export function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function groupColor(group: Group | undefined): string {
  if (!group) return color("--queue");
  return dark.matches && !printing ? group.dark : group.light;
}

export function stateColor(state: State): string {
  return dark.matches && !printing ? state.dark : state.light;
}

export const FONT = '11px "Segoe UI", -apple-system, "Helvetica Neue", Roboto, "Liberation Sans", Arial, sans-serif';

/** Call `redraw` whenever colours change: another theme, or paper, which is white in any theme. */
export function onThemeChange(redraw: () => void): void {
  dark.addEventListener("change", redraw);
  const paper = (on: boolean) => () => {
    printing = on;
    document.documentElement.classList.toggle("paper", on);
    redraw();
  };
  addEventListener("beforeprint", paper(true));
  addEventListener("afterprint", paper(false));
}
