// Counts in sentences: every one takes them from here, as Python's do from dumbbell.counts.

/** `1 run`, `1,204 runs`; `many` where the plural is not made by -s. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}
