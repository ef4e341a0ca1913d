// A chart of few points: curves with intervals, bars, steps, squares. It knows its data and its width, and nothing of the page.

import { type Axis, type Figure, fit, joined, type Series, type Shape, type Spot } from "./figure";
import { Picker } from "./picker";
import { linear, logarithmic, round, type Scale } from "./scales";
import { type Box, dashed, frame, path, readable, svg, type Tick } from "./svg";

const HEIGHT = 262;
/** Height of a plot with others beside it. */
const LOW = 190;
const LEFT = 50;
const BENEATH = 44;
const RIGHT = 14;
const WIDEST_BAR = 46;
/** Width of a square that has room for its number. */
const ROOM = 34;
const TALLEST = 420;

// Cividis (J. R. Nuñez, C. R. Anderton, R. S. Renslow, PLOS ONE 13:e0199239, 2018): the same order to all eyes, and in grey.
const RAMP = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];

interface Places {
  box: Box;
  x: Scale;
  y: Scale;
  /** Width of a bar, and how far it is from its category's middle, by the place of its series. */
  bar: number;
  offset(place: number, at: number): number;
  /** Size of a square. */
  cell: [number, number];
}

export class SmallChart {
  private readonly node = svg("svg", { role: "img", tabindex: 0 });
  private readonly picker: Picker;
  private readonly hidden = new Set<string>();

  constructor(
    private figure: Figure,
    private width: number,
    host: HTMLElement,
    onOpen: (spot: Spot) => void,
  ) {
    host.append(this.node);
    this.picker = new Picker(this.node, host, onOpen);
    this.redraw();
  }

  setData(figure: Figure): void {
    this.figure = figure;
    this.redraw();
  }

  /** Go on with what came since. */
  append(more: Figure): void {
    this.setData(joined(this.figure, more));
  }

  /** Series by their key. */
  setVisible(key: string, visible: boolean): void {
    if (visible) this.hidden.delete(key);
    else this.hidden.add(key);
    this.redraw();
  }

  resize(width: number): void {
    this.width = width;
    this.redraw();
  }

  redraw(): void {
    const { figure, width, node } = this;
    const shown = figure.series.filter(({ key }) => !this.hidden.has(key));
    const places = placesOf(figure, shown, width);
    const { box } = places;
    const height = box.bottom + BENEATH;
    node.setAttribute("width", String(width));
    node.setAttribute("height", String(height));
    node.setAttribute("aria-label", figure.name);
    const isGrid = figure.x.kind !== "category";
    const isHeat = figure.y.kind === "category";
    const parts: SVGElement[] = [frame(box, xTicks(figure, places), yTicks(figure, shown, places), figure.x.title, isGrid)];
    const heading = isHeat ? figure.y.title : figure.heading;
    if (heading) parts.push(svg("text", { x: 0, y: 10, class: "title" }, heading));
    if (!shown.length) parts.push(svg("text", { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2, "text-anchor": "middle", class: "title" }, figure.series.length ? "hidden in the legend" : "no values"));
    shown.forEach((series, place) => parts.push(...drawn(series, place, places)));
    node.replaceChildren(...parts);
    const spots = shown.flatMap(({ spots }, place) => spots.map((spot) => onDrawing(spot, place, figure, places)));
    this.picker.setSpots(spots, width, height);
  }
}

function placesOf(figure: Figure, shown: Series[], width: number): Places {
  const isHeat = figure.y.kind === "category";
  const rows = figure.y.ticks.length;
  const left = isHeat ? 22 + 7 * Math.max(...figure.y.ticks.map(({ text }) => text.length)) : LEFT;
  const top = isHeat || figure.heading ? 18 : 10;
  const bottom = isHeat ? top + Math.min(WIDEST_BAR, Math.max(22, TALLEST / rows)) * rows : (figure.heading ? LOW : HEIGHT) - BENEATH;
  const box = { left, right: width - RIGHT, top, bottom };
  const columns = Math.max(1, figure.x.ticks.length);
  const step = (box.right - box.left) / columns;
  const there = abreast(shown);
  const bar = Math.min(WIDEST_BAR, (0.78 * step) / Math.max(1, ...[...there.values()].map((bars) => bars.length)));
  const [low, high] = figure.y.range ?? fit(shown);
  const above = figure.y.range ? 0 : (high - low) * 0.05;
  const squares = (box.bottom - box.top) / Math.max(1, rows);
  return {
    box,
    x: figure.x.kind === "category" ? (value) => box.left + step * (value + 0.5) : across(figure.x, box),
    y: isHeat ? (value) => box.bottom - squares * (value + 0.5) : linear([low, high + above], [box.bottom, box.top]),
    bar,
    offset: (place, at) => {
      const bars = there.get(at) ?? [place];
      return (bars.indexOf(place) - (bars.length - 1) / 2) * bar;
    },
    cell: [step, squares],
  };
}

