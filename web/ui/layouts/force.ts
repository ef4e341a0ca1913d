// Networks without a shape of their own: neighbours near each other, everything else apart. The same network gives the same drawing.

import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY, type SimulationNodeDatum } from "d3-force";
import { ASPECT } from "./blocks";
import { distances, type Net, type Places } from "./net";

/** Nodes from which distances are taken. */
const PIVOTS = 24;
const LENGTH = 150;
/** Steps of the simulation: the less, the larger the network; the start is good already. */
const STEPS = (nodes: number): number => Math.round(Math.max(25, Math.min(300, 25_000 / nodes)));

interface Body extends SimulationNodeDatum {
  index: number;
}

/**
 * First places by pivot multidimensional scaling: distances in the drawing are those in links, as far as a plane allows.
 *
 * Source: Brandes, Pich: "Eigensolver Methods for Progressive Multidimensional Scaling of Large Data", Graph Drawing 2006.
 */
function scaled(net: Net): Places {
  const n = net.names.length;
  const columns: number[][] = [];
  const nearest = net.names.map(() => Infinity);
  // Each pivot is the node that is farthest from those before.
  for (let pivot = 0, k = 0; k < Math.min(PIVOTS, n); k++) {
    const far = distances(net, [pivot]);
    columns.push(far.map((links) => links * links));
    far.forEach((links, node) => (nearest[node] = Math.min(nearest[node] ?? 0, links)));
    pivot = nearest.indexOf(Math.max(...nearest));
  }
  const k = columns.length;
  const means = columns.map((column) => column.reduce((sum, one) => sum + one, 0) / n);
  const all = means.reduce((sum, one) => sum + one, 0) / k;
  const centred = net.names.map((_, node) => {
    const row = columns.map((column) => column[node] ?? 0);
    const mean = row.reduce((sum, one) => sum + one, 0) / k;
    return row.map((one, i) => -(one - mean - (means[i] ?? 0) + all) / 2);
  });
  const product = columns.map((_, i) => columns.map((_, j) => centred.reduce((sum, row) => sum + (row[i] ?? 0) * (row[j] ?? 0), 0)));
  const axes: number[][] = [];
  for (let axis = 0; axis < 2; axis++) {
    let vector = columns.map((_, i) => Math.cos(1 + i * (axis + 1)));
    for (let round = 0; round < 60; round++) {
      vector = product.map((row) => row.reduce((sum, one, i) => sum + one * (vector[i] ?? 0), 0));
      for (const other of axes) {
        const along = other.reduce((sum, one, i) => sum + one * (vector[i] ?? 0), 0);
        vector = vector.map((one, i) => one - along * (other[i] ?? 0));
      }
      const length = Math.hypot(...vector) || 1;
      vector = vector.map((one) => one / length);
    }
    axes.push(vector);
  }
  const [first = [], second = []] = axes;
  const along = (row: readonly number[], axis: readonly number[]): number => row.reduce((sum, one, i) => sum + one * (axis[i] ?? 0), 0);
  const raw = centred.map((row) => ({ x: along(row, first), y: along(row, second) }));
  return filling(raw, net);
}

/** Room of all nodes as a multiple of their cells. */
const LOOSE = 2.8;

/** Places turned and stretched so that they fill a window: a network that is long and narrow is folded, not drawn as a line. */
function filling(raw: Places, { cell }: Net): Places {
  const n = raw.length;
  const spread = (axis: "x" | "y"): number => {
    const mean = raw.reduce((sum, at) => sum + at[axis], 0) / n;
    return Math.sqrt(raw.reduce((sum, at) => sum + (at[axis] - mean) ** 2, 0) / n) || 1;
  };
  const area = n * cell.width * cell.height * LOOSE;
  // The standard deviation of a uniform spread is its width over the root of 12.
  const [wide, high] = [Math.sqrt(area * ASPECT) / Math.sqrt(12), Math.sqrt(area / ASPECT) / Math.sqrt(12)];
  const [sx, sy] = [spread("x"), spread("y")];
  const [kx, ky] = sy * 4 < sx || n > 100 ? [wide / sx, high / sy] : [Math.min(wide / sx, high / sy), Math.min(wide / sx, high / sy)];
  // Nodes with the same distances would stand upon one another: a spiral of a few pixels parts them.
  return raw.map(({ x, y }, i) => ({ x: x * kx + 4 * Math.sqrt(i % 97) * Math.cos(i * 2.4), y: y * ky + 4 * Math.sqrt(i % 97) * Math.sin(i * 2.4) }));
}

export function force(net: Net): Places {
  const bodies: Body[] = scaled(net).map(({ x, y }, index) => ({ index, x, y }));
  const links = net.next.flatMap((all, node) => all.flatMap((other) => (other > node ? [{ source: node, target: other }] : [])));
  const { width, height } = net.cell;
  const simulation = forceSimulation(bodies)
    .force("links", forceLink<Body, { source: number; target: number }>(links).distance(LENGTH))
    .force("apart", forceManyBody<Body>().strength(-900).theta(1.3).distanceMax(700))
    .force("cells", forceCollide<Body>((width + height) / 4).strength(0.8))
    .force("x", forceX<Body>(0).strength(0.02))
    .force("y", forceY<Body>(0).strength(0.02 * ASPECT))
    .stop();
  const steps = STEPS(bodies.length);
  simulation.alphaDecay(1 - 0.001 ** (1 / steps)).tick(steps);
  return lying(bodies.map(({ x = 0, y = 0 }) => ({ x, y })));
}

/** Turned so that it is wide, not high. */
function lying(at: Places): Places {
  const mean = { x: at.reduce((sum, { x }) => sum + x, 0) / at.length, y: at.reduce((sum, { y }) => sum + y, 0) / at.length };
  let [xx, xy, yy] = [0, 0, 0];
  for (const { x, y } of at) [xx, xy, yy] = [xx + (x - mean.x) ** 2, xy + (x - mean.x) * (y - mean.y), yy + (y - mean.y) ** 2];
  const turn = -Math.atan2(2 * xy, xx - yy) / 2;
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  return at.map(({ x, y }) => ({ x: (x - mean.x) * cos - (y - mean.y) * sin, y: (x - mean.x) * sin + (y - mean.y) * cos }));
}
