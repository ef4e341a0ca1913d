// Captures: drop one, and see what limited the transfer, what the path was, and what would change it.

import { useCallback, useEffect, useRef, useState, type ReactNode } from "react";
import { get, problemOf, upload } from "../kit/api";
import { take } from "../kit/dropped";
import { Button, ProblemText } from "../kit/parts";
import { go, href, type ViewProps } from "../kit/route";
import { Answer } from "./answer";
import type { Fitted } from "./messages";
import { useAnswer } from "./use-answer";

/** The part of a file that is read; empty: what is detected. */
interface Only {
  connection: string;
  interfaces: readonly string[];
  at: string;
}

const NONE: Only = { connection: "", interfaces: [], at: "" };

export default function View({ rest }: ViewProps): ReactNode {
  const [id = ""] = rest;
  const [fitted, setFitted] = useState<Fitted | null>(null);
  const { isWaiting, problem, ask, cancel, refuse } = useAnswer();
  const [over, setOver] = useState(false);
  const file = useRef<File | null>(null);

  const read = useCallback((chosen: File, only: Only = NONE): void => {
    const query = new URLSearchParams({ name: chosen.name, connection: only.connection, at: only.at });
    for (const one of only.interfaces) query.append("interface", one);
    file.current = chosen;
    ask(
      (signal) => upload<Fitted>("/api/fit", query, chosen, signal),
      (found) => {
        setFitted(found);
        go("captures", found.id);
      },
    );
  }, []);
  useEffect(() => {
    const handed = take();
    if (handed) read(handed);
  }, [read]);
  useEffect(() => {
    if (!id || fitted?.id === id) return;
    get<Fitted>(`/api/fit/${encodeURIComponent(id)}`).then(setFitted, (thrown) => refuse(problemOf(thrown)));
  }, [id, fitted]);

  const shown = fitted?.id === id ? fitted : null;
  return (
    <div
      className={over ? "captures over" : "captures"}
      onDragOver={(event) => (event.preventDefault(), setOver(true))}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const [dropped] = event.dataTransfer.files;
        if (dropped) read(dropped);
      }}
    >
      <header className="captures-head">
        <h1>{shown ? shown.name : "Why is this transfer slow?"}</h1>
        {shown && <a href={href("captures")}>Another capture</a>}
      </header>
      {!shown && (
        <>
          <p>
            A capture of TCP (<code>.pcap</code>, <code>.pcapng</code>), taken at the sender or at the receiver. Or a log: <code>iperf3 --json</code>, <code>ss -ti</code>, qlog, a
            Mahimahi trace, a CSV of time, rate and delay.
          </p>
          <label className="drop">
            <span>Choose a file of up to 1 GiB, or drop it here</span>
            <input
              type="file"
              onChange={(event) => {
                const [chosen] = event.target.files ?? [];
                event.target.value = "";
                if (chosen) read(chosen);
              }}
            />
          </label>
          <p className="soft">The server of this page reads the file, and then removes it. Figures stay in its memory until it ends; no packet does.</p>
        </>
      )}
      {isWaiting && (
        <p className="captures-reading" role="status">
          <progress aria-label={`Reading ${file.current?.name}`} /> Reading {file.current?.name} …
          <Button icon="close" onClick={cancel}>
            Cancel
          </Button>
        </p>
      )}
      {problem && (
        <div className="whatif-problem" role="alert">
          <ProblemText problem={problem} />
        </div>
      )}
      {file.current && !isWaiting && (shown || problem) && <Part isOpen={problem !== null} onAnswer={(only) => file.current && read(file.current, only)} />}
      {shown && !isWaiting && <Answer key={shown.id} fitted={shown} />}
    </div>
  );
}

/** Another part of the same file. */
function Part({ isOpen, onAnswer }: { isOpen: boolean; onAnswer: (only: Only) => void }): ReactNode {
  const [only, setOnly] = useState(NONE);
  const [interfaces, setInterfaces] = useState("");
  return (
    <details className="captures-part" open={isOpen}>
      <summary>Another connection, interface or end of this file</summary>
      <form onSubmit={(event) => (event.preventDefault(), onAnswer({ ...only, interfaces: interfaces.split(/[\s,]+/).filter(Boolean) }))}>
        <label>
          Connection
          <input placeholder="2, or 10.0.0.1:443" spellCheck={false} value={only.connection} onChange={(event) => setOnly({ ...only, connection: event.target.value.trim() })} />
        </label>
        <label>
          Interfaces
          <input placeholder="all" spellCheck={false} value={interfaces} onChange={(event) => setInterfaces(event.target.value)} />
        </label>
        <label>
          Taken at
          <select value={only.at} onChange={(event) => setOnly({ ...only, at: event.target.value })}>
            <option value="">detected</option>
            <option value="sender">the sender</option>
            <option value="receiver">the receiver</option>
          </select>
        </label>
        <Button type="submit">Fit it</Button>
      </form>
    </details>
  );
}
