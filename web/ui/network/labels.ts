// Words at links: those that would cover a node's name or other words are not shown until their link is chosen.

import { beside, LINE } from "../document/beside";
import type { Point } from "../kit/messages";

/** Side of a node's shape, pixels. */
export const SIZE = 44;

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Mean width of a letter at a link, pixels. */
const LETTER = 5.9;
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

/** The room of a link's words between two places; null without words. `aside`: pixels between it and the line through both. */
export function wordsBox(a: Point, b: Point, lines: readonly string[], aside: number): Box | null {
  if (lines.length === 0) return null;
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const [ux, uy] = [(b.x - a.x) / length, (b.y - a.y) / length];
  const [x, y] = [(a.x + b.x) / 2 - uy * aside, (a.y + b.y) / 2 + ux * aside];
  const width = Math.max(...lines.map((line) => line.length)) * LETTER;
  const steep = beside(ux, uy, lines.length, 8);
  const left = steep ? (steep.anchor === "start" ? x + steep.dx : x + steep.dx - width) : x - width / 2;
  const bottom = steep ? y + steep.dy + (lines.length - 1) * LINE + 3 : y - 4;
  return { left, right: left + width, top: bottom - lines.length * LINE + 1, bottom };
}

/** The room of a node: its shape, and its name with an address beneath. */
export function nodeBoxes({ x, y }: Point, name: string, address: string): Box[] {
  const half = Math.max(name.length * 7, address.length * 6) / 2;
  return [
    { left: x - 23, right: x + 23, top: y - 23, bottom: y + 23 },
    { left: x - half, right: x + half, top: y + 23, bottom: y + (address ? 54 : 40) },
  ];
}
