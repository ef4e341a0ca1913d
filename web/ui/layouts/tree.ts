// Trees, from the top down, leaves in blocks beneath their node; a star has its leaves around it.

import { hierarchy, tree as tidy, type HierarchyPointNode } from "d3-hierarchy";
import { ASPECT, block, blockSize, circles } from "./blocks";
import { bounds, centre, type Net, type Places } from "./net";

interface Branch {
  node: number;
  branches: Branch[];
  /** Neighbours without further ones. */
  leaves: number[];
}

/** Pixels from one level to the next, beside the room of the nodes: links have words. */
const BETWEEN = 70;

/** The tree of shortest paths from a node; of a tree, itself. */
function grown(net: Net, root: number): Branch {
  const seen = new Set([root]);
  const top: Branch = { node: root, branches: [], leaves: [] };
  const wave = [top];
  for (const at of wave) {
    for (const other of net.next[at.node] ?? []) {
      if (seen.has(other)) continue;
      seen.add(other);
      const branch: Branch = { node: other, branches: [], leaves: [] };
      at.branches.push(branch);
      wave.push(branch);
    }
  }
  for (const at of wave.reverse()) {
    at.leaves = at.branches.filter((one) => one.branches.length + one.leaves.length === 0).map(({ node }) => node);
    at.branches = at.branches.filter((one) => one.branches.length + one.leaves.length > 0);
  }
  return top;
}

/** Places of a tree whose blocks of leaves have so many columns: from the top down, or around the root. */
function placed(net: Net, top: Branch, columns: number, isRound: boolean): Places {
  const { cell } = net;
  const level = cell.height + BETWEEN;
  const found: Places = net.names.map(() => ({ x: 0, y: 0 }));
  // Blocks are branches beside the others, with a part on each level that they reach, so that nothing stands beneath them.
  interface Part { branch: Branch | null; leaves: readonly number[]; width: number; more: number }
  const part = (branch: Branch): Part => ({ branch, leaves: [], width: cell.width, more: 0 });
  const children = ({ branch, width, more }: Part): Part[] => {
    if (!branch) return more > 0 ? [{ branch, leaves: [], width, more: more - 1 }] : [];
    const of = branch.branches.map(part);
    if (branch.leaves.length > 0) {
      const size = blockSize(branch.leaves.length, columns, cell);
      of.splice(of.length >> 1, 0, { branch: null, leaves: branch.leaves, width: size.width, more: Math.ceil((size.height - cell.height) / level) });
    }
    return of;
  };
  const tidied = tidy<Part>()
    .nodeSize([1, 1])
    .separation((a, b) => (a.data.width + b.data.width) / 2 + (a.parent === b.parent ? 0 : cell.width / 3))(hierarchy(part(top), children));
  let [left, right, deepest] = [0, 0, 0];
  tidied.each(({ x, depth, data }) => ([left, right, deepest] = [Math.min(left, x - data.width / 2), Math.max(right, x + data.width / 2), Math.max(deepest, data.leaves.length > 0 || data.branch ? depth : 0)]));
  // The outermost circle is as long as the tree is wide.
  const radius = Math.max(level, (right - left) / (2 * Math.PI * Math.max(1, deepest)));
  const put = ({ data, x, depth }: HierarchyPointNode<Part>): void => {
    const turn = (2 * Math.PI * (x - left)) / (right - left) - Math.PI / 2;
    const [ox, oy] = isRound ? [Math.cos(turn), Math.sin(turn)] : [0, 1];
    const at = isRound ? { x: depth * radius * ox, y: depth * radius * oy } : { x, y: depth * level };
    if (data.branch) found[data.branch.node] = at;
    const side = Math.max(cell.width, cell.height);
    block(data.leaves.length, columns, isRound ? { width: side, height: side } : cell).forEach((offset, i) => (found[data.leaves[i] ?? 0] = { x: at.x + oy * offset.x + ox * offset.y, y: at.y - ox * offset.x + oy * offset.y }));
  };
  tidied.each(put);
  return found;
}

