// Values to vary a key with.

import assert from "node:assert/strict";
import test from "node:test";
import { around, listed } from "../ui/forms/values";

test("a quantity is varied around what is written", () => {
  assert.deepEqual(around("10 Mbit/s"), ["5 Mbit/s", "10 Mbit/s", "20 Mbit/s"]);
  assert.deepEqual(around("0.3 %"), ["0.15 %", "0.3 %", "0.6 %"]);
  assert.deepEqual(around("5"), ["2", "5", "10"]);
  assert.deepEqual(around("1"), ["1", "2"]);
  assert.deepEqual(around("unlimited"), []);
  assert.deepEqual(around("0 ms"), []);
  assert.deepEqual(around(""), []);
});

test("values are listed between commas and line ends", () => {
  assert.deepEqual(listed("5 ms, 10 ms\n\n20 ms ", false), ["5 ms", "10 ms", "20 ms"]);
  assert.deepEqual(listed("1,2.5,many", true), [1, 2.5, "many"]);
});
