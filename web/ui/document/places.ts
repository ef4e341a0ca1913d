// Where nodes stand: where the layout's file puts them, and else beside their neighbours, in layers from left to right.

import { Graph, layout as dagre } from "@dagrejs/dagre";
import type { Drawing, Layout, Point } from "../kit/messages";

/** Centres of nodes lie on this grid, in pixels. */
export const GRID = 10;

export function snap(value: number): number {
  return Math.round(value / GRID) * GRID;
}

/** The hosts from which traffic comes stand left: links run away from them. */
function ranks(drawing: Drawing): Map<string, number> {
  const beside = new Map<string, string[]>(drawing.nodes.map((node) => [node.name, []]));
  for (const { between: [a, b] } of drawing.links) {
    beside.get(a)?.push(b);
    beside.get(b)?.push(a);
  }
  const senders = drawing.flows.map((flow) => flow.sender).filter((name) => beside.has(name));
  const known = new Map<string, number>();
  const begin = senders.length > 0 ? senders : drawing.nodes.slice(0, 1).map((node) => node.name);
  let wave = [...new Set(begin)];
  const rest = drawing.nodes.map((node) => node.name);
  for (let rank = 0; known.size < beside.size; rank++) {
    if (wave.length === 0) {
      const next = rest.find((name) => !known.has(name));
      wave = next ? [next] : [];
      rank = 0;
    }
    for (const name of wave) known.set(name, rank);
    wave = [...new Set(wave.flatMap((name) => beside.get(name) ?? []))].filter((name) => !known.has(name));
  }
  return known;
}

/** A layout of all nodes: layers from left to right. */
export function laidOut(drawing: Drawing): Record<string, Point> {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: 50, edgesep: 60, ranksep: 120, marginx: 40, marginy: 40 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of drawing.nodes) graph.setNode(node.name, { width: 60, height: 76 });
  const rank = ranks(drawing);
  drawing.links.forEach(({ between: [a, b] }, i) => {
    const forward = (rank.get(a) ?? 0) <= (rank.get(b) ?? 0);
    if (graph.hasNode(a) && graph.hasNode(b) && a !== b) graph.setEdge(forward ? a : b, forward ? b : a, {}, `l${i}`);
  });
  dagre(graph);
  const found = Object.fromEntries(drawing.nodes.map(({ name }) => [name, { ...(graph.node(name) as Point) }]));
  upright(drawing, found);
  uncover(drawing, found);
  return Object.fromEntries(Object.entries(found).map(([name, { x, y }]) => [name, { x: snap(x), y: snap(y) }]));
}

/** Turn it upside down if most nodes of a layer stand in the reverse of the file's order. */
function upright(drawing: Drawing, found: Record<string, Point>): void {
  let order = 0;
  const layers = new Map<number, number>();
  for (const { name } of drawing.nodes) {
    const at = found[name];
    if (!at) continue;
    const before = layers.get(at.x);
    if (before !== undefined) order += Math.sign(at.y - before);
    layers.set(at.x, at.y);
  }
  if (order < 0) for (const at of Object.values(found)) at.y = -at.y;
}

/** The least distance of a node from a link that does not end at it, and the most nodes for which it is seen to. */
const CLEARANCE = 84;
const MOST_UNCOVERED = 150;

/** Links are straight, and dagre leads them around nodes: a node on another's link moves away from it. */
function uncover(drawing: Drawing, found: Record<string, Point>): void {
  if (drawing.nodes.length > MOST_UNCOVERED) return;
  for (let round = 0; round < 3; round++) {
    for (const { between: [a, b] } of drawing.links) {
      const [from, to] = [found[a], found[b]];
      if (!from || !to) continue;
      const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
      const [ux, uy] = [(to.x - from.x) / length, (to.y - from.y) / length];
      for (const [name, at] of Object.entries(found)) {
        if (name === a || name === b) continue;
        const along = (at.x - from.x) * ux + (at.y - from.y) * uy;
        const aside = (at.y - from.y) * ux - (at.x - from.x) * uy;
        if (along < 30 || along > length - 30 || Math.abs(aside) >= CLEARANCE) continue;
        const more = (aside <= 0 ? -CLEARANCE : CLEARANCE) - aside;
        at.x -= uy * more;
        at.y += ux * more;
      }
    }
  }
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
/** Places of nodes that the layout lacks: a node stays where it was drawn first, whatever is added to the network. */
let drawn: Record<string, Point> = {};

/** Begin with another document. */
export function forgetPlaces(): void {
  last = null;
  drawn = {};
}

/** The place of each node; worked out once for a state of the document. */
export function places(drawing: Drawing, layout: Layout): Record<string, Point> {
  if (last?.drawing === drawing && last.layout === layout) return last.found;
  const isEmpty = Object.keys(layout.nodes).length === 0;
  // What was moved and is undone goes back to where nobody had moved it.
  if (isEmpty && last && Object.keys(last.layout.nodes).length > 0) drawn = {};
  const most = drawing.nodes.filter((node) => drawn[node.name] || layout.nodes[node.name]).length * 2 > drawing.nodes.length;
  const found = placed(drawing, { ...layout, nodes: most ? { ...drawn, ...layout.nodes } : layout.nodes });
  drawn = Object.fromEntries(Object.entries(found).filter(([name]) => !layout.nodes[name]));
  last = { drawing, layout, found };
  return found;
}

/** What the layout lacks stands near its neighbours; without any place, all is laid out. */
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
