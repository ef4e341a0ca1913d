// Numbers with as many digits as tell something.

export function digits(value: number): string {
  const fraction = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: fraction, maximumFractionDigits: fraction });
}

const PREFIXES: [number, string][] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** The factor and the prefix that suit values up to `largest`. */
export function prefix(largest: number): [number, string] {
  return PREFIXES.find(([factor]) => largest >= factor) ?? [1, ""];
}
