// The distribution of single flows over all runs of a cell.

import type { Figure, Series } from "../../charts/figure";
import type { StudyCurve, StudyDistribution, StudyPage } from "../../charts/model";
import { digits } from "../../charts/numbers";
import { type Cells, columns, keyOf, type Layout } from "./layout";

const SPOTS = 40;
const SHARES = [0, 0.25, 0.5, 0.75, 1];

/** Those of one value of the horizontal axis. */
export function cdf(study: StudyPage, cells: Cells, layout: Layout, one: StudyDistribution, x: number): Figure {
  const present = study.of.filter((of) => one.curves.some((curve) => curve.of === of));
  const drawn = columns(study, layout, present).flatMap((column) => {
    const cell = cells.at(layout, x, column.line);
    const curve = one.curves.find((each) => each.cell === cell && each.of === column.of);
    return curve ? [{ column, curve }] : [];
  });
  const largest = Math.max(...drawn.map(({ curve }) => curve.values[curve.values.length - 1] ?? 0), 1e-9);
  const series = drawn.map(({ column, curve }, row): Series => {
    const count = curve.values.length / curve.share;
    const every = Math.max(1, Math.floor(curve.values.length / SPOTS));
    const spots = Array.from({ length: Math.ceil(curve.values.length / every) }, (_, n) => {
      const i = n * every;
      const value = curve.values[i] ?? 0;
      const share = `${digits((100 * (i + 1)) / count)} % of ${column.of || "flows"}: at most ${digits(value)} ${one.unit}`;
      const words = [cells.words(curve.cell), share].filter(Boolean);
      return { x: value, y: (i + 1) / count, row, words, cell: curve.cell, of: curve.of };
    });
    const label = `${column.label}, ${curve.label}`;
    const shape = { kind: "line" as const, points: steps(curve, count), hasDots: false };
    return { key: keyOf(column), label, color: column.colour, dash: column.colour?.dash ?? 0, shapes: [shape], spots };
  });
  return {
    name: `${one.title}: arrow keys go along the curves`,
    x: { kind: "linear", ticks: [], range: [0, largest * 1.02], title: `${one.title} (${one.unit})` },
    y: { kind: "linear", ticks: SHARES.map((at) => ({ at, text: `${100 * at} %` })), range: [0, 1], title: "" },
    series,
  };
}

function steps(curve: StudyCurve, count: number): [number, number][] {
  const points: [number, number][] = [[curve.values[0] ?? 0, 0]];
  curve.values.forEach((value, i) => {
    if (!curve.thinned) points.push([value, i / count]);
    points.push([value, (i + 1) / count]);
  });
  return points;
}
