// Lines of the table of runs, and differences to its baseline.

import assert from "node:assert/strict";
import test from "node:test";
import { difference, lines, PLAIN, sorted } from "../ui/runs/query";
import { path } from "../ui/runs/spark";

const TABLE = { ids: ["a", "b", "c"], groups: [{ value: "1", runs: 2, cells: [] }, { value: "2", runs: 1, cells: [] }] };

test("a group's runs follow its head, unless it is closed", () => {
  assert.deepEqual(lines({ ...TABLE, groups: [] }, new Set()).map((one) => ("id" in one ? one.id : one.group)), ["a", "b", "c"]);
  assert.deepEqual(lines(TABLE, new Set()).map((one) => ("id" in one ? one.id : one.group)), [0, "a", "b", 1, "c"]);
  assert.deepEqual(lines(TABLE, new Set(["1"])), [{ group: 0 }, { group: 1 }, { id: "c", at: 2 }]);
});

test("a column is sorted up, then down, then not at all", () => {
  const up = { ...PLAIN, ...sorted(PLAIN, "rate") };
  const down = { ...up, ...sorted(up, "rate") };
  assert.deepEqual([up.sort, up.descending, down.descending], ["rate", false, true]);
  assert.equal({ ...down, ...sorted(down, "rate") }.sort, "");
  assert.deepEqual(sorted(down, "rtt"), { sort: "rtt", descending: false });
});

test("a difference is a share of the baseline", () => {
  assert.equal(difference(110, 100), "+10.0 %");
  assert.equal(difference(-110, -100), "−10.0 %");
  assert.equal(difference(50, 100), "−50.0 %");
  assert.equal(difference(350, 100), "+250 %");
  assert.equal(difference(2000, 100), "20 times");
  assert.equal(difference(100.01, 100), "±0.0 %");
  assert.equal(difference(100, 100), "same");
  assert.deepEqual([difference(1, 0), difference(null, 1), difference("a", 1), difference(1, undefined)], ["", "", "", ""]);
});

test("a curve has the gaps of its values", () => {
  assert.equal(path([0, 1, 2, 3], [0, 10, null, 5], 3, 10), "M0.0 24.0L32.0 2.0M96.0 13.0");
  assert.equal(path([0], [0], 0, 0), "M0.0 24.0");
});