/** Each node's branches around it, each as a disc, no link across another; many leaves in circles next to their node. */
function balloons(net: Net, top: Branch): Places {
  const { cell } = net;
  const side = Math.max(cell.width, cell.height);
  const found: Places = net.names.map(() => ({ x: 0, y: 0 }));
  interface Disc { radius: number; near: number; far: number; around: Disc[]; branch: Branch; ends: number }
  const disc = (branch: Branch): Disc => {
    const around = branch.branches.map(disc).sort((a, b) => b.radius - a.radius);
    // Few leaves share the circle of the branches; many have circles of their own within.
    const isMany = branch.leaves.length > 6 || around.length === 0;
    const offsets = isMany ? circles(branch.leaves.length, cell) : [];
    const near = offsets.reduce((most, { x, y }) => Math.max(most, Math.hypot(x, y) + 0.62 * side), 0.62 * side);
    const radii = [...around.map(({ radius }) => radius), ...(isMany ? [] : branch.leaves.map(() => 0.62 * side))];
    // One place of the circle is left to the link from above.
    if (branch !== top && radii.length > 0) radii.push(0.62 * side);
    let far = near + Math.max(0, ...radii) + (radii.length > 0 ? 40 : 0);
    const angle = (): number => radii.reduce((sum, radius) => sum + 2 * Math.asin(Math.min(1, radius / far)), 0);
    while (angle() > 2 * Math.PI) far *= 1.04;
    const largest = Math.max(0, ...radii);
    return { radius: radii.length > 0 ? far + largest : near, near, far, around, branch, ends: isMany ? 0 : branch.leaves.length };
  };
  const put = ({ around, branch, far, ends }: Disc, x: number, y: number, from: number): void => {
    found[branch.node] = { x, y };
    if (ends === 0) circles(branch.leaves.length, cell).forEach((offset, i) => (found[branch.leaves[i] ?? 0] = { x: x + offset.x, y: y + offset.y }));
    const own = [...around.map((one) => one.radius), ...Array.from({ length: ends }, () => 0.62 * side)];
    const share = own.map((radius) => 2 * Math.asin(Math.min(1, radius / far)));
    const back = branch === top ? 0 : 2 * Math.asin(Math.min(1, (0.62 * side) / far));
    const slack = Math.max(0, 2 * Math.PI - back - share.reduce((sum, one) => sum + one, 0)) / (own.length || 1);
    let turn = from + back / 2;
    share.forEach((angle, i) => {
      const at = turn + (angle + slack) / 2;
      turn += angle + slack;
      const [dx, dy] = [x + far * Math.cos(at), y + far * Math.sin(at)];
      const next = around[i];
      if (next) put(next, dx, dy, at + Math.PI);
      else found[branch.leaves[i - around.length] ?? 0] = { x: dx, y: dy };
    });
  };
  put(disc(top), 0, 0, top.branches.length + top.leaves.length === 2 || top.branches.length === 1 ? Math.PI : -Math.PI / 2);
  return found;
}

/** More leaves of a node stand around it, not beneath it. */
const MOST_BENEATH = 12;
/** A tree around its root has to take so much less room before it is drawn so. */
const BETTER = 0.7;

export function tree(net: Net): Places {
  const top = grown(net, centre(net));
  const most = Math.max(1, ...sizes(top));
  const worth = (at: Places): number => {
    const { width, height } = bounds(at, net.cell);
    return Math.max(width / ASPECT, height);
  };
  if (most > MOST_BENEATH || (top.branches.length === 0 && top.leaves.length > 3)) return balloons(net, top);
  const tried = [...new Set([6, 4, 3, 2, 1].map((columns) => Math.min(columns, most)))];
  const best = (isRound: boolean): Places => tried.map((columns) => placed(net, top, columns, isRound)).reduce((now, at) => (worth(at) < worth(now) * 0.8 ? at : now));
  const [down, round] = [best(false), best(true)];
  return worth(round) < worth(down) * BETTER ? round : down;
}

function sizes(branch: Branch): number[] {
  return [branch.leaves.length, ...branch.branches.flatMap(sizes)];
}
