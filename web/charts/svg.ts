// Drawing: elements and axes of an SVG.

type Attributes = Record<string, string | number>;

export function svg<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: (SVGElement | string)[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface Tick {
  at: number;
  text: string;
}

const LETTER = 6.6;

/** Ticks that do not run into one another. */
export function readable(ticks: Tick[]): Tick[] {
  const found: Tick[] = [];
  let free = -Infinity;
  for (const tick of ticks) {
    const half = (tick.text.length * LETTER) / 2;
    if (tick.at - half < free) continue;
    found.push(tick);
    free = tick.at + half + 6;
  }
  return found;
}

/** Grid, ticks and the horizontal axis' title. */
export function frame(box: Box, x: Tick[], y: Tick[], title: string, grid = true): SVGGElement {
  const group = svg("g", { class: "frame" });
  for (const tick of y) {
    group.append(
      svg("line", { x1: box.left, x2: box.right, y1: tick.at, y2: tick.at }),
      svg("text", { x: box.left - 8, y: tick.at, dy: "0.32em", "text-anchor": "end" }, tick.text),
    );
  }
  for (const tick of readable(x)) {
    if (grid) group.append(svg("line", { x1: tick.at, x2: tick.at, y1: box.top, y2: box.bottom }));
    group.append(svg("text", { x: tick.at, y: box.bottom + 16, "text-anchor": "middle" }, tick.text));
  }
  const middle = (box.left + box.right) / 2;
  group.append(svg("text", { x: middle, y: box.bottom + 34, "text-anchor": "middle", class: "title" }, title));
  return group;
}

export function path(points: [number, number][]): string {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");
}

export const DASHES = ["", "7 3", "2 3", "8 3 2 3"];

/** The dash of a curve; whole for the first. */
export function dashed(dash: number): string {
  return DASHES[dash % DASHES.length] ?? "";
}
