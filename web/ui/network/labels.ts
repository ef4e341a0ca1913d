// Words at links: those that would cover a node's name or other words are not shown until their link is chosen.

import { beside, LINE } from "../document/beside";
import type { Point } from "../kit/messages";
import { widthOf } from "./way";

/** Side of a node's shape, pixels. */
export const SIZE = 44;

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Where words stand: the baseline of their first line. */
export interface Words extends Point {
  anchor: "start" | "middle" | "end";
}

/** Mean width of a letter at a link, and of an interface's name, pixels. */
const LETTER = 6.2;
const SMALL_LETTER = 5.2;
/** Distance of an interface's name from the middle of its node, and the length of a link from which on there is room for it, pixels. */
const NAME_AT = SIZE / 2 + 20;
const LEAST_FOR_NAMES = 4 * NAME_AT;
/** Pixels of a square of the plane in which boxes are looked up. */
const SQUARE = 160;

/** Boxes by where they are, so that those that a new one would cover are found at once. */
export class Taken {
  private readonly squares = new Map<number, Box[]>();

  constructor(private readonly square = SQUARE) {}

  private *near({ left, top, right, bottom }: Box): Generator<number> {
    for (let x = Math.floor(left / this.square); x <= Math.floor(right / this.square); x++)
      for (let y = Math.floor(top / this.square); y <= Math.floor(bottom / this.square); y++) yield x * 1_000_003 + y;
  }

  add(box: Box): void {
    for (const key of this.near(box)) {
      const here = this.squares.get(key);
      if (here) here.push(box);
      else this.squares.set(key, [box]);
    }
  }

  /** True if the box is free of all others but one. */
  isFree(box: Box, but?: Box): boolean {
    for (const key of this.near(box))
      for (const other of this.squares.get(key) ?? [])
        if (other !== but && other.left < box.right && box.left < other.right && other.top < box.bottom && box.top < other.bottom) return false;
    return true;
  }
}

/** Facts that decide where words at a link stand, beside its ends. */
export interface Surroundings {
  /** Pixels between the link and the line through both nodes. */
  aside: number;
  /** Lanes of flows on the side on which words stand. */
  lanes: number;
  /** True while the link shows its load, which needs more room. */
  isRunning: boolean;
  /** True if names of interfaces stand at the ends. */
  isNamed: boolean;
}

/** The place of a link's words between two nodes. */
export function wordsAt(a: Point, b: Point, lines: readonly string[], { aside, lanes, isRunning, isNamed }: Surroundings): Words {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const [ux, uy] = [(b.x - a.x) / length, (b.y - a.y) / length];
  const [x, y] = [(a.x + b.x) / 2 - uy * aside, (a.y + b.y) / 2 + ux * aside];
  const steep = beside(ux, uy, lines.length, (isRunning ? 14 : 8) + widthOf(lanes));
  if (steep) return { x: x + steep.dx, y: y + steep.dy, anchor: steep.anchor };
  // Where two nodes stand close, what is written stands above both; where it would cover names of interfaces, above these.
  const width = widest(lines) * LETTER;
  const named = isNamed && length >= LEAST_FOR_NAMES && width + 2 * NAME_AT + 32 > length ? 13 : 0;
  const close = width + SIZE + 14 > length ? 20 : named;
  return { x, y: y - (isRunning ? 19 : 7) - widthOf(lanes) - close - (lines.length - 1) * LINE, anchor: "middle" };
}

/** The place of an interface's name at an end of a link, 0 or 1; null without room for it. */
export function interfaceAt(a: Point, b: Point, end: number, aside: number): Words | null {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  if (length < LEAST_FOR_NAMES) return null;
  const [ux, uy] = [(b.x - a.x) / length, (b.y - a.y) / length];
  const [from, along] = end === 0 ? [a, NAME_AT] : [b, -NAME_AT];
  const up = ux >= 0 ? 9 : -9;
  return { x: from.x - uy * aside + ux * along + uy * up, y: from.y + ux * aside + uy * along - ux * up + 3.5, anchor: "middle" };
}

function widest(lines: readonly string[]): number {
  return Math.max(0, ...lines.map((line) => line.length));
}

/** The room of words, one above the other. `letter`: mean width of a letter, pixels. */
export function roomOf({ x, y, anchor }: Words, lines: readonly string[], letter = LETTER): Box {
  const width = widest(lines) * letter;
  const left = anchor === "start" ? x : anchor === "end" ? x - width : x - width / 2;
  return { left, right: left + width, top: y - 1.9 * letter, bottom: y + (lines.length - 1) * LINE + 3 };
}

/** The room of an interface's name. */
export function interfaceRoom(at: Words, name: string): Box {
  return roomOf(at, [name], SMALL_LETTER);
}

/** The room of a node: its shape, and its name with an address beneath. */
export function nodeBoxes({ x, y }: Point, name: string, address: string): Box[] {
  const half = Math.max(name.length * 7, address.length * 6) / 2;
  return [
    { left: x - 23, right: x + 23, top: y - 23, bottom: y + 23 },
    { left: x - half, right: x + half, top: y + 23, bottom: y + (address ? 54 : 40) },
  ];
}
