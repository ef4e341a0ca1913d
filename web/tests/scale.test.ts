// The vertical axis that plots of a study share.

import assert from "node:assert/strict";
import test from "node:test";
import type { StudyPage } from "../charts/model";
import type { Entries } from "../report/study/data";
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
