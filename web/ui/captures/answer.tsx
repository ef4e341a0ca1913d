// What a capture tells: the answer in words, the estimates, what changes would do, and the fitted path to turn.

import { useEffect, useState, type ReactNode } from "react";
import { post, problemOf } from "../kit/api";
import type { FileEntry, Problem } from "../kit/messages";
import { Button, ProblemText } from "../kit/parts";
import { Bench, type Planner } from "../whatif/bench";
import { runCommand } from "../whatif/command";
import { MISSING, MODULE, startEngine } from "../whatif/module";
import { Save } from "../whatif/save";
import type { Planned } from "../whatif/messages";
import { Workbench } from "../whatif/workbench";
import { Changes } from "./changes";
import { keptOf } from "./measured";
import type { Fitted } from "./messages";

export function Answer({ fitted }: { fitted: Fitted }): ReactNode {
  const [first, ...others] = fitted.answer;
  return (
    <>
      <section className="captures-answer" aria-label="Answer">
        <p className="captures-first">{first}</p>
        {others.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </section>
      <Table title={fitted.title} head={["Property", "Value", "Between", "Evidence"]} rows={fitted.table} />
      {fitted.left_out > 0 && <p className="soft">{fitted.left_out.toLocaleString("en")} packets behind the first ones were not read.</p>}
      {fitted.measured && <Changes fitted={fitted} />}
      <Path fitted={fitted} />
    </>
  );
}

/** A table whose last column is long: on a narrow page it stands beneath the others. */
export function Table({ title, head, rows }: { title: string; head: readonly string[]; rows: readonly (readonly string[])[] }): ReactNode {
  return (
    <table className="list estimates">
      <caption>{title}</caption>
      <thead>
        <tr>
          {head.map((word) => (
            <th key={word} scope="col">
              {word}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name = "", ...cells]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {cells.map((cell, i) => (
              <td key={head[i + 1]} data-head={head[i + 1]} className={cell === "not identifiable" ? "soft" : undefined}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The fitted path, simulated in this page under what was measured. */
function Path({ fitted }: { fitted: Fitted }): ReactNode {
  const [bench, setBench] = useState<Bench | null>(null);
  const [problem, setProblem] = useState<Problem | null>(MODULE ? null : MISSING);
  const [saving, setSaving] = useState(false);
  useEffect(() => {
    if (!MODULE) return;
    let wanted = true;
    const engine = startEngine();
    const planner: Planner = {
      plan: (overrides) => post<Planned>(`/api/fit/${fitted.id}/plan`, { overrides }),
      problemsOf: (thrown) => [problemOf(thrown)],
    };
    engine.ready.then(
      () => {
        if (!wanted) return;
        const { measured } = fitted;
        const made = new Bench(fitted.knobs, planner, engine, measured && ((legend) => keptOf(measured, legend)));
        setBench(made);
        made.change();
      },
      (thrown) => wanted && setProblem(problemOf(thrown)),
    );
    return () => {
      wanted = false;
      engine.end();
    };
  }, [fitted]);
  if (problem) return <ProblemText problem={problem} />;
  if (!bench) return <p className="loading">Loading the simulator …</p>;
  return (
    <>
      <Workbench
        bench={bench}
        anyKey
        title={<h2>The fitted path</h2>}
        command={(overrides) => `${fitted.command} -o path.toml && ${runCommand("path.toml", overrides)}`}
        actions={
          <Button look="main" icon="save" onClick={() => setSaving(true)}>
            Save as a scenario
          </Button>
        }
      />
      {saving && (
        <Save
          initial={`fit-${fitted.name.replace(/\..*$/, "")}.toml`}
          overrides={bench.overrides}
          save={(to) => post<FileEntry>(`/api/fit/${fitted.id}/save`, { to, overrides: bench.overrides })}
          onClose={() => setSaving(false)}
        >
          Its comments have the intervals and the evidence. It holds no address and no packet.
        </Save>
      )}
    </>
  );
}
