// The selection in a drawing, by ids that stay while the drawing changes.

import type { Drawing } from "../kit/messages";

export interface Selection {
  nodes: readonly string[];
  /** Ids of links, see `linkIds`. */
  links: readonly string[];
  /** Positions in `[[flows]]`. */
  flows: readonly number[];
}

export const NOTHING: Selection = { nodes: [], links: [], flows: [] };

/** Ids of the links in the order of the drawing: the ends, and a number that tells parallel links apart. */
export function linkIds(drawing: Drawing): string[] {
  const count = new Map<string, number>();
  return drawing.links.map(({ between: [a, b] }) => {
    const ends = a < b ? `${a}~${b}` : `${b}~${a}`;
    const n = count.get(ends) ?? 0;
    count.set(ends, n + 1);
    return `${ends}~${n}`;
  });
}
