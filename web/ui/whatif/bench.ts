// What is turned, planned, simulated and shown, whatever draws it. The newest values win.

import type { Legend } from "../kit/run-messages";
import type { Failure, Report } from "./simulator";
import { Curves } from "./curves";
import type { Engine, Rows, Running } from "./engine";
import { textOf } from "./knob";
import type { Knob, Planned } from "./messages";

export interface Planner {
  /** The plan with these values, as after `--set`. Throws what `problemsOf` makes problems of. */
  plan(overrides: readonly string[]): Promise<Planned>;
  problemsOf(thrown: unknown): Failure[];
}

/** A run that goes on so long is given up for newer values, in ms: shorter ones end, so that curves move while one drags. */
const PATIENCE_MS = 250;
/** Curves of a run that takes longer are shown while it goes on, in ms. */
const PARTIAL_MS = 400;
/** More packets take so long that it is asked first. */
export const MANY_PACKETS = 20e6;

/** Time between two pictures of a run that is played, and the most that counts on a busy machine, in ms. */
const FRAME_MS = 30;
const SLOWEST_MS = 250;

export type Mode = "whole" | "playing" | "paused";

export interface Kept {
  curves: Pick<Curves, "legend" | "flows" | "links">;
  /** Word for the curves in the legend: `kept` or `measured`. */
  words: string;
  /** What was set then. */
  overrides: readonly string[];
}

export class Bench {
  /** Values that differ from the scenario's, by the knobs' paths. */
  readonly values = new Map<string, number>();
  /** Further settings, as after `--set`. */
  settings: readonly string[] = [];
  planned: Planned | null = null;
  shown: Curves | null = null;
  /** Curves that the user has kept. */
  own: Kept | null = null;
  /** Curves that were there before anything was simulated. */
  private given: Kept | null = null;
  problems: readonly Failure[] = [];
  mode: Mode = "whole";
  /** Virtual time of playing, in seconds. */
  time = 0;
  speed = 1;
  busy = false;
  /** The run is larger than what is begun without being asked for. */
  tooMany = false;
  /** Wall time of the simulator for what is shown, in ms. */
  wall = 0;
  /** From the last change to its curves, in ms. */
  latency = 0;
  private running: Running | null = null;
  private begun = 0;
  private changedAt = 0;
  private isPlanning = false;
  private isStale = false;
  private allowed = false;
  private frame = 0;
  private ticked = 0;
  private waiting: { resolve(report: Report): void; reject(error: Error): void } | null = null;
  private readonly listeners = new Set<() => void>();
  private version = 0;

  constructor(
    readonly knobs: readonly Knob[],
    private readonly planner: Planner,
    private readonly engine: Engine,
    /** What was measured, to be laid under what is simulated. */
    private readonly measured: ((legend: Legend) => Kept) | null = null,
  ) {}

  // For React

  readonly watch = (changed: () => void): (() => void) => {
    this.listeners.add(changed);
    return () => this.listeners.delete(changed);
  };
  readonly seen = (): number => this.version;

  private tell(): void {
    this.version++;
    for (const listener of this.listeners) listener();
  }

  // Values

  /** All that differs from the scenario, as after `--set`. */
  get overrides(): string[] {
    const set = this.knobs.flatMap((knob) => {
      const value = this.values.get(knob.path);
      return value === undefined ? [] : [`${knob.path}=${textOf(knob, value)}`];
    });
    return [...set, ...this.settings];
  }

  value(knob: Knob): number {
    return this.values.get(knob.path) ?? knob.value;
  }

  set(knob: Knob, value: number): void {
    if (value === knob.value && knob.written) this.values.delete(knob.path);
    else this.values.set(knob.path, value);
    this.change();
  }

  reset(knob: Knob): void {
    this.values.delete(knob.path);
    this.change();
  }

  setSettings(settings: readonly string[]): void {
    this.settings = settings;
    this.change();
  }

  resetAll(): void {
    this.values.clear();
    this.settings = [];
    this.change();
  }

  change(): void {
    this.changedAt = performance.now();
    this.allowed = false;
    this.isStale = true;
    this.tell();
    void this.next();
  }

  /** Simulate what is larger than what is begun unasked. */
  allow(): void {
    this.allowed = true;
    if (this.planned) this.begin(this.planned);
    this.tell();
  }

  /** Plan the newest values, as soon as what goes on may be given up. */
  private async next(): Promise<void> {
    if (this.isPlanning || !this.isStale) return;
    if (this.mode === "whole" && this.busy && performance.now() - this.begun < PATIENCE_MS) {
      setTimeout(() => void this.next(), 20);
      return;
    }
    this.isPlanning = true;
    this.isStale = false;
    try {
      const planned = await this.planner.plan(this.overrides);
      this.planned = planned;
      this.problems = [];
      this.begin(planned);
    } catch (thrown) {
      this.problems = this.planner.problemsOf(thrown);
    }
    this.isPlanning = false;
    this.tell();
    void this.next();
  }

