// What of a painted drawing the pointer is at, which names have room, and which parts are elements of the page.

import type { Point } from "../kit/messages";
import type { AnyEdge, AnyNode, NetworkNode } from "./elements";
import { SIZE, Taken, type Box } from "./labels";

/** Most selected nodes that are elements of the page. */
const MOST_REAL = 30;
/** Pixels around a node and around a link at which the pointer is at it. */
const REACH = 9;
const REACH_LINK = 5;
/** Mean width of a letter of a name, pixels. */
const LETTER = 6.6;

/** Elements from which on a drawing that is seen from far is painted. */
export const MANY = 250;
/** Scale below which a drawing is seen from far: words at links would be too small to read. */
export const FAR = 0.5;
/** How much larger names of nodes are drawn, by the scale of a drawing: from far they would be too small to read. */
export function nameScale(zoom: number): number {
  return zoom < FAR ? Math.min(1.8, Math.round(8 / zoom) / 10) : 1;
}

export type View = readonly [x: number, y: number, zoom: number];

/** Side of a painted node, pixels. */
export const sideOf = (zoom: number): number => Math.max(3, SIZE * zoom);

/** The parts of a painted drawing that are elements: what is selected, what the pointer is at, and notes. */
export function realParts(nodes: readonly AnyNode[], edges: readonly AnyEdge[], at: string | null, dragged: ReadonlySet<string>): { nodes: AnyNode[]; edges: AnyEdge[] } {
  const chosen = nodes.filter((node) => node.selected && node.type === "network");
  const few = new Set(chosen.length <= MOST_REAL ? chosen.map(({ id }) => id) : []);
  const shown = edges.filter((edge) => edge.id === at || edge.selected).slice(0, MOST_REAL);
  for (const { source, target } of shown) few.add(source).add(target);
  return { nodes: nodes.filter((node) => node.type === "note" || node.id === at || few.has(node.id) || dragged.has(node.id)), edges: shown };
}

/** What is painted at a place of the drawing: a node, else a link; null for nothing. */
export function hit(nodes: readonly AnyNode[], edges: readonly AnyEdge[], { x, y }: Point, zoom: number): string | null {
  let [found, least] = [null as string | null, Math.max(SIZE / 2, REACH / zoom)];
  const at = new Map<string, Point>();
  for (const { id, type, position } of nodes) {
    if (type !== "network") continue;
    at.set(id, position);
    const far = Math.max(Math.abs(position.x - x), Math.abs(position.y - y));
    if (far < least) [found, least] = [id, far];
  }
  if (found !== null) return found;
  least = REACH_LINK / zoom;
  for (const { id, type, source, target } of edges) {
    const [a, b] = [at.get(source), at.get(target)];
    if (type !== "link" || !a || !b) continue;
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const along = Math.max(0, Math.min(1, ((x - a.x) * dx + (y - a.y) * dy) / (dx * dx + dy * dy || 1)));
    const far = Math.hypot(a.x + along * dx - x, a.y + along * dy - y);
    if (far < least) [found, least] = [id, far];
  }
  return found;
}

/** The names that have room, the most connected nodes first: of each the room on the screen. */
export function shownNames(nodes: readonly NetworkNode[], degree: ReadonlyMap<string, number>, [left, top, zoom]: View, width: number, height: number): Map<string, Box> {
  const taken = new Taken(64);
  const side = sideOf(zoom) / 2;
  const own = new Map<string, Box>();
  for (const { id, position } of nodes) {
    const [x, y] = [position.x * zoom + left, position.y * zoom + top];
    if (x < -40 || y < -40 || x > width + 40 || y > height + 40) continue;
    const box = { left: x - side, right: x + side, top: y - side, bottom: y + side };
    own.set(id, box);
    taken.add(box);
  }
  const found = new Map<string, Box>();
  const worth = ({ id, selected, data }: NetworkNode): number => (selected ? 1e6 : 0) + (data.drawn.kind === "host" ? 0 : 1e3) + (degree.get(id) ?? 0);
  for (const { id } of [...nodes].sort((a, b) => worth(b) - worth(a))) {
    const shape = own.get(id);
    if (!shape) continue;
    const half = id.length * LETTER * 0.5 + 2;
    const middle = (shape.left + shape.right) / 2;
    const box = { left: middle - half, right: middle + half, top: shape.bottom + 1, bottom: shape.bottom + 14 };
    if (!taken.isFree(box)) continue;
    taken.add(box);
    found.set(id, box);
  }
  return found;
}
