// What others may ask the canvas: it is there while it is mounted.

import type { Point } from "../kit/messages";

export interface Stage {
  /** Where a new node should stand: below the pointer, or in the middle of what is visible. */
  spot: () => Point;
  fit: () => void;
  zoom: (factor: number) => void;
  /** Bring nodes into view. */
  show: (names: readonly string[]) => void;
  /** Where each node stands now, with what is being dragged. */
  positions: () => Record<string, Point>;
  focus: () => void;
}

let here: Stage | null = null;

export function setStage(stage: Stage | null): void {
  here = stage;
}

export function stage(): Stage | null {
  return here;
}
