// What a run in progress shows on the drawing: the load of each direction of a link, by the direction's name.

import { create } from "zustand";

export interface LiveDirection {
  /** Delivered in the last second over the rate, 0 to 1; null: the link has no limit. */
  share: number | null;
  /** The same in words: `48 Mbit/s`. */
  text: string;
  /** How full the queue is, 0 to 1; null: it has no limit. */
  queue: number | null;
  /** Packets dropped in the last second. */
  drops: number;
}

interface Live {
  /** The document whose run this is; null: none runs. */
  path: string | null;
  links: Readonly<Record<string, LiveDirection>>;
}

/** Whoever follows a run sets it; the canvas draws it. */
export const useLive = create<Live>(() => ({ path: null, links: {} }));
