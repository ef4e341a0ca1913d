// What if, as a page without a server. Its plans were baked: rules say which numbers of the plan follow which slider.

import { createRoot } from "react-dom/client";
import { ProblemText } from "../kit/parts";
import type { Legend } from "../kit/run-messages";
import "./alone.css";
import { Bench, type Planner } from "./bench";
import { Engine } from "./engine";
import { valueOf } from "./knob";
import type { Knob, Planned } from "./messages";
import { Workbench } from "./workbench";

type At = readonly (string | number)[];
/** A number that follows the value: `start + slope * value`. Or what stands there for each word. */
type Rule = { at: At; start: number; slope: number; whole: boolean } | { at: At; values: readonly unknown[] };

interface Document {
  plan: unknown;
  legend: Legend;
  packets: number;
}

/** What `tools/whatif.py` knows. */
interface Known {
  name: string;
  settings: readonly string[];
  base: Document;
  knobs: readonly Knob[];
  rules: Record<string, readonly Rule[]>;
}

function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

function put(into: unknown, at: At, value: unknown): void {
  const last = at[at.length - 1] as string;
  const place = at.slice(0, -1).reduce((here, part) => (here as Record<string, unknown>)[part], into);
  (place as Record<string, unknown>)[last] = value;
}

/** The plan with other values. */
export function turned(known: Known, overrides: readonly string[]): Planned {
  const made = structuredClone(known.base);
  for (const text of overrides) {
    const [path = "", value = ""] = text.split(/=(.*)/);
    const knob = known.knobs.find((one) => one.path === path);
    const number = knob && valueOf(knob, value);
    if (number === undefined || number === null) throw new Error(`${text}: this page can't plan it`);
    for (const rule of known.rules[path] ?? []) {
      if ("values" in rule) put(made, rule.at, structuredClone(rule.values[number]));
      else put(made, rule.at, rule.whole ? Math.round(rule.start + rule.slope * number) : rule.start + rule.slope * number);
    }
  }
  return { plan: JSON.stringify(made.plan), legend: made.legend, packets: made.packets };
}

function quoted(text: string): string {
  return /^[\w./=:%+-]+$/.test(text) ? text : `'${text}'`;
}

async function main(): Promise<void> {
  const place = document.getElementById("app");
  if (!place) return;
  const root = createRoot(place);
  try {
    const known = JSON.parse(textOf("known")) as Known;
    const bytes = Uint8Array.from(atob(textOf("module")), (letter) => letter.charCodeAt(0));
    const worker = URL.createObjectURL(new Blob([textOf("worker")], { type: "text/javascript" }));
    const engine = new Engine(worker, await WebAssembly.compile(bytes));
    await engine.ready;
    const planner: Planner = {
      plan: (overrides) => Promise.resolve().then(() => turned(known, overrides)),
      problemsOf: (thrown) => [{ what: thrown instanceof Error ? thrown.message : String(thrown), why: "", hint: "" }],
    };
    const bench = new Bench(known.knobs, planner, engine);
    const command = (overrides: readonly string[]): string =>
      ["dumbbell", "run", known.name, ...[...known.settings, ...overrides].flatMap((one) => ["--set", one]), "--engine", "simulate"].map(quoted).join(" ");
    root.render(<Workbench bench={bench} title={<h1>What if? CUBIC and BBR share a bottleneck</h1>} command={command} />);
    bench.change();
  } catch (thrown) {
    const problem = { what: "the simulator does not start", why: String(thrown), hint: "open the page in a browser with WebAssembly", wrong: "", key: null, line: null, column: null, length: null };
    root.render(<ProblemText problem={problem} />);
  }
}

void main();
