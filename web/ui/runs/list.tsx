// All runs and studies of the workspace: search, tags, choose some to compare.

import { useCallback, useEffect, useRef, useState, type ReactNode } from "react";
import { Button, Dialog, toast } from "../kit/parts";
import { go, href } from "../kit/route";
import { get, post, problemOf } from "../kit/api";
import type { RunEntry, RunList, StudyEntry } from "../kit/run-messages";
import { when } from "./run";
import { tag } from "./tags";
import { Pill } from "./verdict";
import { socket } from "../kit/socket";
import { count } from "../../charts/counts";

const VERDICTS = ["valid", "suspect", "invalid", "failed", "interrupted", "running", "damaged"];
/** Rows are looked at again this often while something runs, in milliseconds. */
const AGAIN_MS = 2000;

export function ResultsList(): ReactNode {
  const [search, setSearch] = useState("");
  const [only, setOnly] = useState({ tag: "", verdict: "" });
  const [list, setList] = useState<RunList | null>(null);
  const [studies, setStudies] = useState<StudyEntry[]>([]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [chosenStudies, setChosenStudies] = useState<ReadonlySet<string>>(new Set());
  const [removing, setRemoving] = useState(false);
  const asked = useRef(0);
  const pages = useRef(1);

  const read = useCallback(async (): Promise<void> => {
    const mine = ++asked.current;
    try {
      let found: RunList | null = null;
      // What was opened further down stays open.
      for (let page = 0; page < pages.current; page++) {
        const next: RunList = await get<RunList>("/api/runs", { search, ...only, cursor: found?.cursor ?? "0" });
        found = found ? { ...next, runs: [...found.runs, ...next.runs] } : next;
        if (!next.cursor) break;
      }
      const others = await get<StudyEntry[]>("/api/studies");
      if (mine !== asked.current) return;
      setList(found);
      setStudies(others);
    } catch (thrown) {
      if (mine === asked.current) toast(problemOf(thrown));
    }
  }, [search, only]);

  useEffect(() => {
    const due = setTimeout(() => void read(), search ? 150 : 0);
    return () => clearTimeout(due);
  }, [read, search]);
  useEffect(() => socket.subscribe("files", () => void read()), [read]);
  const busy = list?.runs.some(({ verdict }) => verdict === "running") || studies.some(({ status }) => status === "running");
  useEffect(() => {
    if (!busy) return;
    const timer = setInterval(() => document.hidden || void read(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [busy, read]);

  const toggle = (of: ReadonlySet<string>, set: (next: ReadonlySet<string>) => void, id: string): void => {
    const next = new Set(of);
    if (!next.delete(id)) next.add(id);
    set(next);
  };
  const more = (): void => {
    pages.current += 1;
    void read();
  };
  const matching = studies.filter((one) => !search || `${one.id} ${one.varied.join(" ")}`.toLowerCase().includes(search.toLowerCase()));
  const all = list?.runs ?? [];
  const nothing = list && !all.length && !matching.length;

  return (
    <div className="results">
      <header className="results-head">
        <h1>Runs</h1>
        <input
          type="search" aria-label="Search runs" placeholder="Search: name, setting, tag, flow"
          value={search} onChange={(event) => (pages.current = 1, setSearch(event.target.value))}
        />
        <select aria-label="Verdict" value={only.verdict} onChange={(event) => setOnly({ ...only, verdict: event.target.value })}>
          <option value="">every verdict</option>
          {VERDICTS.map((one) => <option key={one}>{one}</option>)}
        </select>
        {(list?.tags.length ?? 0) > 0 && (
          <select aria-label="Tag" value={only.tag} onChange={(event) => setOnly({ ...only, tag: event.target.value })}>
            <option value="">every tag</option>
            {list?.tags.map((one) => <option key={one}>{one}</option>)}
          </select>
        )}
      </header>
      {chosen.size > 0 && (
        <Chosen
          ids={[...chosen]} onClear={() => setChosen(new Set())} onRemove={() => setRemoving(true)}
          onTag={(name) => void tag([...chosen], name).then((done) => (done ? read() : undefined))}
        />
      )}
      {chosenStudies.size > 0 && (
        <div className="chosen" role="region" aria-label="Chosen studies">
          <span>{count(chosenStudies.size, "study", "studies")}</span>
          <Button look="main" disabled={chosenStudies.size !== 2} onClick={() => go("compare", "studies", ...chosenStudies)}>
            Compare two
          </Button>
          <Button look="quiet" onClick={() => setChosenStudies(new Set())}>Clear</Button>
        </div>
      )}
      {matching.length > 0 && !only.tag && !only.verdict && (
        <Studies studies={matching} chosen={chosenStudies} onToggle={(id) => toggle(chosenStudies, setChosenStudies, id)} />
      )}
      {all.length > 0 && list && (
        <section aria-label="Single runs">
          {matching.length > 0 && <h2>Single runs</h2>}
          <Table
            runs={all} chosen={chosen} onToggle={(id) => toggle(chosen, setChosen, id)}
            onAll={(on) => setChosen(on ? new Set(all.map(({ id }) => id)) : new Set())}
          />
          <p className="soft results-count">
            {all.length} of {count(list.total, "run")}
            {list.cursor && <Button onClick={more}>Show more</Button>}
          </p>
        </section>
      )}
      {!list && <p className="loading">Loading…</p>}
      {nothing && (
        <p className="nothing">
          {search || only.tag || only.verdict ? "No run matches." : "No runs yet. Open a scenario and press Run."}
        </p>
      )}
      {removing && (
        <Remove ids={[...chosen]} onClose={() => setRemoving(false)} onDone={() => (setRemoving(false), setChosen(new Set()), void read())} />
      )}
    </div>
  );
}

function Chosen({ ids, onClear, onRemove, onTag }: { ids: string[]; onClear: () => void; onRemove: () => void; onTag: (name: string) => void }): ReactNode {
  const [name, setName] = useState("");
  return (
    <div className="chosen" role="region" aria-label="Chosen runs">
      <span>{ids.length} chosen</span>
      <Button look="main" disabled={ids.length < 2} onClick={() => go("compare", ...ids)}>
        Compare
      </Button>
      <form onSubmit={(event) => (event.preventDefault(), name && onTag(name), setName(""))}>
        <input aria-label="Tag the chosen runs" placeholder="tag" value={name} onChange={(event) => setName(event.target.value)} />
      </form>
      <Button look="quiet" icon="trash" onClick={onRemove}>
        Remove
      </Button>
      <Button look="quiet" onClick={onClear}>
        Clear
      </Button>
    </div>
  );
}

function Remove({ ids, onClose, onDone }: { ids: string[]; onClose: () => void; onDone: () => void }): ReactNode {
  const remove = async (): Promise<void> => {
    try {
      await post("/api/runs/remove", { ids });
      onDone();
    } catch (thrown) {
      toast(problemOf(thrown));
    }
  };
  return (
    <Dialog
      title={ids.length === 1 ? "Remove this run?" : `Remove ${ids.length} runs?`} onClose={onClose}
      actions={<><Button onClick={onClose}>Keep</Button><Button look="danger" icon="trash" onClick={() => void remove()}>Remove</Button></>}
    >
      <p>All records go, too, and do not come back. Deterministic runs can be repeated from their scenario; real ones never give the same again.</p>
    </Dialog>
  );
}

function Table({ runs, chosen, onToggle, onAll }: { runs: RunEntry[]; chosen: ReadonlySet<string>; onToggle: (id: string) => void; onAll: (on: boolean) => void }): ReactNode {
  return (
    <table className="list results-table">
      <thead>
        <tr>
          <th scope="col" className="pick">
            <input type="checkbox" aria-label="Choose all" checked={runs.every(({ id }) => chosen.has(id))} onChange={(event) => onAll(event.target.checked)} />
          </th>
          <th scope="col">verdict</th>
          <th scope="col">run</th>
          <th scope="col">flows</th>
          <th scope="col">engine</th>
          <th scope="col" className="n">started</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <tr key={run.id} className={run.left_over ? "left-over" : ""}>
            <td className="pick"><input type="checkbox" aria-label={`Choose ${run.id}`} checked={chosen.has(run.id)} onChange={() => onToggle(run.id)} /></td>
            <td><Pill verdict={run.verdict} />{run.checks.length > 0 && <small className="soft">{run.checks.join(", ")}</small>}</td>
            <th scope="row">
              <a href={href("runs", run.id)}>{run.name}</a>
              {run.problem && <small className="soft">{run.problem}</small>}
              <small className="soft">{[...run.overrides, ...run.tags.map((one) => `#${one}`), ...(run.left_over && run.verdict !== "failed" ? ["left over"] : [])].join("  ")}</small>
            </th>
            <td className="flows-of">{run.flows.map((flow) => <span key={flow}>{flow}</span>)}{run.more_flows > 0 && <span className="soft">and {run.more_flows} more</span>}</td>
            <td>{run.engine}</td>
            <td className="n">{when(run.started_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Studies({ studies, chosen, onToggle }: { studies: StudyEntry[]; chosen: ReadonlySet<string>; onToggle: (id: string) => void }): ReactNode {
  return (
    <section aria-label="Studies">
      <h2>Studies</h2>
      <table className="list results-table">
        <thead>
          <tr>
            <th className="pick" aria-label="Choose" />
            <th scope="col">state</th>
            <th scope="col">study</th>
            <th scope="col">varies</th>
            <th scope="col" className="n">runs</th>
            <th scope="col">engine</th>
            <th scope="col" className="n">started</th>
          </tr>
        </thead>
        <tbody>
          {studies.map((study) => (
            <tr key={study.id}>
              <td className="pick"><input type="checkbox" aria-label={`Choose ${study.id}`} checked={chosen.has(study.id)} onChange={() => onToggle(study.id)} /></td>
              <td><Pill verdict={study.status} /></td>
              <th scope="row">
                <a href={href("studies", study.id)}>{study.name}</a>
                {study.problem && <small className="soft">{study.problem}</small>}
              </th>
              <td className="soft">{study.varied.join(", ") || "nothing: repetitions alone"}</td>
              <td className="n">{study.runs.toLocaleString("en")}</td>
              <td>{study.engine}</td>
              <td className="n">{when(study.started_at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
