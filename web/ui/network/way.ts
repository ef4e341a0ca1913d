// The way of a flow on the drawing: beside the links that it takes, each flow in a lane of its own.

import type { Point } from "../kit/messages";

/** Distance of the first lane from the links, and of lanes from each other, in pixels. */
const BESIDE = 8;
const APART = 6;

/** Where a flow is drawn beside its links. */
export interface Lane {
  /** Its place among the flows beside it, from 0. */
  lane: number;
  /** The part of its way at which its name stands, and how far along it, 0 to 1. */
  leg: number;
  along: number;
  /** Lanes beside that part: the name stands outside of all. */
  beside: number;
}

/** Further places of a flow's name along a part of its way. */
const PLACES = [0.5, 0.35, 0.65, 0.25, 0.75];

/** Places of a flow's name, the best first: its own, then others along that part, then parts that more flows take. */
export function namePlaces(via: readonly string[], lane: Lane, taken: ReadonlyMap<string, ReadonlySet<number>>): Lane[] {
  const parts = via.slice(1).map((to, leg) => ({ leg, beside: outermost(taken.get(direction(via[leg] as string, to))) }));
  const others = parts.filter(({ leg }) => leg !== lane.leg).sort((a, b) => a.beside - b.beside);
  return [lane, ...PLACES.map((along) => ({ ...lane, along })), ...others.flatMap((part) => PLACES.map((along) => ({ ...lane, ...part, along })))];
}

/** Lanes as far as the outermost of these. */
function outermost(lanes: ReadonlySet<number> | undefined): number {
  return Math.max(0, ...[...(lanes ?? [])].map((lane) => lane + 1));
}

/** Lanes beside a link, on its upper side: of flows to the left; on the right of an upright one, of flows that go up. */
export function lanesAbove(a: string, b: string, from: Point, to: Point, taken: ReadonlyMap<string, ReadonlySet<number>>): number {
  const isUpright = Math.abs(to.x - from.x) < 0.2 * Math.abs(to.y - from.y);
  const [start, end] = (isUpright ? from.y < to.y : from.x <= to.x) ? [b, a] : [a, b];
  return outermost(taken.get(direction(start, end)));
}

/** The lanes of flows on their ways, which begin at the inside; each direction of a link has lanes of its own. Names stand where fewest flows go. */
export function lanesOf(ways: readonly (readonly string[])[]): { lanes: Lane[]; taken: ReadonlyMap<string, ReadonlySet<number>> } {
  const taken = new Map<string, Set<number>>();
  const links = ways.map((via) => via.slice(1).map((to, i) => direction(via[i] as string, to)));
  const lanes = links.map((those) => {
    let lane = 0;
    while (those.some((link) => taken.get(link)?.has(lane))) lane++;
    for (const link of those) taken.set(link, (taken.get(link) ?? new Set()).add(lane));
    return lane;
  });
  return {
    taken,
    lanes: links.map((those, i) => {
      const busy = those.map((link) => taken.get(link)?.size ?? 0);
      const leg = Math.max(0, busy.indexOf(Math.min(...busy)));
      const beside = [...(taken.get(those[leg] ?? "") ?? [])].sort((a, b) => a - b);
      return { lane: lanes[i] as number, leg, along: (beside.indexOf(lanes[i] as number) + 1) / (beside.length + 1), beside: (beside.at(-1) ?? -1) + 1 };
    }),
  };
}

/** One direction of a link, as a key. */
export function direction(from: string, to: string): string {
  return JSON.stringify([from, to]);
}

/** Distance from a link to the outside of so many lanes, in pixels. */
export function widthOf(lanes: number): number {
  return lanes ? BESIDE + (lanes - 1) * APART : 0;
}

export interface Way {
  path: string;
  /** The place of its arrow head, and its angle in degrees. */
  head: Point & { angle: number };
  /** The place of its name: the baseline. */
  name: Point & { anchor: "start" | "middle" | "end" };
}

/** A part of a way is steep from here on: its name stands at its side, not below or above. */
const STEEP = 0.3;

/** A way along `points`, the centres of nodes, on the right of who goes it. `size`: a node's side. */
export function wayAlong(points: readonly Point[], { lane, leg: named, along, beside }: Lane, size: number): Way | null {
  const far = BESIDE + lane * APART;
  const legs = points.slice(1).flatMap((to, i) => {
    const from = points[i] as Point;
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    if (length < 1) return [];
    const [ux, uy] = [(to.x - from.x) / length, (to.y - from.y) / length];
    const [nx, ny] = [-uy * far, ux * far];
    return [{ from: { x: from.x + nx, y: from.y + ny }, to: { x: to.x + nx, y: to.y + ny }, ux, uy, length }];
  });
  const [first, last] = [legs[0], legs.at(-1)];
  if (!first || !last) return null;
  const gap = Math.min(size / 2 + 7, first.length / 3, last.length / 3);
  const start = { x: first.from.x + first.ux * gap, y: first.from.y + first.uy * gap };
  const end = { x: last.to.x - last.ux * gap, y: last.to.y - last.uy * gap };
  let path = `M${start.x} ${start.y}`;
  legs.slice(1).forEach((leg, i) => {
    const before = legs[i] as (typeof legs)[number];
    const turn = Math.min(size / 2, before.length / 3, leg.length / 3);
    // Around a node in a curve, whichever side the next link leaves it.
    path += `L${before.to.x - before.ux * turn} ${before.to.y - before.uy * turn}`;
    path += `Q${(before.to.x + leg.from.x) / 2} ${(before.to.y + leg.from.y) / 2} ${leg.from.x + leg.ux * turn} ${leg.from.y + leg.uy * turn}`;
  });
  const leg = legs[Math.min(named, legs.length - 1)] as (typeof legs)[number];
  // Outside of all lanes: below those to the right, above those to the left, at the side of steep ones.
  const [nx, ny] = [-leg.uy, leg.ux];
  const out = Math.max(0, widthOf(beside) - far);
  const [x, y] = [leg.from.x + (leg.to.x - leg.from.x) * along + nx * out, leg.from.y + (leg.to.y - leg.from.y) * along + ny * out];
  const isSteep = Math.abs(leg.uy) > STEEP;
  const dy = isSteep ? 4 + 6 * ny : ny >= 0 ? 14 + 30 * Math.abs(leg.uy) : -6 - 30 * Math.abs(leg.uy);
  return {
    path: `${path}L${end.x} ${end.y}`,
    head: { ...end, angle: (Math.atan2(last.uy, last.ux) * 180) / Math.PI },
    name: isSteep ? { x: x + 7 * Math.sign(nx), y: y + dy, anchor: nx > 0 ? "start" : "end" } : { x, y: y + dy, anchor: "middle" },
  };
}
