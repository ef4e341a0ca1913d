// Lists of values by which a key is varied.

/** Values to begin with: half, the same, twice as much; none for what is no number, or 0. */
export function around(value: string): string[] {
  // In a longer text, a stranger's, there are too many ways to look.
  const found = value.length > 200 ? null : /^\s*(\d+(?:\.\d+)?)(\s*\S*)\s*$/.exec(value);
  if (!found?.[1] || Number(found[1]) === 0) return [];
  const number = Number(found[1]);
  // A count has no half: 5 becomes 2, 5, 10, and 1 becomes 1, 2.
  const half = found[2]?.trim() ? number / 2 : Math.max(1, Math.floor(number / 2));
  const shown = (one: number): string => `${Number(one.toPrecision(12))}${found[2] ?? ""}`;
  return [...new Set([half, number, 2 * number].map(shown))];
}

/** The values that a text lists, between commas or line ends. */
export function listed(text: string, numeric: boolean): (string | number)[] {
  const words = text.split(/[,\n]/).map((one) => one.trim()).filter(Boolean);
  return words.map((one) => (numeric && !Number.isNaN(Number(one)) ? Number(one) : one));
}
