// Counts agree with their nouns.

import assert from "node:assert/strict";
import test from "node:test";
import { count } from "../charts/counts";

test("counts agree with their nouns", () => {
  assert.deepEqual([0, 1, 2, 1204].map((n) => count(n, "run")), ["0 runs", "1 run", "2 runs", "1,204 runs"]);
  assert.deepEqual([1, 2].map((n) => count(n, "study", "studies")), ["1 study", "2 studies"]);
});
