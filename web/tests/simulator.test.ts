// What is said of a run that traps.

import assert from "node:assert/strict";
import test from "node:test";
import { CannotSimulate, Simulator } from "../ui/whatif/simulator";

function instance(answer: string): WebAssembly.Instance {
  const memory = new WebAssembly.Memory({ initial: 1 });
  new Uint8Array(memory.buffer).set(new TextEncoder().encode(answer));
  const trap = (): never => {
    throw new WebAssembly.RuntimeError("unreachable");
  };
  const exports = { memory, alloc: () => 1024, free: () => undefined, answer: () => 0, answer_bytes: () => answer.length, create: trap };
  return { exports } as unknown as WebAssembly.Instance;
}
const asked = { samples: [], links: [], digests: false };

function thrown(answer: string): unknown {
  try {
    new Simulator(instance(answer), "{}", asked);
  } catch (error) {
    return error;
  }
  return null;
}

test("a lack of memory is told in words", () => {
  const error = thrown("[1, 2]");
  assert.ok(error instanceof CannotSimulate && error.message.includes("memory"));
});

test("a panic is told as it stands", () => {
  const error = thrown("panicked at x: y");
  assert.equal((error as Error).message, "a bug in the simulator: panicked at x: y");
});
