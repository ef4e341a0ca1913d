// Layers from left to right, from senders to receivers; of large networks, of which dagre would take many seconds, by distance alone.

import { Graph, layout as dagre } from "@dagrejs/dagre";
import { distances, type Net, type Places } from "./net";

/** Nodes and links that dagre orders in less than a tenth of a second. */
const MOST_NODES = 120;
const MOST_LINKS = 240;

/** The hosts from which traffic comes stand left: links run away from them. */
function ranks(net: Net): number[] {
  return distances(net, net.senders.length > 0 ? net.senders : [0]);
}

export function layers(net: Net): Places {
  const links = net.next.reduce((sum, all) => sum + all.length, 0) / 2;
  const rank = ranks(net);
  if (net.names.length > MOST_NODES || links > MOST_LINKS) return columns(net, rank);
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: 50, edgesep: 60, ranksep: 120, marginx: 40, marginy: 40 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of net.names.keys()) graph.setNode(String(node), { width: 60, height: 76 });
  net.next.forEach((all, a) =>
    all.forEach((b) => {
      if (b < a) return;
      const forward = (rank[a] ?? 0) <= (rank[b] ?? 0);
      graph.setEdge(String(forward ? a : b), String(forward ? b : a), {}, `${a} ${b}`);
    }),
  );
  dagre(graph);
  const found = [...net.names.keys()].map((node) => ({ ...(graph.node(String(node)) as { x: number; y: number }) }));
  upright(found);
  uncover(net, found);
  return found;
}

/** Turn it upside down if most nodes of a layer stand in the reverse of the file's order. */
function upright(found: Places): void {
  let order = 0;
  const last = new Map<number, number>();
  for (const at of found) {
    const before = last.get(at.x);
    if (before !== undefined) order += Math.sign(at.y - before);
    last.set(at.x, at.y);
  }
  if (order < 0) for (const at of found) at.y = -at.y;
}

/** The least distance of a node from a link that does not end at it. */
const CLEARANCE = 84;

/** Links are straight, and dagre leads them around nodes: a node on another's link moves away from it. */
function uncover(net: Net, found: Places): void {
  const links = net.next.flatMap((all, a) => all.filter((b) => b > a).map((b) => [a, b] as const));
  for (let round = 0; round < 3; round++) {
    for (const [a, b] of links) {
      const [from, to] = [found[a], found[b]];
      if (!from || !to) continue;
      const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
      const [ux, uy] = [(to.x - from.x) / length, (to.y - from.y) / length];
      found.forEach((at, node) => {
        if (node === a || node === b) return;
        const along = (at.x - from.x) * ux + (at.y - from.y) * uy;
        const aside = (at.y - from.y) * ux - (at.x - from.x) * uy;
        if (along < 30 || along > length - 30 || Math.abs(aside) >= CLEARANCE) return;
        const more = (aside <= 0 ? -CLEARANCE : CLEARANCE) - aside;
        at.x -= uy * more;
        at.y += ux * more;
      });
    }
  }
}

const ROUNDS = 8;

/** A column for each distance from the senders, each in the order that keeps links short; long columns are two or more wide. */
function columns(net: Net, rank: readonly number[]): Places {
  const rows: number[][] = [];
  rank.forEach((of, node) => (rows[Math.max(0, of)] ??= []).push(node));
  const at = net.names.map(() => 0);
  const spread = (row: readonly number[]): void => row.forEach((node, i) => (at[node] = (i + 0.5) / row.length));
  rows.forEach(spread);
  const order = (row: number[]): void => {
    const mean = new Map(row.map((node) => [node, (net.next[node] ?? []).reduce((sum, other) => sum + (at[other] ?? 0), 0) / (net.next[node]?.length || 1)]));
    row.sort((a, b) => (mean.get(a) ?? 0) - (mean.get(b) ?? 0) || a - b);
    spread(row);
  };
  for (let round = 0; round < ROUNDS; round++) (round % 2 ? [...rows].reverse() : rows).forEach(order);
  const { width, height } = net.cell;
  const wide = rows.length * (width + 110);
  const high = Math.max(6, Math.ceil(Math.sqrt((net.names.length * width) / (1.6 * height))), Math.ceil(wide / 1.6 / height));
  const found: Places = net.names.map(() => ({ x: 0, y: 0 }));
  let x = 0;
  for (const row of rows) {
    const files = Math.ceil(row.length / high);
    row.forEach((node, i) => {
      const [file, of] = [i % files, Math.ceil(row.length / files)];
      found[node] = { x: x + file * width, y: (Math.floor(i / files) - (of - 1) / 2) * height + (files > 1 ? (file % 2) * (height / 2) : 0) };
    });
    x += files * width + 110;
  }
  return found;
}
