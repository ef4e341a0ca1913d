// Drawing: elements, scales and axes of an SVG.

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

export type Scale = (value: number) => number;

export function linear(from: [number, number], to: [number, number]): Scale {
  const span = from[1] - from[0] || 1;
  return (value) => to[0] + ((value - from[0]) / span) * (to[1] - to[0]);
}

export function logarithmic(from: [number, number], to: [number, number]): Scale {
  const scale = linear([Math.log(from[0]), Math.log(from[1])], to);
  return (value) => scale(Math.log(value));
}

/** Four to seven round numbers that cover the span. */
export function round(low: number, high: number): number[] {
  const raw = (high - low || 1) / 5;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw) ?? raw;
  const first = Math.ceil(low / step - 1e-9);
  const found: number[] = [];
  for (let i = first; i * step <= high + step * 1e-9; i++) found.push(Number((i * step).toPrecision(12)));
  return found;
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
