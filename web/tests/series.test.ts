import assert from "node:assert/strict";
import test from "node:test";
import { roundWidth, Series, valuesOf } from "../ui/runs/series";

/** More than a series keeps, ten a second, with one peak and one dip that are a single value each. */
function long(count: number, peak: number, dip: number): Series {
  const series = new Series();
  for (let i = 0; i < count; i++) series.push(i / 10, i === peak ? 1e6 : i === dip ? -1e6 : Math.sin(i / 30));
  return series;
}

test("a series of an hour stays small, and keeps its extremes at their times", () => {
  const series = long(36_000, 777, 20_001);
  assert.ok(series.length <= 4000, `${series.length} points`);
  const values = [...series.values];
  assert.equal(series.times[values.indexOf(1e6)], 77.7);
  assert.equal(series.times[values.indexOf(-1e6)], 2000.1);
});

test("the last minute of a series is as it came", () => {
  const series = long(36_000, 5, 6);
  const last = [...series.times].slice(-600);
  assert.deepEqual(last, Array.from({ length: 600 }, (_, i) => (36_000 - 600 + i) / 10));
});

test("times of a series rise, and a value of the past is left out", () => {
  const series = long(9_000, 100, 200);
  const times = [...series.times];
  assert.ok(times.every((time, i) => i === 0 || time > (times[i - 1] as number)));
  const before = series.length;
  series.push(times.at(-1) as number, 1);
  series.push(0, 1);
  assert.equal(series.length, before);
});

test("gaps of a series stay gaps when it is thinned out", () => {
  const series = new Series();
  for (let i = 0; i < 9_000; i++) series.push(i / 10, i >= 1000 && i < 2000 ? null : 1);
  const gap = [...series.times].filter((_, i) => Number.isNaN(series.values[i]));
  assert.ok(gap.length > 10);
  assert.ok(gap.every((time) => time >= 100 && time < 200));
});

test("a new series has no last value, and one of given values has theirs", () => {
  assert.ok(Number.isNaN(new Series().last));
  const series = valuesOf({ t: [0, 1, 2], y: [4, null, 6] });
  assert.deepEqual([...series.values], [4, Number.NaN, 6]);
  assert.equal(series.last, 6);
});

test("widths are round, and no smaller than asked", () => {
  for (const [asked, wanted] of [[0.03, 0.05], [0.05, 0.05], [1.1, 2], [2, 2], [6, 10], [700, 1000]] as const) {
    assert.ok(Math.abs(roundWidth(asked) - wanted) < 1e-9 * wanted, `${asked}: ${roundWidth(asked)}`);
  }
});
