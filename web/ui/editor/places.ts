// Where nodes stand: where the layout's file puts them, and else beside their neighbours, in layers from left to right.

import { Graph, layout as dagre } from "@dagrejs/dagre";
import type { Drawing, Layout, Point } from "../messages";

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
  graph.setGraph({ rankdir: "LR", nodesep: 46, ranksep: 120, marginx: 40, marginy: 40 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of drawing.nodes) graph.setNode(node.name, { width: 60, height: 60 });
  const rank = ranks(drawing);
  drawing.links.forEach(({ between: [a, b] }, i) => {
    const forward = (rank.get(a) ?? 0) <= (rank.get(b) ?? 0);
    if (graph.hasNode(a) && graph.hasNode(b) && a !== b) graph.setEdge(forward ? a : b, forward ? b : a, {}, `l${i}`);
  });
  dagre(graph);
  return Object.fromEntries(
    drawing.nodes.map(({ name }) => {
      const { x, y } = graph.node(name) as Point;
      return [name, { x: snap(x), y: snap(y) }];
    }),
  );
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

/** The place of each node. What the layout lacks stands near its neighbours; without any place, all is laid out. */
export function places(drawing: Drawing, layout: Layout): Record<string, Point> {
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
