// What if: a scenario of the workspace, simulated here with other values.

import { useEffect, useState, type ReactNode } from "react";
import { Button, Dialog, ProblemText, toast } from "../kit/parts";
import { go, href, type ViewProps } from "../kit/route";
import { useShell } from "../kit/shell";
import { get, post, problemOf } from "../kit/api";
import type { FileEntry, Problem } from "../kit/messages";
import { Bench, type Planner } from "./bench";
import { Engine } from "./engine";
import type { Knobs, Planned } from "./messages";
import { Workbench } from "./workbench";

/** Addresses that the build knows; the module's is empty if it was built without the simulator. */
declare const process: { env: { WHATIF_WORKER: string; WHATIF_MODULE: string } };
const WORKER = process.env.WHATIF_WORKER;
const MODULE = process.env.WHATIF_MODULE;
const MISSING: Problem = {
  what: "the simulator is missing in this page",
  why: "it was built without a standard library for WebAssembly",
  hint: "rustup target add wasm32-unknown-unknown, then: make build",
  wrong: "", key: null, line: null, column: null, length: null,
};

function quoted(text: string): string {
  return /^[\w./=:%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export default function View({ rest }: ViewProps): ReactNode {
  const path = rest.join("/");
  const [bench, setBench] = useState<{ path: string; name: string; bench: Bench } | null>(null);
  const [refused, setRefused] = useState<Problem | null>(MODULE ? null : MISSING);
  const [saving, setSaving] = useState(false);
  useEffect(() => {
    useShell.getState().set({ bar: <Bar path={path} /> });
    return () => useShell.getState().set({ bar: null });
  }, [path]);
  useEffect(() => {
    if (!MODULE || !path) return;
    let wanted = true;
    const engine = new Engine(WORKER, new URL(MODULE, location.href).href);
    const planner: Planner = {
      plan: (overrides) => post<Planned>("/api/whatif/plan", { path, overrides }),
      problemsOf: (thrown) => [problemOf(thrown)],
    };
    Promise.all([get<Knobs>("/api/whatif/knobs", { path }), engine.ready]).then(
      ([{ name, knobs }]) => {
        if (!wanted) return;
        const made = new Bench(knobs, planner, engine);
        setBench({ path, name, bench: made });
        made.change();
      },
      (thrown) => wanted && setRefused(problemOf(thrown)),
    );
    return () => {
      wanted = false;
      engine.end();
    };
  }, [path]);
  if (!path || refused) {
    return (
      <div className="view-fault">
        <h1>{path ? `${path} can’t be simulated here` : "What if?"}</h1>
        {refused ? <ProblemText problem={refused} /> : <p>Open a scenario, and press “What if” there.</p>}
        <a href={path ? href("edit", path) : href("files")}>{path ? "Back to the editor" : "All files"}</a>
      </div>
    );
  }
  if (bench?.path !== path) return <p className="loading">Loading the simulator …</p>;
  const command = (overrides: readonly string[]): string =>
    ["dumbbell", "run", path, ...overrides.flatMap((one) => ["--set", one]), "--engine", "simulate"].map(quoted).join(" ");
  return (
    <>
      <Workbench
        bench={bench.bench}
        anyKey
        title={<h1>What if? {bench.name}</h1>}
        command={command}
        actions={
          <Button look="main" icon="save" onClick={() => setSaving(true)}>
            Save as a scenario
          </Button>
        }
      />
      {saving && <Save bench={bench.bench} path={path} onClose={() => setSaving(false)} />}
    </>
  );
}

function Bar({ path }: { path: string }): ReactNode {
  return (
    <p className="file-name">
      <a href={href("edit", path)}>{path.split("/").at(-1)}</a>
    </p>
  );
}

function Save({ bench, path, onClose }: { bench: Bench; path: string; onClose: () => void }): ReactNode {
  const [to, setTo] = useState(path.replace(/\.toml$/, "-2.toml"));
  const [problem, setProblem] = useState<Problem | null>(null);
  const save = (): void => {
    const name = to.endsWith(".toml") ? to : `${to}.toml`;
    post<FileEntry>("/api/whatif/save", { path, to: name, overrides: bench.overrides }).then(
      () => {
        onClose();
        toast(`saved as ${name}`);
        go("edit", name);
      },
      (thrown) => setProblem(problemOf(thrown)),
    );
  };
  return (
    <Dialog
      title="Save as a scenario"
      onClose={onClose}
      actions={
        <Button look="main" onClick={save}>
          Save
        </Button>
      }
    >
      <label htmlFor="whatif-to">File</label>
      <input id="whatif-to" value={to} spellCheck={false} onChange={(event) => setTo(event.target.value)} onKeyDown={(event) => event.key === "Enter" && save()} />
      {bench.overrides.length > 0 && (
        <ul className="whatif-set">
          {bench.overrides.map((one) => (
            <li key={one}>
              <code>{one}</code>
            </li>
          ))}
        </ul>
      )}
      {problem && <ProblemText problem={problem} />}
      <p className="beneath">Comments and order stay. The scenario that you began with is not changed.</p>
    </Dialog>
  );
}