/** Category -> places of the series that have a bar there: one that has none takes no room. */
export function abreast(shown: Series[]): Map<number, number[]> {
  const there = new Map<number, number[]>();
  shown.forEach(({ shapes }, place) => {
    for (const shape of shapes) if (shape.kind === "bar") there.set(shape.x, [...(there.get(shape.x) ?? []), place]);
  });
  return there;
}

function across(axis: Axis, box: Box): Scale {
  if (axis.range) return linear(axis.range, [box.left, box.right]);
  const ends: [number, number] = [axis.ticks[0]?.at ?? 0, axis.ticks.at(-1)?.at ?? 1];
  return (axis.kind === "log" ? logarithmic : linear)(ends, [box.left + 10, box.right - 10]);
}

function xTicks(figure: Figure, { x }: Places): Tick[] {
  const axis = figure.x;
  if (axis.range) return round(...axis.range).map((value) => ({ at: x(value), text: value.toLocaleString("en", { maximumFractionDigits: 6 }) }));
  const ticks = axis.ticks.map(({ at, text }) => ({ at: x(at), text }));
  // Beside other plots, names that do not all fit are left to the legend.
  return figure.heading && readable(ticks).length < ticks.length ? [] : ticks;
}

function yTicks(figure: Figure, shown: Series[], { y }: Places): Tick[] {
  if (figure.y.ticks.length) return figure.y.ticks.map(({ at, text }) => ({ at: y(at), text }));
  if (!shown.length) return [];
  return round(...(figure.y.range ?? fit(shown))).map((value) => ({ at: y(value), text: value.toLocaleString("en", { maximumFractionDigits: 6 }) }));
}

function onDrawing(spot: Spot, place: number, figure: Figure, { x, y, offset }: Places): Spot {
  const beside = figure.x.kind === "category" && figure.y.kind !== "category" ? offset(place, spot.x) : 0;
  return { ...spot, x: x(spot.x) + beside, y: y(spot.y) };
}

/** Squares have their own colours; everything else has the colour of its series. */
function drawn(series: Series, place: number, places: Places): SVGElement[] {
  const shapes = series.shapes.flatMap((shape) => shapeOf(shape, series, place, places));
  if (series.shapes.every(({ kind }) => kind === "cell")) return shapes;
  const { color } = series;
  const style = color ? { style: `--light:${color.light};--dark:${color.dark}` } : {};
  return [svg("g", { class: "series", ...style }, ...shapes)];
}

function shapeOf(shape: Shape, series: Series, place: number, places: Places): SVGElement[] {
  const { x, y, bar, offset } = places;
  switch (shape.kind) {
    case "line": {
      const points = shape.points.map(([at, value]): [number, number] => [x(at), y(value)]);
      const dots = shape.hasDots ? points.map(([cx, cy]) => svg("circle", { cx, cy, r: 3 })) : [];
      return [svg("path", { class: "curve", d: path(points), "stroke-dasharray": dashed(series.dash) }), ...dots];
    }
    case "band": {
      const upper = shape.points.map(([at, , high]): [number, number] => [x(at), y(high)]);
      const lower = shape.points.map(([at, low]): [number, number] => [x(at), y(low)]).reverse();
      return [svg("path", { class: "band", d: `${path([...upper, ...lower])}Z` })];
    }
    case "whisker": {
      const beside = series.shapes.some(({ kind }) => kind === "bar") ? offset(place, shape.x) : 0;
      const [at, low, high] = [x(shape.x) + beside, y(shape.low), y(shape.high)];
      return [svg("path", { class: "whisker", d: `M${at},${low}V${high}M${at - 3},${low}h6M${at - 3},${high}h6` })];
    }
    case "bar": {
      const [top, foot] = [Math.min(y(shape.value), y(0)), Math.max(y(shape.value), y(0))];
      const size = { x: x(shape.x) + offset(place, shape.x) - bar / 2 + 1, y: top, width: Math.max(bar - 2, 1), height: foot - top };
      return [svg("rect", { class: series.dash % 2 ? "bar pale" : "bar", ...size })];
    }
    case "cell":
      return cellOf(shape, places);
  }
}

function cellOf(shape: Extract<Shape, { kind: "cell" }>, { x, y, cell: [width, height] }: Places): SVGElement[] {
  const [cx, cy] = [x(shape.x), y(shape.y)];
  const size = { x: cx - width / 2, y: cy - height / 2, width: width - 1, height: height - 1 };
  const square = svg("rect", { ...size, fill: ramp(shape.share) });
  if (width <= ROOM) return [square];
  const ink = shape.share > 0.5 ? "#111" : "#fff";
  return [square, svg("text", { x: cx, y: cy, dy: "0.35em", "text-anchor": "middle", fill: ink, class: "value" }, shape.text)];
}

function ramp(share: number): string {
  const at = share * (RAMP.length - 1);
  const [from, to] = [rgb(RAMP[Math.floor(at)] ?? ""), rgb(RAMP[Math.ceil(at)] ?? "")];
  return `rgb(${from.map((value, i) => Math.round(value + ((to[i] ?? 0) - value) * (at % 1))).join()})`;
}

function rgb(hex: string): number[] {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

