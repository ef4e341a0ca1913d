// A study: how far it is, and its page.

import { useEffect, useState, type ReactNode } from "react";
import { withConsent } from "../kit/consent";
import { Missing } from "../kit/missing";
import { Button, toast } from "../kit/parts";
import { href, type ViewProps } from "../kit/route";
import { post, problemOf } from "../kit/api";
import type { Problem } from "../kit/messages";
import type { StudyState } from "../kit/run-messages";
import { Command, Report, when } from "../runs/run";
import { stop } from "../runs/start";
import { Pill } from "../runs/verdict";
import { socket } from "../kit/socket";
import { count } from "../../charts/counts";
import { Studies } from "./studies";

export default function View({ rest }: ViewProps): ReactNode {
  const [id] = rest;
  return id ? <StudyView id={id} /> : <Studies />;
}

function StudyView({ id }: { id: string }): ReactNode {
  const [study, setStudy] = useState<StudyState | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [shown, setShown] = useState(false);
  useEffect(() => {
    setStudy(null);
    setShown(false);
    setProblem(null);
    return socket.subscribe(`study/${id}`, (event) => setStudy(event as StudyState), null, setProblem);
  }, [id]);
  if (problem) return <Missing title="This study can’t be shown" problem={problem} to="studies">All studies</Missing>;
  if (!study) return <p className="loading">Loading…</p>;

  const going = study.status === "running";
  const resume = (): void => {
    withConsent(() => post(`/api/studies/${encodeURIComponent(id)}/resume`)).catch((thrown: unknown) => toast(problemOf(thrown)));
  };
  const refused = Object.entries(study.refused);
  return (
    <article className={`run ${(study.report || shown) && !going ? "with-report" : ""}`}>
      <header className="run-head">
        <div className="run-title">
          <h1>{study.name}</h1>
          <p className="soft">{[study.engine, when(study.started_at), count(study.cells, "cell"), study.varied.length ? `varies ${study.varied.join(", ")}` : "repetitions"].join(" · ")}</p>
        </div>
        <div className="run-progress">
          <Pill verdict={study.status} />
          <span className="run-time">
            <progress max={Math.max(1, study.runs)} value={study.done} aria-label="Runs that are done" />
            {study.done.toLocaleString("en")} of {count(study.runs, "run")}
          </span>
          {study.ends_at && going && <span className="soft">done at about {new Date(study.ends_at).toLocaleTimeString(undefined, { timeStyle: "short" })}</span>}
        </div>
        <div className="run-actions">
          {going ? (
            <Button icon="stop" onClick={() => void stop("studies", id, "early")} title="Finished runs are kept; it can go on later">
              Stop
            </Button>
          ) : (
            study.status !== "complete" && <Button look="main" icon="play" onClick={resume}>Go on</Button>
          )}
          {study.scenario_source?.endsWith(".toml") && (
            <a className="button quiet" href={href("edit", study.scenario_source)}>
              Open {study.scenario_source}
            </a>
          )}
        </div>
      </header>
      {(study.suspect > 0 || refused.length > 0) && (
        <section className="run-verdict suspect">
          {study.suspect > 0 && (
            <p>
              <strong>{study.suspect} suspect</strong>
              <span>{Object.entries(study.suspicions).map(([check, count]) => `${check} ${count}`).join(", ")}</span>
            </p>
          )}
          <ul>{refused.map(([why, count]) => <li key={why}><b>{count} can’t be used</b> {why}</li>)}</ul>
        </section>
      )}
      {study.expectations.length > 0 && <Expectations of={study.expectations} />}
      {(study.report || shown) && !going ? <Report id={id} ready kind="studies" /> : (
        <div className="run-part">
          <Command of={study.command} />
          {!going && study.done > 0 && <Button onClick={() => setShown(true)}>Report of the finished runs</Button>}
          <p className="soft">{going ? "The study continues if this page is closed, and if the server ends." : ""}</p>
        </div>
      )}
    </article>
  );
}

const ANSWERS: Readonly<Record<string, string>> = { holds: "valid", fails: "invalid", "cannot be told": "suspect" };

function Expectations({ of }: { of: StudyState["expectations"] }): ReactNode {
  return (
    <ul className="expectations">
      {of.map((one, i) => (
        <li key={i}>
          <Pill verdict={ANSWERS[String(one["answer"])] ?? "suspect"} /> <b>{String(one["answer"])}</b>: {String(one["expectation"])} <span className="soft">{String(one["why"])}</span>
        </li>
      ))}
    </ul>
  );
}
