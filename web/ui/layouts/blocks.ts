// Many leaves of one node: a block of rows, not a line of a hundred.

import type { Point } from "../kit/messages";
import type { Cell } from "./net";

/** Width over height of what is to be filled: a window with an outline beside it. */
export const ASPECT = 1.6;

/** Offsets of a block's nodes from the middle of its first row, rows one below another; odd rows stand between the columns. */
export function block(count: number, columns: number, { width, height }: Cell): Point[] {
  return Array.from({ length: count }, (_, i) => {
    const row = Math.floor(i / columns);
    const inRow = Math.min(columns, count - row * columns);
    const shift = count > columns && row % 2 === 1 ? width / 4 : count > columns ? -width / 4 : 0;
    return { x: ((i % columns) - (inRow - 1) / 2) * width + shift, y: row * height };
  });
}

/** Pixels that a block takes. */
export function blockSize(count: number, columns: number, { width, height }: Cell): Cell {
  return { width: Math.min(count, columns) * width + (count > columns ? width / 2 : 0), height: Math.ceil(count / columns) * height };
}

/**
 * Angles of points on an ellipse with these half-axes, from the top clockwise, between which cells have equal room: `fits` is how many
 * cells the ellipse has room for. Two cells do not overlap if they are a width apart or a height.
 */
export function angles(count: number, a: number, b: number, { width, height }: Cell): { turns: number[]; fits: number } {
  const STEPS = 720;
  const along = [0];
  for (let i = 1; i <= STEPS; i++) {
    const t = ((i - 0.5) / STEPS) * 2 * Math.PI - Math.PI / 2;
    const step = (2 * Math.PI) / STEPS;
    along.push((along[i - 1] ?? 0) + Math.max(Math.abs(a * Math.sin(t)) / width, Math.abs(b * Math.cos(t)) / height) * step);
  }
  const fits = along[STEPS] ?? 1;
  let i = 0;
  const turns = Array.from({ length: count }, (_, k) => {
    while ((along[i] ?? 0) < (fits * k) / count) i++;
    return (i / STEPS) * 2 * Math.PI - Math.PI / 2;
  });
  return { turns, fits };
}

/** Up to so many nodes stand on one circle. */
const ONE_CIRCLE = 14;

/** Offsets of nodes around one: circles, each with as many as it has room for; none is nearer than `nearest`. */
export function circles(count: number, cell: Cell, nearest = 1.3 * Math.max(cell.width, cell.height)): Point[] {
  const found: Point[] = [];
  const step = Math.max(cell.width, cell.height);
  for (let radius = nearest, ring = 0; found.length < count; radius += step, ring++) {
    const { fits } = angles(1, radius, radius, cell);
    if (count <= ONE_CIRCLE && fits < count * 1.1) continue;
    const here = Math.min(Math.floor(fits / 1.1), count - found.length);
    for (const turn of angles(here, radius, radius, cell).turns) found.push({ x: radius * Math.cos(turn), y: radius * Math.sin(turn) });
  }
  return found;
}