  // Simulation

  private begin(planned: Planned): void {
    this.interrupted();
    this.tooMany = planned.packets > MANY_PACKETS && this.mode === "whole" && !this.allowed;
    if (this.tooMany) {
      this.busy = false;
      this.running = null;
      return;
    }
    this.begun = performance.now();
    this.busy = true;
    const curves = new Curves(planned.legend);
    this.given ??= this.measured?.(planned.legend) ?? null;
    this.running = this.engine.begin(planned.plan, false, {
      rows: (rows) => this.take(curves, rows),
      refused: (problems) => {
        this.problems = problems;
        this.busy = false;
        this.tell();
      },
    });
    const { duration_s } = planned.legend;
    this.time = Math.min(this.time, duration_s);
    this.running.until(this.mode === "whole" ? duration_s : this.time);
    if (this.mode !== "whole" && this.time === 0) this.busy = false;
    if (this.mode !== "whole" && this.time === 0) this.shown = curves;
  }

  private take(curves: Curves, rows: Rows): void {
    curves.take(rows);
    const isIdle = rows.done || (this.running?.idle ?? true);
    if (isIdle || performance.now() - this.begun > PARTIAL_MS) this.shown = curves;
    this.wall = rows.wall;
    this.busy = !isIdle;
    this.latency = performance.now() - this.changedAt;
    if (rows.done && this.mode === "playing") this.mode = "paused";
    this.tell();
    if (isIdle) void this.next();
  }

  // Playing

  get duration(): number {
    return this.planned?.legend.duration_s ?? 1;
  }

  /** Play from where it is, or from the beginning. */
  play(): void {
    const isFromStart = this.mode === "whole" || this.time >= this.duration;
    this.mode = "playing";
    if (isFromStart) this.restart(0);
    this.ticked = performance.now();
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(this.tick);
    this.tell();
  }

  pause(): void {
    if (this.mode === "playing") this.mode = "paused";
    this.tell();
  }

  /** Go on by some time, and pause. */
  step(seconds: number): void {
    if (this.mode === "whole") this.restart(0);
    this.mode = "paused";
    this.time = Math.min(this.duration, this.time + seconds);
    this.running?.until(this.time);
    this.tell();
  }

  /** Show the whole run again. */
  whole(): void {
    this.mode = "whole";
    if (this.planned) this.begin(this.planned);
    this.tell();
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.tell();
  }

  private restart(time: number): void {
    this.time = time;
    if (this.mode === "whole") this.mode = "paused";
    if (this.planned) this.begin(this.planned);
  }

  private readonly tick = (now: number): void => {
    if (this.mode !== "playing") return;
    // The simulator may be slower than what is asked for, and so may the drawing: then time goes as fast as they can.
    const since = Math.max(0, now - this.ticked);
    if (this.running?.idle && since >= FRAME_MS) {
      this.time = Math.min(this.duration, this.time + (Math.min(since, SLOWEST_MS) / 1e3) * this.speed);
      this.running.until(this.time);
      this.ticked = now;
    }
    this.frame = requestAnimationFrame(this.tick);
  };

  // Comparison

  get kept(): Kept | null {
    return this.own ?? this.given;
  }

  keep(): void {
    if (this.shown) this.own = { curves: this.shown, words: "kept", overrides: this.overrides };
    this.tell();
  }

  forget(): void {
    this.own = null;
    this.tell();
  }

  /** The digests of the tables of a run with the values that are shown. */
  digests(): Promise<Report> {
    const planned = this.planned;
    if (!planned) return Promise.reject(new Error("there is no plan"));
    this.interrupted();
    if (this.mode === "playing") this.mode = "paused";
    return new Promise<Report>((resolve, reject) => {
      this.waiting = { resolve, reject };
      const running = this.engine.begin(planned.plan, true, {
        rows: ({ report }) => {
          if (!report) return;
          this.waiting = null;
          resolve(report);
        },
        refused: (problems) => reject(new Error(problems[0]?.what)),
      });
      running.until(planned.legend.duration_s);
      // It has taken the place of the run that is shown: playing begins anew.
      this.running = null;
      this.busy = false;
      if (this.mode === "paused") this.mode = "whole";
    });
  }

  private interrupted(): void {
    this.waiting?.reject(new Error("newer values were set meanwhile"));
    this.waiting = null;
  }

  end(): void {
    cancelAnimationFrame(this.frame);
    this.engine.end();
  }
}
