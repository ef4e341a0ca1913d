// Groups that are folded: what hangs on a node alone, or stands in a frame, is drawn as one node.

import type { Annotation, Drawing, DrawnLink, Point } from "../kit/messages";

export interface Folded {
  drawing: Drawing;
  /** The nodes that each drawn node stands for, beside itself. */
  within: ReadonlyMap<string, readonly string[]>;
}

/** The nodes that hang on a node alone: without it, a smaller part of the network would be cut off. */
export function hanging({ nodes, links }: Drawing, head: string): string[] {
  const next = new Map<string, string[]>(nodes.map(({ name }) => [name, []]));
  for (const { between: [a, b] } of links) {
    next.get(a)?.push(b);
    next.get(b)?.push(a);
  }
  const seen = new Set([head]);
  return (next.get(head) ?? []).flatMap((start) => {
    if (seen.has(start)) return [];
    const part = [start];
    seen.add(start);
    for (const name of part) {
      for (const other of next.get(name) ?? []) {
        if (seen.has(other)) continue;
        seen.add(other);
        part.push(other);
      }
    }
    return part.length * 2 < nodes.length ? part : [];
  });
}

/** The nodes in a frame, the one with the most links first. */
export function framed({ nodes, links }: Drawing, { x, y, width, height }: Annotation, where: Readonly<Record<string, Point>>): string[] {
  const degree = new Map<string, number>();
  for (const { between } of links) for (const name of between) degree.set(name, (degree.get(name) ?? 0) + 1);
  const inside = nodes.filter(({ name }) => {
    const at = where[name];
    return at && at.x >= x && at.x <= x + width && at.y >= y && at.y <= y + height;
  });
  return inside.map(({ name }) => name).sort((a, b) => (degree.get(b) ?? 0) - (degree.get(a) ?? 0));
}

/** The nodes at which at least two hosts hang. */
export function hubsOf(drawing: Drawing): string[] {
  const count = new Map<string, number>();
  for (const { between } of drawing.links) for (const name of between) count.set(name, (count.get(name) ?? 0) + 1);
  const leaves = new Map<string, number>();
  for (const { between: [a, b] } of drawing.links) {
    if (count.get(a) === 1) leaves.set(b, (leaves.get(b) ?? 0) + 1);
    if (count.get(b) === 1) leaves.set(a, (leaves.get(a) ?? 0) + 1);
  }
  return drawing.nodes.map(({ name }) => name).filter((name) => (leaves.get(name) ?? 0) > 1 && hanging(drawing, name).length > 1);
}

/** A drawing with its groups folded. `groups`: for each, the node that stands for it, and those that it hides. */
export function fold(drawing: Drawing, groups: ReadonlyMap<string, readonly string[]>): Folded {
  const into = new Map<string, string>();
  for (const [head, members] of groups) for (const name of members) if (name !== head && !into.has(name)) into.set(name, head);
  // A group in another one is hidden with it.
  const shownAs = (name: string): string => {
    let at = name;
    for (let i = 0, next = into.get(at); next !== undefined && i < groups.size; next = into.get(at), i++) at = next;
    return at;
  };
  if (into.size === 0) return { drawing, within: new Map() };
  const within = new Map<string, string[]>();
  for (const name of into.keys()) within.set(shownAs(name), [...(within.get(shownAs(name)) ?? []), name]);
  const nodes = drawing.nodes.filter(({ name }) => shownAs(name) === name);
  const kept = drawing.links.filter(({ between: [a, b] }) => shownAs(a) === a && shownAs(b) === b);
  const joined = new Set(kept.map(({ between }) => [...between].sort().join("~")));
  // Links out of a group are one each to every node outside.
  const led = drawing.links.flatMap((link): DrawnLink[] => {
    const [a, b] = link.between.map(shownAs) as [string, string];
    const key = [a, b].sort().join("~");
    if (a === b || joined.has(key)) return [];
    joined.add(key);
    return [{ ...link, between: [a, b], forward: null, back: null }];
  });
  const flows = drawing.flows.map((flow) => ({ ...flow, sender: shownAs(flow.sender), receiver: shownAs(flow.receiver) }));
  return { drawing: { ...drawing, nodes, links: [...kept, ...led], flows }, within };
}
