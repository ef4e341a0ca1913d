// All studies of the workspace; choose two to compare.

import { useCallback, useEffect, useState, type ReactNode } from "react";
import { count } from "../../charts/counts";
import { get, problemOf } from "../kit/api";
import { Button, toast } from "../kit/parts";
import { go, href } from "../kit/route";
import type { StudyEntry } from "../kit/run-messages";
import { socket } from "../kit/socket";
import { when } from "../runs/run";
import { Tabs } from "../runs/tabs";
import { Pill } from "../runs/verdict";

/** The list is read again this often while a study runs, in milliseconds. */
const AGAIN_MS = 2000;

export function Studies(): ReactNode {
  const [studies, setStudies] = useState<StudyEntry[] | null>(null);
  const [search, setSearch] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const read = useCallback(() => void get<StudyEntry[]>("/api/studies").then(setStudies, (thrown) => toast(problemOf(thrown))), []);
  useEffect(read, [read]);
  useEffect(() => socket.subscribe("files", read), [read]);
  const busy = studies?.some(({ status }) => status === "running") ?? false;
  useEffect(() => {
    if (!busy) return;
    const timer = setInterval(() => document.hidden || read(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [busy, read]);
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = studies?.filter((one) => words.every((word) => `${one.id} ${one.engine} ${one.status} ${one.varied.join(" ")}`.toLowerCase().includes(word))) ?? [];
  return (
    <div className="results">
      <header className="results-head">
        <Tabs at="studies" />
        <input type="search" aria-label="Search studies" placeholder="Search names and varied keys" value={search} onChange={(event) => setSearch(event.target.value)} />
      </header>
      {chosen.size > 0 && (
        <div className="chosen" role="region" aria-label="Chosen studies">
          <span>{count(chosen.size, "study", "studies")}</span>
          <Button look="main" disabled={chosen.size !== 2} onClick={() => go("compare", "studies", ...chosen)}>Compare two</Button>
          <Button look="quiet" onClick={() => setChosen(new Set())}>Clear</Button>
        </div>
      )}
      {!studies && <p className="loading">Loading…</p>}
      {studies && !matching.length && (
        <p className="nothing">{search ? "No study matches." : "No studies yet. A scenario that varies a setting, or repeats, is a study: press Run."}</p>
      )}
      {matching.length > 0 && (
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
            {matching.map((study) => (
              <tr key={study.id}>
                <td className="pick"><input type="checkbox" aria-label={`Choose ${study.id}`} checked={chosen.has(study.id)} onChange={() => toggle(study.id)} /></td>
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
      )}
    </div>
  );
}
