// BBR's state, as its gains tell: events have the gains, and not the state itself.

export interface Gains {
  pacing_gain: number;
  cwnd_gain: number;
}

/** The key of a state in reports. Startup paces above 2, drain below 0.55; PROBE_RTT's window gain is 1 or less. */
export function stateOf({ pacing_gain, cwnd_gain }: Gains): string {
  if (pacing_gain > 2) return "startup";
  if (pacing_gain < 0.55) return "drain";
  if (cwnd_gain < 1.5) return "probe_rtt";
  return pacing_gain < 0.99 ? "probe_bw_below" : pacing_gain > 1.01 ? "probe_bw_above" : "probe_bw";
}

/** Blocks that are kept of a flow; of more, the oldest go. */
const MOST = 4000;

/** The states of one flow, block by block. */
export class BbrLive {
  readonly start: number[] = [];
  readonly end: number[] = [];
  readonly state: string[] = [];

  add(time: number, gains: Gains): void {
    const now = stateOf(gains);
    const last = this.state.length - 1;
    if (last >= 0) this.end[last] = time;
    if (this.state[last] === now) return;
    this.start.push(time);
    this.end.push(time);
    this.state.push(now);
    if (this.state.length <= MOST) return;
    this.start.splice(0, MOST / 4);
    this.end.splice(0, MOST / 4);
    this.state.splice(0, MOST / 4);
  }
}
