// The vertical axis that plots of a study share.

import assert from "node:assert/strict";
import test from "node:test";
import type { StudyPage } from "../charts/model";
import type { Entries } from "../report/study/data";
import { Cells } from "../report/study/layout";
import { metric } from "../report/study/metric";
import { sharedRange } from "../report/study/scale";

/** Buffer, algorithm and rate, of two values each; a cell of the rate is left out. */
const axes = [[0, 1, 0, 1, 0, 1, 0, 1, 0], [0, 0, 1, 1, 0, 0, 1, 1, 0], [0, 0, 0, 0, 1, 1, 1, 1, -1]].map((cells) => ({ cells }));
const study = { axes, mostApart: 10 } as unknown as StudyPage;
const layout = { x: 0, lines: 1, fixed: [0, 0, 0] };
const known = (factor: number, left: number): Entries =>
  new Map(
    [1, 2, 3, 4, factor, 2 * factor, 3 * factor, 4 * factor, left].map((mean, cell) => [
      String(cell),
      { cell, of: "", n: 2, mean, low: mean - 0.5, high: mean + 0.5, median: mean, sd: 1 },
    ]),
  );

test("plots that the reader chooses among have one vertical axis", () => {
  assert.deepEqual(sharedRange(study, layout, known(10, 999)), [0, 40.5 * 1.05]);
});

test("values that would be flat lines have their own, and so has the only plot", () => {
  assert.equal(sharedRange(study, layout, known(11, 1)), null);
  assert.equal(sharedRange({ ...study, axes: study.axes.slice(0, 2) }, layout, known(1, 1)), null);
});

/** Plots of a metric over `count` cases with two algorithms each, of which the first case is so much slower. */
function ofCases(times: number, count: number, more = {}) {
  const numbers = [...Array(2 * count).keys()];
  const texts = [...Array(count).keys()].map((i) => `case ${i}`);
  const labels = ["CUBIC", "Reno"];
  const found = {
    axes: [{ kind: "category", texts, ticks: texts, cells: numbers.map((i) => i >> 1), title: "case" }, { texts: labels, cells: numbers.map((i) => i % 2) }],
    curves: [{}, { "": labels.map((label) => ({ label, colour: null })) }, {}],
    runs: [], mostApart: 10, rowsApart: 20, mostPlots: 12, ...more,
  } as unknown as StudyPage;
  const values: Entries = new Map(numbers.map((cell) => [`${cell} `, { cell, of: "", n: 1, mean: cell < 2 ? 50 / times : 50, low: null, high: null, median: 1, sd: null }]));
  return metric(found, new Cells(found), { x: 0, lines: 1, fixed: [0, 0] }, { of: [""] } as unknown as StudyPage["panels"][0], values);
}

test("bars that differ more than twentyfold have a plot for each value, with its own axis and names below", () => {
  assert.equal(ofCases(19, 4).length, 1);
  assert.equal(ofCases(21, 4, { rowsApart: null }).length, 1);
  const figures = ofCases(21, 4);
  assert.deepEqual(figures.map(({ heading }) => heading), ["case 0", "case 1", "case 2", "case 3"]);
  const [slow] = figures;
  assert.deepEqual(slow?.x.ticks, [{ at: 0, text: "CUBIC" }, { at: 1, text: "Reno" }]);
  assert.equal(slow?.y.range, null);
  assert.deepEqual(slow?.series.map(({ shapes }) => shapes), [0, 1].map((x) => [{ kind: "bar", x, value: 50 / 21 }]));
  const some = ofCases(21, 30);
  assert.deepEqual([some.length, some.at(-1)?.heading, some.at(-1)?.x.title], [12, "case 29", "12 of 30 plots"]);
});
