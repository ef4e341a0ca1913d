// Words at links and flows: what they say, and which of them have room.

import { interfacesOf } from "../document/interfaces";
import type { Drawing, DrawnDirection, DrawnFlow, DrawnLink, Point } from "../kit/messages";
import { interfaceAt, interfaceRoom, nodeBoxes, roomOf, SIZE, Taken, wordsAt, type Box } from "./labels";
import { lanesAbove, lanesOf, namePlaces, wayAlong, type Lane } from "./way";

export interface Parallel {
  /** Which of the links between the same two nodes it is, and how many there are. */
  at: number;
  of: number;
}
/** Words that would lie upon others are shown where the link or the flow is chosen. */
export interface Covered {
  /** A link's words, and those of its load while it runs. */
  words: boolean;
  load: boolean;
  /** Names of the interfaces at its ends. */
  interfaces: [boolean, boolean];
}

/** The words of a link: names of interfaces at its ends, and lanes of flows above it. */
export type LinkRoom = {
  covered: Covered;
  interfaces: [string, string];
  above: number;
};
/** The place of a flow's name. `covered`: no place is free. */
export type NamePlace = {
  lane: Lane;
  covered: boolean;
};

/** Pixels between parallel links. */
export const APART = 16;
const NO_LANE: Lane = { lane: 0, leg: 0, along: 0.5, beside: 1 };
/** The name of a flow whose way is not known. */
export const NO_PLACE: NamePlace = { lane: NO_LANE, covered: false };
/** Words as long as those of a link's load. */
const LOAD = ["\u2192 99.9 Mbit/s", "\u2190 99.9 Mbit/s"];

/** Pixels between a link and the line through its nodes. */
export function asideOf({ at, of }: Parallel, flip: boolean): number {
  return (at - (of - 1) / 2) * APART * (flip ? -1 : 1);
}

function short(direction: DrawnDirection): string {
  const limit = /unlimited|no limit/.test(direction.rate) ? "" : direction.rate;
  const delay = /^0 ?\D*$/.test(direction.delay) ? "" : direction.delay;
  const loss = direction.loss && !/^none/.test(direction.loss) ? `${direction.loss.replace(/ loss$/, "")} loss` : "";
  return [limit, delay, loss].filter(Boolean).join(" · ");
}

/** What stands at a link: one line if both directions are alike, else one for each. */
export function said(link: DrawnLink): string[] {
  const { forward, back } = link;
  if (!forward || !back) return [];
  const [there, here] = [short(forward), short(back)];
  if (there === here) return there ? [there] : [];
  return [`→ ${there || "no limit"}`, `← ${here || "no limit"}`];
}

/** A piece of a flow's line, in its colour, before its name. */
export const KEY = "\u2014 ";

/** The words at a flow: its name, and its algorithm unless the name says it. */
export function flowSaid({ name, congestion_control, protocol, connections }: DrawnFlow): string {
  const how = congestion_control ?? protocol;
  return [name, how === name ? "" : how, connections > 1 ? `\u00d7 ${connections}` : ""].filter(Boolean).join(" ");
}

interface Room {
  links: readonly LinkRoom[];
  flows: ReadonlyMap<number, NamePlace>;
}

let last: { drawing: Drawing; where: object; flows: string; room: Room } | null = null;

/** The room of all words. `parallels`: of each link; `flows`: those that are drawn. What is selected changes nothing of it. */
export function wordsRoom(drawing: Drawing, where: Readonly<Record<string, Point>>, parallels: readonly Parallel[], flows: readonly number[]): Room {
  if (last?.drawing !== drawing || last.where !== where || last.flows !== flows.join()) last = { drawing, where, flows: flows.join(), room: worked(drawing, where, parallels, new Set(flows)) };
  return last.room;
}

/** Room is taken by nodes first, then by links, flows and interfaces. */
function worked(drawing: Drawing, where: Readonly<Record<string, Point>>, parallels: readonly Parallel[], drawn: ReadonlySet<number>): Room {
  const { lanes, taken: carried } = lanesOf(drawing.flows.map(({ via }, i) => (drawn.has(i) ? via : [])));
  // At rest, and while links show their load.
  const [rest, running] = [new Taken(), new Taken()];
  for (const { name, addresses: [first = ""] } of drawing.nodes) {
    for (const box of where[name] ? nodeBoxes(where[name], name, first) : []) {
      rest.add(box);
      running.add(box);
    }
  }
  const interfaces = interfacesOf(drawing);
  const asides = drawing.links.map(({ between: [a, b] }, i) => asideOf(parallels[i] ?? { at: 0, of: 1 }, a > b));
  const links = drawing.links.map((link, i): LinkRoom => {
    const [a, b] = link.between;
    const [from, to] = [where[a], where[b]];
    const names = interfaces[i] ?? ["", ""];
    const above = from && to ? lanesAbove(a, b, from, to, carried) : 0;
    const isCovered = (words: readonly string[], taken: Taken, isRunning: boolean): boolean => {
      if (!from || !to || words.length === 0) return false;
      const box = roomOf(wordsAt(from, to, words, { aside: asides[i] ?? 0, lanes: above, isRunning, isNamed: names.some(Boolean) }), words);
      const covered = !taken.isFree(box);
      if (!covered) taken.add(box);
      return covered;
    };
    return { interfaces: names, above, covered: { words: isCovered(said(link), rest, false), load: isCovered(LOAD, running, true), interfaces: [false, false] } };
  });
  const [xs, ys] = [Object.values(where).map(({ x }) => x), Object.values(where).map(({ y }) => y)];
  const [least, most] = [{ x: low(xs), y: low(ys) }, { x: -low(xs.map((x) => -x)), y: -low(ys.map((y) => -y)) }];
  const isWithin = ({ left, right, top, bottom }: Box): boolean => left > least.x - SIZE && right < most.x + SIZE && top > least.y - SIZE && bottom < most.y + SIZE;
  const flows = new Map<number, NamePlace>();
  for (const i of drawn) {
    const [flow, lane] = [drawing.flows[i], lanes[i]];
    const points = flow?.via.flatMap((name) => where[name] ?? []) ?? [];
    if (!flow || !lane || points.length === 0 || points.length < flow.via.length) continue;
    const free = namePlaces(flow.via, lane, carried).flatMap((at) => {
      const name = wayAlong(points, at, SIZE)?.name;
      const box = name && roomOf(name, [KEY + flowSaid(flow)]);
      return box && rest.isFree(box) && running.isFree(box) ? [{ at, box }] : [];
    });
    // What stands outside of the nodes may be out of sight.
    const best = free.find(({ box }) => isWithin(box)) ?? free[0];
    flows.set(i, { lane: best?.at ?? lane, covered: !best });
    if (!best) continue;
    rest.add(best.box);
    running.add(best.box);
  }
  drawing.links.forEach(({ between: [a, b] }, i) => {
    const [from, to, link] = [where[a], where[b], links[i]];
    link?.interfaces.forEach((name, end) => {
      const at = name && from && to ? interfaceAt(from, to, end, asides[i] ?? 0) : null;
      if (!at) return;
      const box = interfaceRoom(at, name);
      if (rest.isFree(box)) rest.add(box);
      else link.covered.interfaces[end as 0 | 1] = true;
    });
  });
  return { links, flows };
}

function low(values: readonly number[]): number {
  return values.reduce((one, other) => Math.min(one, other), Infinity);
}
