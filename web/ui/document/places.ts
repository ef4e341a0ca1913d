// Where nodes stand: where the layout's file puts them, and otherwise as the network's structure suggests.

import { arrange, netOf, snap, type Arrangement, type Net } from "../layouts/arrange";
import type { Drawing, Layout, Point } from "../kit/messages";

export function netOfDrawing({ nodes, links, flows }: Drawing): Net {
  return netOf(nodes, links.map(({ between }) => between), flows.map(({ sender }) => sender));
}

/** A layout of all nodes: the one that fits the network, or a chosen one. */
export function laidOut(drawing: Drawing, how?: Arrangement): Record<string, Point> {
  const at = arrange(netOfDrawing(drawing), how);
  return Object.fromEntries(drawing.nodes.map(({ name }, i) => [name, at[i] ?? { x: 0, y: 0 }]));
}

/** The place nearest to `wanted` at which nothing stands yet. */
function clear(wanted: Point, taken: readonly Point[]): Point {
  const free = (at: Point): boolean => taken.every((other) => Math.hypot(other.x - at.x, other.y - at.y) > 70);
  for (let ring = 0; ring < 40; ring++) {
    for (let turn = 0; turn < 8; turn++) {
      const angle = (turn * Math.PI) / 4 + Math.PI / 2;
      const at = { x: snap(wanted.x + ring * 40 * Math.cos(angle)), y: snap(wanted.y + ring * 40 * Math.sin(angle)) };
      if (free(at)) return at;
    }
  }
  return wanted;
}

let last: { drawing: Drawing; layout: Layout; found: Record<string, Point> } | null = null;
/** Computed places of nodes that the layout's file lacks. They are kept, so that a node does not move when others are added. */
let drawn: Record<string, Point> = {};
/** Places of nodes that are about to come. */
let coming: Record<string, Point> = {};

/** Begin with another document. */
export function forgetPlaces(): void {
  last = null;
  drawn = {};
  coming = {};
}

/** Where a node that is about to come is to stand, unless the layout's file says it. */
export function expect(name: string, at: Point): void {
  coming[name] = { x: snap(at.x), y: snap(at.y) };
}

/** The place of each node; worked out once for a state of the document. */
export function places(drawing: Drawing, layout: Layout): Record<string, Point> {
  if (last?.drawing === drawing && last.layout === layout) return last.found;
  const isEmpty = Object.keys(layout.nodes).length === 0;
  // The layout became empty, as by undo: all nodes go back to computed places.
  if (isEmpty && last && Object.keys(last.layout.nodes).length > 0) drawn = {};
  for (const { name } of drawing.nodes) {
    const at = coming[name];
    if (at && !drawn[name]) drawn[name] = at;
    delete coming[name];
  }
  // If half of the nodes or more are new, the network is another one, and the kept places do not count.
  const most = drawing.nodes.filter((node) => drawn[node.name] || layout.nodes[node.name]).length * 2 > drawing.nodes.length;
  const found = placed(drawing, { ...layout, nodes: most ? { ...drawn, ...layout.nodes } : layout.nodes });
  drawn = Object.fromEntries(Object.entries(found).filter(([name]) => !layout.nodes[name]));
  last = { drawing, layout, found };
  return found;
}

/** Puts nodes that the layout lacks near their neighbours. If the layout has no node at all, all nodes are laid out. */
function placed(drawing: Drawing, layout: Layout): Record<string, Point> {
  const lacking = drawing.nodes.filter((node) => !layout.nodes[node.name]);
  if (lacking.length === 0) return layout.nodes;
  if (lacking.length === drawing.nodes.length) return laidOut(drawing);
  const found: Record<string, Point> = Object.fromEntries(drawing.nodes.flatMap(({ name }) => (layout.nodes[name] ? [[name, layout.nodes[name]]] : [])));
  for (const { name } of lacking) {
    const beside = drawing.links.flatMap(({ between: [a, b] }) => (a === name && found[b] ? [found[b]] : b === name && found[a] ? [found[a]] : []));
    const around = beside.length > 0 ? beside : Object.values(found);
    const mean = { x: around.reduce((sum, at) => sum + at.x, 0) / around.length, y: around.reduce((sum, at) => sum + at.y, 0) / around.length };
    found[name] = clear({ x: mean.x, y: mean.y + 90 }, Object.values(found));
  }
  return found;
}
