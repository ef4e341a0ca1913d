// Tiers of a data centre: the core above, then the switches beneath it, and the hosts in blocks below.

import { ASPECT, block, blockSize } from "./blocks";
import { bounds, distances, hubs, type Net, type Places } from "./net";

const BETWEEN = 110;

/**
 * The tier of each node that is no leaf, 0 for those at which leaves hang; null if a link joins two of the same tier. Then the network
 * is no fat tree, leaf and spine or the like.
 */
export function tiersOf(net: Net): number[] | null {
  const hub = hubs(net);
  const edge = [...new Set(hub.filter((of) => of >= 0))];
  const inner = [...net.names.keys()].filter((node) => hub[node] === -1);
  if (edge.length < 2 || inner.length <= edge.length) return null;
  const far = distances(net, edge);
  const wrong = inner.some((node) => (net.next[node] ?? []).some((other) => hub[other] === -1 && far[other] === far[node]));
  return wrong ? null : net.names.map((_, node) => (hub[node] === -1 ? (far[node] ?? 0) : -1));
}

/** Nodes in tiers, each in the order that keeps links short. */
export function tiers(net: Net, tier: readonly number[]): Places {
  const hub = hubs(net);
  const leaves = new Map<number, number[]>();
  hub.forEach((of, node) => of >= 0 && leaves.set(of, [...(leaves.get(of) ?? []), node]));
  const rows: number[][] = [];
  tier.forEach((of, node) => of >= 0 && (rows[of] ??= []).push(node));
  // From below upwards, each row by where the neighbours beneath its nodes stand. What hangs together without the tiers above (a pod)
  // stands together.
  rows[0] = together(net, tier, rows.length - 1, rows[0] ?? []);
  const at = net.names.map(() => 0);
  rows.forEach((row, i) => {
    const mean = new Map(row.map((node) => {
      const near = (net.next[node] ?? []).filter((other) => tier[other] === i - 1);
      return [node, near.reduce((sum, other) => sum + (at[other] ?? 0), 0) / (near.length || 1)];
    }));
    if (i > 0) row.sort((a, b) => Math.round(((mean.get(a) ?? 0) - (mean.get(b) ?? 0)) * 1e6) || a - b);
    row.forEach((node, j) => (at[node] = (j + 0.5) / row.length));
  });
  const most = Math.max(1, ...[...leaves.values()].map((all) => all.length));
  const tried = [...new Set([1, 2, 3, 4, 6, 8, 12, 16, 24].map((columns) => Math.min(columns, most)))];
  let [best, least] = [placed(net, rows, leaves, tried.at(-1) ?? 1), Infinity];
  for (const columns of tried) {
    const now = placed(net, rows, leaves, columns);
    const { width, height } = bounds(now, net.cell);
    const worth = Math.max(width / ASPECT, height);
    if (worth < least) [best, least] = [now, worth];
  }
  return best;
}

/** Nodes of the lowest tier, ordered so that those stand together that nodes below tier `top` join; the file's order otherwise. */
function together(net: Net, tier: readonly number[], top: number, nodes: readonly number[]): number[] {
  if (top < 1) return [...nodes];
  const group = new Map<number, number>();
  for (const start of nodes) {
    if (group.has(start)) continue;
    group.set(start, start);
    const wave = [start];
    for (const node of wave) {
      for (const other of net.next[node] ?? []) {
        if (group.has(other) || (tier[other] ?? -1) < 0 || (tier[other] ?? 0) >= top) continue;
        group.set(other, start);
        wave.push(other);
      }
    }
  }
  const of = new Map<number, number[]>();
  for (const node of nodes) of.set(group.get(node) ?? node, [...(of.get(group.get(node) ?? node) ?? []), node]);
  return [...of.values()].flatMap((all) => together(net, tier, top - 1, all));
}

function placed(net: Net, rows: readonly (readonly number[])[], leaves: ReadonlyMap<number, readonly number[]>, columns: number): Places {
  const { cell } = net;
  const found: Places = net.names.map(() => ({ x: 0, y: 0 }));
  const [edge = []] = rows;
  let x = 0;
  for (const node of edge) {
    const size = blockSize(leaves.get(node)?.length ?? 0, columns, cell);
    const width = Math.max(cell.width, size.width) + cell.width / 3;
    found[node] = { x: x + width / 2, y: 0 };
    block(leaves.get(node)?.length ?? 0, columns, cell).forEach((offset, i) => (found[leaves.get(node)?.[i] ?? 0] = { x: x + width / 2 + offset.x, y: cell.height + 40 + offset.y }));
    x += width;
  }
  let y = 0;
  rows.slice(1).forEach((row) => {
    // Higher tiers are further apart: their links run far to the side.
    y -= cell.height + BETWEEN + Math.min(420, x / 14);
    const whole = Math.max(x, row.length * cell.width);
    row.forEach((node, i) => (found[node] = { x: x / 2 - whole / 2 + ((i + 0.5) * whole) / row.length, y }));
  });
  // Leaves of higher tiers, which a data centre has seldom, stand above their switch.
  for (const [node, of] of leaves) {
    if (edge.includes(node)) continue;
    block(of.length, Math.ceil(Math.sqrt(of.length)), cell).forEach((offset, i) => (found[of[i] ?? 0] = { x: (found[node]?.x ?? 0) + offset.x, y: (found[node]?.y ?? 0) - cell.height - offset.y }));
  }
  return found;
}
