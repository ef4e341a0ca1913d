// The simulator as the page has it: one worker, one run at a time, the newest one.

import { type Order, type Told, LINKS, SAMPLES } from "./protocol";
import type { Failure, Report } from "./simulator";

export interface Rows {
  now: number;
  samples: Float64Array;
  links: Float64Array;
  done: boolean;
  report: Report | null;
  /** Wall time that the simulator took so far, in ms. */
  wall: number;
}

export interface Listener {
  rows(rows: Rows): void;
  refused(problems: readonly Failure[]): void;
}

/** One run in the worker, until the next one begins. */
export class Running {
  idle = true;
  private asked = 0;

  constructor(
    private readonly engine: Engine,
    readonly number: number,
  ) {}

  /** Go on until a virtual time, in seconds. */
  until(seconds: number): void {
    if (seconds <= this.asked) return;
    this.asked = seconds;
    this.idle = false;
    this.engine.send({ do: "until", run: this.number, seconds });
  }
}

export class Engine {
  readonly ready: Promise<void>;
  private readonly worker: Worker;
  private running: Running | null = null;
  private listener: Listener | null = null;
  private count = 0;

  /** `module`: the simulator's address, or the module itself. */
  constructor(worker: string, module: WebAssembly.Module | string) {
    this.worker = new Worker(worker);
    this.ready = new Promise((resolve, reject) => {
      this.worker.onerror = (event) => reject(new Error(event.message || "the simulator's worker does not start"));
      this.worker.onmessage = ({ data }: MessageEvent<Told>) => {
        if (data.told === "loaded") resolve();
        else if (data.told === "no module") reject(new Error(data.why));
        else this.hear(data);
      };
    });
    this.send({ do: "load", module });
  }

  /** Begin a run at time 0; the one before it is given up. */
  begin(plan: string, digests: boolean, listener: Listener): Running {
    this.listener = listener;
    this.running = new Running(this, ++this.count);
    this.send({ do: "begin", run: this.count, plan, asked: { samples: SAMPLES, links: LINKS, digests } });
    return this.running;
  }

  send(order: Order): void {
    this.worker.postMessage(order);
  }

  end(): void {
    this.worker.terminate();
    this.listener = null;
  }

  private hear(data: Exclude<Told, { told: "loaded" | "no module" }>): void {
    if (data.run !== this.count || !this.running) return;
    if (data.told === "refused") return this.listener?.refused(data.problems);
    this.running.idle = data.idle;
    this.listener?.rows(data);
  }
}
