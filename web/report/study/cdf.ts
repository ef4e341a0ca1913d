// The distribution of single flows over all runs of a cell.

import { digits } from "../../charts/numbers";
import { type Drawing, HEIGHT, type Palette } from "./chart";
import { type Distribution, floats, type Study } from "./data";
import { type Cells, columns, type Layout } from "./layout";
import type { Spot } from "./spots";
import { DASHES, frame, linear, path, round, svg } from "./svg";

const SPOTS = 40;

/** Those of one value of the horizontal axis. */
export function cdf(
  study: Study, cells: Cells, layout: Layout, one: Distribution, x: number, palette: Palette, width: number,
): Drawing {
  const box = { left: 50, right: width - 14, top: 10, bottom: HEIGHT - 44 };
  const present = study.of.filter((of) => one.curves.some((curve) => curve.of === of));
  const drawn = columns(study, layout, present).flatMap((column) => {
    const cell = cells.at(layout, x, column.line);
    const curve = one.curves.find((each) => each.cell === cell && each.of === column.of);
    return curve ? [{ column: { ...column, label: `${column.label}, ${curve.label}` }, curve, values: floats(curve.values) }] : [];
  });
  const largest = Math.max(...drawn.map(({ values }) => values[values.length - 1] ?? 0), 1e-9);
  const toX = linear([0, largest * 1.02], [box.left, box.right]);
  const toY = linear([0, 1], [box.bottom, box.top]);
  const node = svg("svg", { width, height: HEIGHT, role: "img", tabindex: 0, "aria-label": `${one.title}: arrow keys go along the curves` });
  const xs = round(0, largest).map((value) => ({ at: toX(value), text: value.toLocaleString("en", { maximumFractionDigits: 6 }) }));
  const ys = [0, 0.25, 0.5, 0.75, 1].map((value) => ({ at: toY(value), text: `${100 * value} %` }));
  node.append(frame(box, xs, ys, `${one.title} (${one.unit})`));
  const spots: Spot[] = [];
  drawn.forEach(({ column, curve, values }, row) => {
    const count = values.length / curve.share;
    const points: [number, number][] = [[toX(values[0] ?? 0), toY(0)]];
    values.forEach((value, i) => {
      const at = toX(value);
      if (!curve.thinned) points.push([at, toY(i / count)]);
      points.push([at, toY((i + 1) / count)]);
    });
    node.append(svg("g", palette(column), svg("path", { class: "curve", d: path(points), "stroke-dasharray": DASHES[column.dash % DASHES.length] ?? "" })));
    const every = Math.max(1, Math.floor(values.length / SPOTS));
    for (let i = 0; i < values.length; i += every) {
      const value = values[i] ?? 0;
      const share = `${digits((100 * (i + 1)) / count)} % of ${column.of || "flows"}: at most ${digits(value)} ${one.unit}`;
      spots.push({ x: toX(value), y: toY((i + 1) / count), row, words: [cells.words(curve.cell), share].filter(Boolean), cell: curve.cell, of: curve.of });
    }
  });
  return { node, spots, columns: drawn.map(({ column }) => column) };
}
