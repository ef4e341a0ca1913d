// Scales map values to places: linear, logarithmic, and round numbers for ticks.

export type Scale = (value: number) => number;

export function linear(from: [number, number], to: [number, number]): Scale {
  const span = from[1] - from[0] || 1;
  return (value) => to[0] + ((value - from[0]) / span) * (to[1] - to[0]);
}

export function logarithmic(from: [number, number], to: [number, number]): Scale {
  const scale = linear([Math.log(from[0]), Math.log(from[1])], to);
  return (value) => scale(Math.log(value));
}

/** Four to seven round numbers that cover the span. */
export function round(low: number, high: number): number[] {
  const raw = (high - low || 1) / 5;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw) ?? raw;
  const first = Math.ceil(low / step - 1e-9);
  const found: number[] = [];
  for (let i = first; i * step <= high + step * 1e-9; i++) found.push(Number((i * step).toPrecision(12)));
  return found;
}
