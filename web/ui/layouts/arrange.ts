// Layouts of networks: the one that fits a network's structure, or the one that the user chooses.

import type { Point } from "../kit/messages";
import { apart } from "./apart";
import { ASPECT } from "./blocks";
import { force } from "./force";
import { geography, isPlaced } from "./geography";
import { layers } from "./layers";
import { bounds, countLinks, hubs, partOf, parts, type Net, type Places } from "./net";
import { ring, ringOf } from "./ring";
import { spine, spineOf } from "./spine";
import { tiers, tiersOf } from "./tiers";
import { tree } from "./tree";

export { netOf, labelWidth, type Net, type Spot } from "./net";
export { isPlaced } from "./geography";

export type Arrangement = "tree" | "ring" | "layers" | "geography" | "force";

/** Centres of nodes lie on this grid, in pixels. */
export const GRID = 10;

export function snap(value: number): number {
  return Math.round(value / GRID) * GRID;
}

/** Up to so many nodes, layers from senders to receivers show a network best. */
const FEW = 24;
/** From so many leaves on, a star is drawn as one. */
const STAR = 5;
/** Pixels between parts that no link joins. */
const MARGIN = 60;

/** The arrangement that fits a connected network. */
export function suited(net: Net): Arrangement {
  const nodes = net.names.length;
  if (isPlaced(net)) return "geography";
  const inner = hubs(net).filter((hub) => hub === -1).length;
  if (inner === 1 && nodes > STAR) return "tree";
  if (ringOf(net)) return "ring";
  if (spineOf(net)) return "layers";
  if (nodes > FEW && countLinks(net) === nodes - 1) return "tree";
  if (tiersOf(net) || nodes <= FEW) return "layers";
  return "force";
}

function arranged(net: Net, how: Arrangement): Places {
  if (how === "tree") return tree(net);
  if (how === "ring") return ring(net);
  if (how === "force") return force(net);
  const chain = spineOf(net);
  if (chain) return spine(net, chain);
  const tier = tiersOf(net);
  return tier ? tiers(net, tier) : layers(net);
}

/** The place of each node, by its number, on the grid. Equal networks have equal places. Without `how`, each connected part as it suits it. */
export function arrange(net: Net, how?: Arrangement): Places {
  if (net.names.length === 0) return [];
  // A map shows all parts at once.
  if (isPlaced(net) && (how === undefined || how === "geography")) return apart(geography(net), net.cell).map(onGrid);
  const found: Places = net.names.map(() => ({ x: 0, y: 0 }));
  let [x, y, high, wide] = [0, 0, 0, 0];
  for (const nodes of parts(net)) {
    const part = partOf(net, nodes);
    const at = apart(arranged(part, how === undefined || how === "geography" ? suited(part) : how), part.cell);
    const box = bounds(at, part.cell);
    // Parts stand in rows as wide as the largest.
    if (x > 0 && x + box.width > wide) [x, y, high] = [0, y + high + MARGIN, 0];
    wide = Math.max(wide, box.width, ASPECT * box.height);
    nodes.forEach((node, i) => (found[node] = onGrid({ x: (at[i]?.x ?? 0) - box.left + x, y: (at[i]?.y ?? 0) - box.top + y })));
    x += box.width + MARGIN;
    high = Math.max(high, box.height);
  }
  return found;
}

const onGrid = ({ x, y }: Point): Point => ({ x: snap(x), y: snap(y) });
