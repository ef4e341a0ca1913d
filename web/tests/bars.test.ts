// Bars of a small chart.

import assert from "node:assert/strict";
import test from "node:test";
import type { Series } from "../charts/figure";
import { abreast } from "../charts/small-chart";

const series = (at: number[]): Series => ({
  key: at.join(), label: "", color: null, dash: 0, spots: [],
  shapes: at.flatMap((x) => [{ kind: "bar", x, value: 1 }, { kind: "whisker", x, low: 0, high: 2 }]),
});

test("a combination that does not exist takes no room among bars", () => {
  assert.deepEqual([...abreast([series([0, 1]), series([1]), series([2, 1])])], [[0, [0]], [1, [0, 1, 2]], [2, [2]]]);
});
