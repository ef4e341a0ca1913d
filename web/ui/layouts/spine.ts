// Chains, such as parking lots: inner nodes in a row, or in several with turns between them; what hangs on each above and below.

import { ASPECT, block, blockSize } from "./blocks";
import { hubs, type Net, type Places } from "./net";

/** Pixels from one node of a chain to the next: links have words. */
const APART = 180;

/** The inner nodes of a chain, from end to end; null if the network is none, or has fewer than three. */
export function spineOf(net: Net): number[] | null {
  const hub = hubs(net);
  const inner = [...net.names.keys()].filter((node) => hub[node] === -1);
  const beside = (node: number): number[] => (net.next[node] ?? []).filter((other) => hub[other] === -1);
  const [end] = inner.filter((node) => beside(node).length === 1);
  if (end === undefined || inner.length < 3 || inner.some((node) => beside(node).length > 2)) return null;
  const found = [end];
  for (let at = beside(end)[0]; at !== undefined; at = beside(at).find((other) => !found.includes(other))) found.push(at);
  return found.length === inner.length ? found : null;
}

export function spine(net: Net, inTurn: readonly number[]): Places {
  const { cell } = net;
  const sends = new Set(net.senders);
  const hub = hubs(net);
  // The end at which traffic begins stands left.
  const from = (node: number | undefined): number => net.senders.filter((sender) => hub[sender] === node).length;
  const order = from(inTurn.at(-1)) > from(inTurn[0]) ? [...inTurn].reverse() : inTurn;
  const sides = order.map((node) => {
    const leaves = [...net.names.keys()].filter((leaf) => hub[leaf] === node);
    const above = leaves.some((leaf) => sends.has(leaf)) ? leaves.filter((leaf) => sends.has(leaf)) : leaves.filter((_, i) => i % 2 === 1);
    return { above, below: leaves.filter((leaf) => !above.includes(leaf)) };
  });
  const columns = (count: number): number => Math.max(1, Math.min(count, Math.ceil(Math.sqrt(count / 2))));
  const size = (side: "above" | "below"): { width: number; height: number }[] => sides.map((one) => blockSize(one[side].length, columns(one[side].length), cell));
  const [above, below] = [size("above"), size("below")];
  const pitch = Math.max(APART, ...[...above, ...below].map(({ width }) => width + 20));
  const gap = 30;
  const [up, down] = [above, below].map((all) => Math.max(...all.map(({ height }) => (height > 0 ? height + gap : 0)))) as [number, number];
  const row = up + cell.height + down + 20;
  const inRow = Math.max(3, Math.round(Math.sqrt((order.length * row * ASPECT) / pitch)));
  const perRow = order.length <= 12 ? order.length : inRow;
  const found: Places = net.names.map(() => ({ x: 0, y: 0 }));
  order.forEach((node, i) => {
    const [line, place] = [Math.floor(i / perRow), i % perRow];
    const at = { x: (line % 2 === 0 ? place : perRow - 1 - place) * pitch, y: line * row };
    found[node] = at;
    const { above: over = [], below: under = [] } = sides[i] ?? {};
    block(under.length, columns(under.length), cell).forEach(({ x, y }, j) => (found[under[j] ?? 0] = { x: at.x + x, y: at.y + cell.height + gap + y }));
    block(over.length, columns(over.length), cell).forEach(({ x, y }, j) => (found[over[j] ?? 0] = { x: at.x + x, y: at.y - cell.height - gap - y }));
  });
  return found;
}
