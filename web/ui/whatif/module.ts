// The simulator's module, as the build has put it beside the page.

import type { Problem } from "../kit/messages";
import { Engine } from "./engine";

/** Addresses that the build knows; the module's is empty if it was built without the simulator. */
declare const process: { env: { WHATIF_WORKER: string; WHATIF_MODULE: string } };
const WORKER = process.env.WHATIF_WORKER;
export const MODULE = process.env.WHATIF_MODULE;
export const MISSING: Problem = {
  what: "the simulator is missing in this page",
  why: "it was built without a standard library for WebAssembly",
  hint: "rustup target add wasm32-unknown-unknown, then: make build",
  wrong: "", key: null, line: null, column: null, length: null,
};

/** A simulator of its own for one view, which ends it. */
export function startEngine(): Engine {
  return new Engine(WORKER, new URL(MODULE, location.href).href);
}
