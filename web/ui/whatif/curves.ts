// The curves of a simulated run, made of its rows as they come.

import type { Legend } from "../kit/run-messages";
import { roundWidth, Series } from "../runs/series";
import type { Rows } from "./engine";
import { LINKS, SAMPLES } from "./protocol";

/** Intervals over which goodput is shown, as reports do. */
const INTERVALS = 200;
/** Marks of drops that are kept. */
const MOST_DROPS = 2000;

/** Values of steps of time, each at its end; null: not known. */
interface MeasuredCourse {
  time_s: readonly number[];
  goodput_bps: readonly number[];
  rtt_ms: readonly (number | null)[];
  in_flight_bytes: readonly (number | null)[];
}

export class FlowCurves {
  readonly goodput = new Series();
  readonly rtt = new Series();
  readonly cwnd = new Series();
  /** In kB. */
  readonly inFlight = new Series();
  resent = 0;
  private first: [number, number] | null = null;
  private from: [number, number] = [0, 0];
  private last: [number, number] = [0, 0];
  private rtts = 0;
  private counted = 0;

  constructor(private readonly width: number) {}

  /** Curves of a transfer that was measured: values of steps of time. */
  static measured({ time_s, goodput_bps, rtt_ms, in_flight_bytes }: MeasuredCourse): FlowCurves {
    const made = new FlowCurves(0);
    let bytes = 0;
    time_s.forEach((time, i) => {
      const [before, bps, rtt, inFlight] = [time_s[i - 1] ?? 0, goodput_bps[i] ?? 0, rtt_ms[i] ?? null, in_flight_bytes[i] ?? null];
      bytes += (bps * (time - before)) / 8;
      made.goodput.push((before + time) / 2, bps / 1e6);
      made.rtt.push(time, rtt);
      made.inFlight.push(time, inFlight === null ? null : inFlight / 1e3);
      if (rtt !== null) (made.rtts += rtt), made.counted++;
    });
    made.first = [0, 0];
    made.last = [time_s.at(-1) ?? 0, bytes];
    made.resent = Number.NaN;
    return made;
  }

  add(time: number, received: number, srttUs: number, cwnd: number, resent: number, inFlight: number): void {
    if (!this.first) this.first = this.from = [time, received];
    this.last = [time, received];
    const [then, bytes] = this.from;
    if (time - then >= this.width - 1e-9) {
      this.goodput.push((then + time) / 2, (8 * (received - bytes)) / (time - then) / 1e6);
      this.from = this.last;
    }
    const rtt = Number.isNaN(srttUs) ? null : srttUs / 1e3;
    this.rtt.push(time, rtt);
    if (rtt !== null) {
      this.rtts += rtt;
      this.counted++;
    }
    this.cwnd.push(time, cwnd);
    this.inFlight.push(time, inFlight / 1e3);
    if (!Number.isNaN(resent)) this.resent = resent;
  }

  /** Goodput from its first sample to its last, in Mbit/s. */
  get meanGoodput(): number {
    const [time, bytes] = this.first ?? [0, 0];
    return this.last[0] > time ? (8 * (this.last[1] - bytes)) / (this.last[0] - time) / 1e6 : Number.NaN;
  }

  /** The mean of smoothed RTTs, in ms. */
  get meanRtt(): number {
    return this.counted ? this.rtts / this.counted : Number.NaN;
  }
}

export class LinkCurves {
  readonly queue = new Series();
  /** Times at which it had dropped more than before. */
  readonly drops: number[] = [];
  dropped = 0;
  lost = 0;
  private sum = 0;
  private counted = 0;

  add(time: number, queueBytes: number, dropped: number, lost: number): void {
    if (dropped > this.dropped && this.drops.length < MOST_DROPS) this.drops.push(time);
    [this.dropped, this.lost] = [dropped, lost];
    this.queue.push(time, queueBytes / 1e3);
    this.sum += queueBytes / 1e3;
    this.counted++;
  }

  /** The mean queue, in kB. */
  get meanQueue(): number {
    return this.counted ? this.sum / this.counted : Number.NaN;
  }
}

/** What plots show of a run. */
export class Curves {
  readonly flows = new Map<string, FlowCurves>();
  readonly links = new Map<string, LinkCurves>();
  now = 0;
  private readonly byFlow: FlowCurves[] = [];
  private readonly byLink: LinkCurves[] = [];

  constructor(readonly legend: Legend) {
    const width = roundWidth(legend.duration_s / INTERVALS);
    for (const { id } of legend.flows) {
      const flow = new FlowCurves(width);
      this.flows.set(id, flow);
      this.byFlow.push(flow);
    }
    for (const { name } of legend.links) {
      const link = new LinkCurves();
      this.links.set(name, link);
      this.byLink.push(link);
    }
  }

  take({ now, samples, links }: Rows): void {
    this.now = now;
    const at = (values: Float64Array, i: number): number => values[i] as number;
    for (let i = 0; i < samples.length; i += SAMPLES.length) {
      this.byFlow[at(samples, i + 1)]?.add(at(samples, i) / 1e9, at(samples, i + 2), at(samples, i + 3), at(samples, i + 4), at(samples, i + 5), at(samples, i + 6));
    }
    for (let i = 0; i < links.length; i += LINKS.length) {
      this.byLink[at(links, i + 1)]?.add(at(links, i) / 1e9, at(links, i + 2), at(links, i + 3), at(links, i + 4));
    }
  }
}
