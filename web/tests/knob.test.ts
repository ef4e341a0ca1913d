import assert from "node:assert/strict";
import test from "node:test";
import { placeOf, PLACES, spelled, textOf, valueAt, valueOf } from "../ui/whatif/knob";
import type { Knob } from "../ui/whatif/messages";

const COMMON: Knob = { key: [], path: "", title: "", group: "", written: true, value: 1, unit: "", words: [], low: 0, high: 1, log: false, whole: false };
const RATE: Knob = { ...COMMON, unit: "Mbit/s", low: 1, high: 1000, log: true };
const LOSS: Knob = { ...COMMON, unit: "%", low: 0, high: 10 };
const SEED: Knob = { ...COMMON, low: 1, high: 100, whole: true };
const CC: Knob = { ...COMMON, words: ["cubic", "bbr"], high: 1 };

test("each place of a slider has a value that leads back to it", () => {
  for (const knob of [RATE, LOSS]) {
    for (let place = 0; place <= PLACES; place++) assert.equal(placeOf(knob, valueAt(knob, place)), place, `${knob.unit} ${place}`);
  }
});

test("values rise with their places, from the lowest to the highest", () => {
  for (const knob of [RATE, LOSS, SEED]) {
    const values = Array.from({ length: PLACES + 1 }, (_, place) => valueAt(knob, place));
    assert.equal(values[0], knob.low);
    assert.equal(values[PLACES], knob.high);
    assert.ok(values.every((value, i) => i === 0 || value >= (values[i - 1] as number)));
  }
  assert.ok(Array.from({ length: PLACES + 1 }, (_, place) => valueAt(SEED, place)).every(Number.isInteger));
});

test("a value outside stands at the slider's end", () => {
  assert.equal(placeOf(RATE, 0.001), 0);
  assert.equal(placeOf(RATE, 1e9), PLACES);
});

test("what a knob says is what it reads", () => {
  for (const [knob, value] of [[RATE, 12.5], [LOSS, 0.3], [SEED, 7], [CC, 1]] as const) assert.equal(valueOf(knob, textOf(knob, value)), value);
  assert.equal(textOf(RATE, 12.5), "12.5 Mbit/s");
  assert.equal(textOf(CC, 1), "bbr");
});

test("what is no value of a knob is none", () => {
  for (const text of ["", "fast", "12 ms", "-1", "1e3 Mbit/s"]) assert.equal(valueOf(RATE, text), null, text);
  assert.equal(valueOf(RATE, " 12 "), 12);
  assert.equal(valueOf(CC, "reno"), null);
  assert.equal(spelled(0.1 + 0.2), "0.3");
});
