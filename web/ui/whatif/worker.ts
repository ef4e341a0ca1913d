// The simulator's worker. It works in slices, so that a newer order is heard, and tells what it has so far.

import type { Order, Told } from "./protocol";
import { CannotSimulate, Simulator } from "./simulator";

/** Wall time of a slice: so late is a newer order heard at most, in ms. */
const SLICE_MS = 8;
/** Rows are told this often while a run goes on, in ms. */
const TELL_MS = 120;
const SHORTEST_S = 1e-4;

interface Scope {
  onmessage: ((event: MessageEvent<Order>) => void) | null;
  postMessage(told: Told, transfer: Transferable[]): void;
}
const scope = self as unknown as Scope;
let instance: WebAssembly.Instance | null = null;
let simulator: Simulator | null = null;
let run = 0;
let until = 0;
let stride = 0.01;
let began = 0;
let wall = 0;
let told = 0;
let planned = false;

const tell = (said: Told, transfer: Transferable[] = []): void => scope.postMessage(said, transfer);
// A message to oneself: timers wait for 4 ms.
const next = new MessageChannel();
next.port1.onmessage = () => {
  planned = false;
  slice();
};

function goOn(): void {
  if (planned) return;
  planned = true;
  next.port2.postMessage(null);
}

async function load(module: WebAssembly.Module | string): Promise<void> {
  try {
    const found = typeof module === "string" ? (await WebAssembly.instantiateStreaming(fetch(module))).instance : await WebAssembly.instantiate(module);
    instance = found;
    tell({ told: "loaded" });
  } catch (thrown) {
    tell({ told: "no module", why: String(thrown) });
  }
}

function give(idle: boolean, done: boolean): void {
  if (!simulator) return;
  const [samples, links] = [simulator.rows("samples"), simulator.rows("links")];
  told = performance.now();
  const report = done ? simulator.report() : null;
  tell({ told: "rows", run, now: simulator.now, samples, links, idle, done, report, wall }, [samples.buffer, links.buffer]);
}

function refuse(thrown: unknown): void {
  simulator = null;
  const problems = thrown instanceof CannotSimulate ? thrown.problems : [{ what: thrown instanceof Error ? thrown.message : String(thrown), why: "", hint: "" }];
  tell({ told: "refused", run, problems });
}

function slice(): void {
  if (!simulator) return;
  try {
    began = performance.now();
    const end = simulator.duration;
    // Virtual time is whole nanoseconds: anything between two of them would never be reached.
    const target = Math.min(Math.round(until * 1e9) / 1e9, end);
    while (simulator.now < target) {
      const from = performance.now();
      simulator.runUntil(Math.min(target, simulator.now + stride));
      const took = performance.now() - from;
      if (took < SLICE_MS / 4) stride *= 2;
      else if (took > SLICE_MS) stride = Math.max(SHORTEST_S, stride / 2);
      if (performance.now() - began >= SLICE_MS) break;
    }
    wall += performance.now() - began;
    const done = simulator.now >= end;
    const idle = done || simulator.now >= target;
    if (idle || performance.now() - told >= TELL_MS) give(idle, done);
    if (!idle) goOn();
    if (done) {
      simulator.end();
      simulator = null;
    }
  } catch (thrown) {
    refuse(thrown);
  }
}

scope.onmessage = ({ data }) => {
  switch (data.do) {
    case "load":
      void load(data.module);
      return;
    case "begin":
      simulator?.end();
      simulator = null;
      run = data.run;
      until = 0;
      wall = 0;
      stride = 0.01;
      told = performance.now();
      try {
        if (instance) simulator = new Simulator(instance, data.plan, data.asked);
      } catch (thrown) {
        refuse(thrown);
      }
      return;
    case "until":
      if (data.run !== run) return;
      until = data.seconds;
      goOn();
  }
};
