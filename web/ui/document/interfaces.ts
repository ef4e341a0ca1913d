// Interfaces at the ends of links.

import type { Drawing } from "../kit/messages";

/** The names of the interfaces that each link joins; empty where a node has none. Nodes have them in the order of their links. */
export function interfacesOf({ nodes: all, links }: Pick<Drawing, "nodes" | "links">): [string, string][] {
  const left = new Map(all.map(({ name, interfaces }) => [name, [...interfaces]]));
  return links.map(({ between: [a, b] }) => [left.get(a)?.shift() ?? "", left.get(b)?.shift() ?? ""]);
}
