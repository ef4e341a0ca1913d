import assert from "node:assert/strict";
import test from "node:test";
import { split, step } from "../ui/forms/quantity";

test("arrow keys step the second digit of a quantity", () => {
  for (const [from, up] of [["100", "110"], ["15", "16"], ["0.5", "0.6"], ["1", "2"], ["2.5", "3.5"], ["1500", "1600"], ["0", "0.1"]] as const) {
    assert.equal(step(from, true), up, from);
  }
});

test("a step down undoes a step up, also across powers of ten", () => {
  for (const from of ["100", "10", "9", "99", "7.5", "15", "1", "0.9", "0.5", "1500", "1000", "20"]) assert.equal(step(step(from, true), false), from);
  assert.equal(step("100", false), "99");
  assert.equal(step("10", false), "9");
});

test("long texts are no quantities", () => {
  assert.deepEqual(split(" 10 ms", ["ms"]), { number: "10", unit: "ms" });
  for (const text of [" ".repeat(200_000), `${"1".repeat(20_000)}${" ".repeat(20_000)}x y`]) {
    const begun = process.cpuUsage().user;
    assert.equal(split(text, ["ms"]), null);
    assert.ok(process.cpuUsage().user - begun < 1_000_000);
  }
});

test("no quantity goes below zero", () => {
  assert.equal(step("0", false), "0");
  assert.equal(step("0.05", false), "0");
});
