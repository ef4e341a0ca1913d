// A run while it goes on, as its events tell: series for plots, and where it stands now.

import type { Legend, Reason, RunReplay, RunState } from "../kit/run-messages";
import { BbrLive } from "./bbr";
import type { Event, FlowProgress, LinkProgress, Progress } from "../kit/events";
import { Series } from "./series";

/** Goodput is shown over this time, in seconds: a tenth of a second is too short for slow flows. */
const OVER_S = 0.5;

/** The evidence so far that the network was on time; null: the engine has no clock to be late by. */
export interface Health {
  verdict: "valid" | "suspect" | "invalid";
  reasons: Reason[];
}

/** Events that the package adds to those of the run's processes. */
type Added =
  | { event: "planned"; run_id: string; engine: string }
  | { event: "helper" | "simulating" | "stopping" | "composing" }
  | RunState
  | RunReplay;

/** An event of the topic of a run, with its number. */
export type RunEvent = (Exclude<Event, Progress> | (Progress & { so_far?: Health | null }) | Added) & { n?: number };

export class FlowLive {
  readonly goodput = new Series();
  readonly rtt = new Series();
  readonly cwnd = new Series();
  readonly inFlight = new Series();
  readonly bbr = new BbrLive();
  now: FlowProgress | null = null;
  bps = 0;
  private readonly before: [number, number][] = [];

  add(time: number, now: FlowProgress): void {
    this.now = now;
    // In a lab, another flow between the same nodes goes on where one has ended.
    if (now.received_bytes < (this.before.at(-1)?.[1] ?? 0)) this.before.length = 0;
    this.before.push([time, now.received_bytes]);
    while (this.before.length > 2 && (this.before[1] as [number, number])[0] <= time - OVER_S) this.before.shift();
    const [then, bytes] = this.before[0] as [number, number];
    this.bps = time > then ? (8 * (now.received_bytes - bytes)) / (time - then) : now.goodput_bps;
    this.goodput.push(time, this.bps / 1e6);
    this.rtt.push(time, now.srtt_us === null ? null : now.srtt_us / 1e3);
    this.cwnd.push(time, now.cwnd_packets);
    this.inFlight.push(time, now.bytes_in_flight === null ? null : now.bytes_in_flight / 1e3);
    if (now.bbr) this.bbr.add(time, now.bbr);
  }

  /** It has ended, in a lab: curves do not lead from it to the next one. */
  rest(time: number): void {
    if (!this.now) return;
    this.now = null;
    this.before.length = 0;
    for (const series of [this.goodput, this.rtt, this.cwnd, this.inFlight]) series.push(time, null);
  }
}

export class LinkLive {
  readonly queue = new Series();
  readonly rate = new Series();
  /** Times at which it had dropped more than before. */
  readonly drops: number[] = [];
  now: LinkProgress | null = null;
  bps = 0;
  /** Packets dropped in the last second. */
  dropped = 0;
  private readonly before: [number, number, number][] = [];

  add(time: number, now: LinkProgress): void {
    if (this.now && now.dropped_packets > this.now.dropped_packets && this.drops.length < 2000) this.drops.push(time);
    this.now = now;
    this.before.push([time, now.rate_bps, now.dropped_packets]);
    while (this.before.length > 1 && (this.before[0] as [number, number, number])[0] < time - 1) this.before.shift();
    this.bps = this.before.reduce((sum, [, bps]) => sum + bps, 0) / this.before.length;
    this.dropped = now.dropped_packets - (this.before[0] as [number, number, number])[2];
    this.queue.push(time, now.queue_bytes / 1e3);
    this.rate.push(time, now.rate_bps / 1e6);
  }
}

export const STAGES: Readonly<Record<string, string>> = {
  planned: "planned",
  helper: "building the network",
  lab: "building the network",
  ready: "getting ready",
  converging: "waiting for routing to converge",
  started: "running",
  simulating: "simulating",
  progress: "running",
  stopping: "stopping early",
  done: "writing the records",
  end: "writing the records",
  composing: "working out figures and verdict",
};

export interface LogLine {
  time: number | null;
  text: string;
}

export class LiveRun {
  readonly flows = new Map<string, FlowLive>();
  readonly links = new Map<string, LinkLive>();
  state: RunState | null = null;
  legend: Legend | null = null;
  stage = "";
  time = 0;
  health: Health | null = null;
  /** Grows with each change, so that a view knows whether to draw. */
  version = 0;
  /** True once there was progress: a simulation of a moment has none worth drawing. */
  ticks = 0;
  readonly log: LogLine[] = [];
  private next = 0;

  /** Take an event of the topic. One that was taken before is left out. */
  take(event: RunEvent): void {
    this.version++;
    if (event.event === "state") {
      this.state = event;
      return;
    }
    if (event.event === "replay") {
      for (const one of event.events as unknown as RunEvent[]) this.take(one);
      this.next = Math.max(this.next, (event.n ?? -1) + 1);
      return;
    }
    if (event.n !== undefined && event.n < this.next) return;
    this.next = (event.n ?? this.next - 1) + 1;
    this.stage = STAGES[event.event] ?? this.stage;
    if (event.event === "progress") this.progress(event);
    else this.note(event);
  }

  private progress({ time_ns, flows, links, so_far }: Progress & { so_far?: Health | null }): void {
    const time = time_ns / 1e9;
    this.time = Math.max(this.time, time);
    this.ticks++;
    if (so_far !== undefined) this.health = so_far;
    for (const flow of flows) {
      let known = this.flows.get(flow.id);
      if (!known) this.flows.set(flow.id, (known = new FlowLive()));
      known.add(time, flow);
    }
    for (const link of links) {
      let known = this.links.get(link.name);
      if (!known) this.links.set(link.name, (known = new LinkLive()));
      known.add(time, link);
    }
  }

  private note(event: RunEvent): void {
    const text = inWords(event);
    const time = "time_ns" in event ? event.time_ns / 1e9 : this.ticks ? this.time : null;
    if (text) this.log.push({ time, text });
  }
}

function inWords(event: RunEvent): string {
  switch (event.event) {
    case "planned":
      return `planned: run ${event.run_id}, engine ${event.engine}`;
    case "lab":
      return `the network was built in ${event.build_ms.toFixed(0)} ms`;
    case "converging":
      return event.lacking ? `routing converges: ${event.lacking} routers lack a route` : "routing converges";
    case "started":
      return "traffic starts";
    case "stopping":
      return "stopping early";
    case "changed":
      return `link ${event.link.name} was changed`;
    case "daemon-changed":
      return `${event.daemon} of ${event.router} was ${event.up ? "started" : "killed"}`;
    case "refused":
    case "failed":
      return [event.what, event.why].filter(Boolean).join(": ");
    case "composing":
      return "figures and verdict are worked out";
    default:
      return "";
  }
}
