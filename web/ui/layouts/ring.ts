// Rings: nodes on an ellipse, and outside it what hangs on each.

import { angles, ASPECT, block, blockSize } from "./blocks";
import { distances, type Net, type Places } from "./net";

/** Nodes on a circle that look well as one; more stand on an ellipse, which fills a window better. */
const ROUND = 16;
/** Pixels between neighbours, so that words at links have room. */
const APART = 150;
const MOST_APART_FOR = 24;

/** The nodes of the only ring of a network without its leaves, in turn; null if it is none. */
export function ringOf(net: Net): number[] | null {
  const core = [...net.names.keys()].filter((node) => (net.next[node]?.length ?? 0) > 1);
  const inCore = new Set(core);
  const [first] = core;
  if (first === undefined || core.length < 3) return null;
  if (net.next.some((all, node) => !inCore.has(node) && !all.some((other) => inCore.has(other)))) return null;
  const beside = (node: number): number[] => (net.next[node] ?? []).filter((other) => inCore.has(other));
  if (core.some((node) => beside(node).length !== 2)) return null;
  const ring = [first];
  for (let [before, at] = [first, beside(first)[0] ?? first]; at !== first; ) {
    ring.push(at);
    const [a = at, b = at] = beside(at);
    [before, at] = [at, a === before ? b : a];
  }
  return ring.length === core.length ? ring : null;
}

/** Nodes of the ring on an ellipse, their leaves outside. Without a ring: nodes with more than one neighbour, in the order of a walk. */
export function ring(net: Net): Places {
  const inTurn = ringOf(net) ?? walk(net);
  const on = new Set(inTurn);
  const leaves = new Map<number, number[]>();
  const home = owners(net, inTurn);
  for (const node of net.names.keys()) {
    const of = home[node] ?? -1;
    if (!on.has(node)) leaves.set(of, [...(leaves.get(of) ?? []), node]);
  }
  const side = Math.max(net.cell.width, net.cell.height);
  const columnsOf = (count: number): number => Math.max(1, Math.floor(Math.sqrt(count)));
  const widest = Math.max(0, ...[...leaves.values()].map((all) => blockSize(all.length, columnsOf(all.length), { width: side, height: side }).width));
  // Leaves stand further out, where there is more room.
  const room = Math.max(inTurn.length > MOST_APART_FOR ? 0 : APART - side, (widest - side) * (inTurn.length > 8 ? 0.85 : 0.6));
  const cell = { width: net.cell.width + room, height: net.cell.height + room };
  const ratio = inTurn.length > ROUND ? ASPECT : 1;
  const b = Math.max(1.5 * APART, (100 * inTurn.length) / angles(1, 100 * ratio, 100, cell).fits);
  const a = b * ratio;
  const found: Places = net.names.map(() => ({ x: 0, y: 0 }));
  const { turns } = angles(inTurn.length, a, b, cell);
  inTurn.forEach((node, i) => {
    const turn = turns[i] ?? 0;
    const at = { x: a * Math.cos(turn), y: b * Math.sin(turn) };
    found[node] = at;
    const of = leaves.get(node) ?? [];
    // Outwards, at a right angle to the ellipse.
    const [nx, ny] = [Math.cos(turn) / a, Math.sin(turn) / b];
    const norm = Math.hypot(nx, ny) || 1;
    const [ox, oy] = [nx / norm, ny / norm];
    block(of.length, columnsOf(of.length), { width: side, height: side }).forEach((offset, j) => {
      const out = offset.y + 1.25 * side;
      found[of[j] ?? 0] = { x: at.x + ox * out - oy * offset.x, y: at.y + oy * out + ox * offset.x };
    });
  });
  return found;
}

/** Nodes with more than one neighbour, each after one beside it where that can be. */
function walk(net: Net): number[] {
  const inside = new Set([...net.names.keys()].filter((node) => (net.next[node]?.length ?? 0) > 1));
  if (inside.size < 3) return [...net.names.keys()];
  const seen = new Set<number>();
  const found: number[] = [];
  for (const start of inside) {
    const stack = [start];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (seen.has(node)) continue;
      seen.add(node);
      found.push(node);
      stack.push(...(net.next[node] ?? []).filter((other) => inside.has(other) && !seen.has(other)).reverse());
    }
  }
  return found;
}

/** The node of the ring that is nearest to each. */
function owners(net: Net, ring: readonly number[]): number[] {
  const far = distances(net, ring);
  const home = net.names.map((_, node) => (far[node] === 0 ? node : -1));
  const order = [...net.names.keys()].sort((a, b) => (far[a] ?? 0) - (far[b] ?? 0));
  for (const node of order) if (home[node] === -1) home[node] = home[(net.next[node] ?? []).find((other) => far[other] === (far[node] ?? 0) - 1) ?? -1] ?? ring[0] ?? 0;
  return home;
}
