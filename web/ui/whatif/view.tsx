// What if: a scenario of the workspace, simulated here with other values.

import { useEffect, useState, type ReactNode } from "react";
import { Button, ProblemText } from "../kit/parts";
import { href, type ViewProps } from "../kit/route";
import { useShell } from "../kit/shell";
import { get, post, problemOf } from "../kit/api";
import type { Problem } from "../kit/messages";
import { Bench, type Planner } from "./bench";
import { runCommand } from "./command";
import type { Knobs, Planned } from "./messages";
import { MISSING, MODULE, startEngine } from "./module";
import { Save } from "./save";
import { Workbench } from "./workbench";

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
    const engine = startEngine();
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
  return (
    <>
      <Workbench
        bench={bench.bench}
        anyKey
        title={<h1>What if? {bench.name}</h1>}
        command={(overrides) => runCommand(path, overrides)}
        actions={
          <Button look="main" icon="save" onClick={() => setSaving(true)}>
            Save as a scenario
          </Button>
        }
      />
      {saving && (
        <Save
          initial={path.replace(/\.toml$/, "-2.toml")}
          overrides={bench.bench.overrides}
          save={(to) => post("/api/whatif/save", { path, to, overrides: bench.bench.overrides })}
          onClose={() => setSaving(false)}
        >
          Comments and order stay. The scenario that you began with is not changed.
        </Save>
      )}
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
