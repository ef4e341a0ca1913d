// Sliders, player, plots and numbers of one scenario: the same with a server and without.

import { useState, useSyncExternalStore, type ReactNode } from "react";
import { Button, ProblemText } from "../kit/parts";
import type { Bench } from "./bench";
import { Figures } from "./figures";
import { Knobs } from "./knobs";
import { Player } from "./player";
import { Plots } from "./plots";

interface Props {
  bench: Bench;
  title: ReactNode;
  /** The command that carries out the same. */
  command: (overrides: readonly string[]) => string;
  /** Buttons beside those that are always there. */
  actions?: ReactNode;
  /** Any key may be set: a server plans. */
  anyKey?: boolean;
}

export function Workbench({ bench, title, command, actions, anyKey = false }: Props): ReactNode {
  useSyncExternalStore(bench.watch, bench.seen);
  const { problems, overrides, kept, own, tooMany, planned, shown } = bench;
  const [first] = problems;
  return (
    <div className="whatif" data-busy={bench.busy || undefined} data-latency={bench.latency.toFixed(1)}>
      <header className="whatif-head">
        <div className="whatif-title">
          {title}
          <p className="soft">
            <b className="simulated">simulated</b> A model of Linux’s TCP, in this page.<span className="long"> The same values give the same run, to the last packet.</span>
          </p>
        </div>
        <div className="whatif-actions">
          {own ? (
            <Button icon="close" onClick={() => bench.forget()}>
              Forget the kept curves
            </Button>
          ) : (
            <Button icon="copy" disabled={!shown} onClick={() => bench.keep()}>
              Keep these curves
            </Button>
          )}
          <Button icon="undo" disabled={overrides.length === 0} onClick={() => bench.resetAll()}>
            As in the scenario
          </Button>
          {actions}
        </div>
      </header>
      <aside className="whatif-knobs" aria-label="Values">
        <Knobs bench={bench} anyKey={anyKey} />
      </aside>
      <section className="whatif-main" aria-label="Curves">
        <Player bench={bench} />
        {first && (
          <div className="whatif-problem" role="alert">
            <ProblemText problem={{ ...first, wrong: "", key: null, line: null, column: null, length: null }} />
            {shown && <p className="soft">The curves are those of the values before.</p>}
          </div>
        )}
        {tooMany && planned && (
          <div className="whatif-problem" role="alert">
            <p>
              This run has about {(planned.packets / 1e6).toFixed(0)} million packets, which takes {Math.ceil(planned.packets / 2e6)} s or more here. The command below is faster.
            </p>
            <Button onClick={() => bench.allow()}>Simulate it here</Button>
          </div>
        )}
        {kept && <KeptNote bench={bench} />}
        <Plots bench={bench} />
        <Figures bench={bench} />
        <Exactly bench={bench} command={command(overrides)} />
      </section>
    </div>
  );
}

function KeptNote({ bench }: { bench: Bench }): ReactNode {
  const set = bench.kept?.overrides ?? [];
  return (
    <p className="kept-note">
      <i className="kept-line" aria-hidden="true" /> Pale and dashed: {bench.own ? `kept, ${set.length ? `with ${set.join(", ")}` : "as in the scenario"}` : bench.kept?.words}.
    </p>
  );
}

/** The command, and digests of its tables. */
function Exactly({ bench, command }: { bench: Bench; command: string }): ReactNode {
  const [digests, setDigests] = useState<{ of: string; found: Record<string, string> } | string | null>(null);
  const ask = (): void => {
    setDigests("…");
    bench.digests().then(
      ({ digests: found }) => setDigests({ of: command, found }),
      (thrown) => setDigests(String(thrown instanceof Error ? thrown.message : thrown)),
    );
  };
  const known = digests !== null && typeof digests === "object" && digests.of === command ? digests.found : null;
  return (
    <section className="exactly">
      <h3>The same as a command</h3>
      <p className="run-command">
        <code>{command}</code>
      </p>
      {known ? (
        <dl className="digests">
          {Object.entries(known).map(([table, digest]) => (
            <div key={table} data-table={table} data-digest={digest}>
              <dt>{table}</dt>
              <dd>
                <code>{digest}</code>
              </dd>
            </div>
          ))}
        </dl>
      ) : (
        <p>
          <Button disabled={!bench.shown || digests === "…"} onClick={ask}>
            Digests of its tables
          </Button>{" "}
          <span className="soft">{typeof digests === "string" && digests !== "…" ? digests : "What is in the run’s tables, as SHA-256: equal to those of the command."}</span>
        </p>
      )}
    </section>
  );
}
