// What the page and the simulator's worker say to each other.

import type { Asked, Failure, Report } from "./simulator";

/** Columns of `samples` that curves are made of, in this order. */
export const SAMPLES = ["time_ns", "flow", "received_bytes", "srtt_us", "cwnd_packets", "retransmitted_segments", "bytes_in_flight"] as const;
/** Columns of `links`. */
export const LINKS = ["time_ns", "link", "queue_bytes", "dropped_packets", "lost_packets"] as const;

export type Order =
  | { do: "load"; module: WebAssembly.Module | string }
  /** Begin a run. What came before it is given up. */
  | { do: "begin"; run: number; plan: string; asked: Asked }
  /** Go on until a virtual time in seconds. */
  | { do: "until"; run: number; seconds: number };

export type Told =
  | { told: "loaded" }
  | { told: "no module"; why: string }
  /** Rows since the last message. `idle`: it has come as far as it was told; `done`: to the plan's end. */
  | { told: "rows"; run: number; now: number; samples: Float64Array; links: Float64Array; idle: boolean; done: boolean; report: Report | null; wall: number }
  | { told: "refused"; run: number; problems: readonly Failure[] };
