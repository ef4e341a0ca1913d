// The simulator's module: a plan goes in, rows of its tables come out. It runs in a worker.

/** What `crates/sim-wasm` exports. */
interface Exports {
  memory: WebAssembly.Memory;
  alloc(bytes: number): number;
  free(at: number, bytes: number): void;
  answer(): number;
  answer_bytes(): number;
  create(plan: number, planBytes: number, asked: number, askedBytes: number): number;
  destroy(machine: number): void;
  now(machine: number): number;
  end(machine: number): number;
  run_until(machine: number, ns: number): void;
  samples(machine: number): void;
  links(machine: number): void;
  report(machine: number): void;
}

export interface Asked {
  samples: readonly string[];
  links: readonly string[];
  digests: boolean;
}

export interface Failure {
  what: string;
  why: string;
  hint: string;
}

export interface Report {
  packets: number;
  /** By the tables' names, if asked for. */
  digests: Record<string, string>;
}

/** What is said of a run for which the module's memory is too small (`crates/sim-wasm/build.rs`). */
const TOO_LARGE: Failure = {
  what: "the run takes more memory than a page has",
  why: "the simulator gets 1 GiB here",
  hint: "run it on the command line with --engine simulate",
};

/** The plan can't be simulated. */
export class CannotSimulate extends Error {
  constructor(readonly problems: readonly Failure[]) {
    super(problems[0]?.what ?? "it can't be simulated");
  }
}

/** A run of one plan, as far as it is told. `end` it when it is of no use any more. */
export class Simulator {
  private machine: number;

  constructor(
    private readonly module: WebAssembly.Instance,
    plan: string,
    asked: Asked,
  ) {
    const { create, free } = this.exports;
    const [at, bytes] = this.put(plan);
    const [askedAt, askedBytes] = this.put(JSON.stringify(asked));
    this.machine = this.trapped(() => create(at, bytes, askedAt, askedBytes));
    free(at, bytes);
    free(askedAt, askedBytes);
    if (this.machine === 0) throw new CannotSimulate(JSON.parse(this.said()) as Failure[]);
  }

  /** Present virtual time, in seconds. */
  get now(): number {
    return this.exports.now(this.machine) / 1e9;
  }

  /** The end of the plan, in seconds. */
  get duration(): number {
    return this.exports.end(this.machine) / 1e9;
  }

  /** Go on until a virtual time in seconds, or until the end. */
  runUntil(seconds: number): void {
    this.trapped(() => this.exports.run_until(this.machine, Math.round(seconds * 1e9)));
  }

  /** The chosen columns of the rows since the last call, row after row. */
  rows(table: "samples" | "links"): Float64Array {
    this.exports[table](this.machine);
    const { memory, answer, answer_bytes } = this.exports;
    return new Float64Array(memory.buffer.slice(answer(), answer() + answer_bytes()));
  }

  report(): Report {
    this.exports.report(this.machine);
    return JSON.parse(this.said()) as Report;
  }

  end(): void {
    if (this.machine) this.exports.destroy(this.machine);
    this.machine = 0;
  }

  private get exports(): Exports {
    return this.module.exports as unknown as Exports;
  }

  private put(text: string): [number, number] {
    const bytes = new TextEncoder().encode(text);
    const at = this.exports.alloc(bytes.length);
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
    return [at, bytes.length];
  }

  private said(): string {
    const { memory, answer, answer_bytes } = this.exports;
    return new TextDecoder().decode(new Uint8Array(memory.buffer, answer(), answer_bytes()));
  }

  /** A panic traps, and what it said is the answer; so does a lack of memory, which says nothing. */
  private trapped<T>(act: () => T): T {
    try {
      return act();
    } catch (thrown) {
      if (!(thrown instanceof WebAssembly.RuntimeError)) throw thrown;
      const said = this.said();
      if (said.startsWith("panicked at ")) throw new Error(`a bug in the simulator: ${said}`);
      throw new CannotSimulate([TOO_LARGE]);
    }
  }
}
