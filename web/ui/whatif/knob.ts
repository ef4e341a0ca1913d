// The values of a scenario as sliders have them: places on a scale, and texts as after `--set`.

import type { Knob } from "./messages";

/** Places of a slider, from 0. */
export const PLACES = 240;

/** A number with as many digits as its slider needs. */
export function spelled(value: number): string {
  return String(Number(value.toPrecision(6)));
}

/** The text of a knob's value. */
export function textOf(knob: Knob, value: number): string {
  if (knob.words.length) return knob.words[Math.round(value)] ?? "";
  return knob.unit ? `${spelled(value)} ${knob.unit}` : spelled(value);
}

/** The number in a text, in the knob's unit; null: it is none. */
export function valueOf(knob: Knob, text: string): number | null {
  if (knob.words.length) {
    const at = knob.words.indexOf(text);
    return at < 0 ? null : at;
  }
  const found = /^\s*(\d+(?:\.\d+)?|\.\d+)\s*(\S*)\s*$/.exec(text);
  if (!found || (found[2] && found[2] !== knob.unit)) return null;
  return Number(found[1]);
}

/** The place of a value on its slider. */
export function placeOf({ low, high, log }: Knob, value: number): number {
  const share = log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low);
  return Math.round(PLACES * Math.min(1, Math.max(0, share)));
}

/** The value at a place, rounded so that it reads well. */
export function valueAt({ low, high, log, whole }: Knob, place: number): number {
  const share = place / PLACES;
  if (!log) {
    const exact = low + share * (high - low);
    return whole ? Math.round(exact) : round(exact, (high - low) / PLACES);
  }
  const exact = low * (high / low) ** share;
  return round(exact, exact * ((high / low) ** (1 / PLACES) - 1));
}

/** To a multiple of 1, 2 or 5 times a power of ten that is no coarser than the distance of two places. */
function round(value: number, distance: number): number {
  const power = 10 ** Math.floor(Math.log10(distance));
  const step = [5, 2, 1].find((factor) => factor * power <= distance * (1 + 1e-9)) ?? 1;
  const unit = step * power;
  return Number((Math.round(value / unit) * unit).toPrecision(8));
}
