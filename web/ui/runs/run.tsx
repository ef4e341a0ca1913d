// A run: while it goes on its plots and the verdict so far, then its report.

import { useEffect, useState, type ReactNode } from "react";
import { offer } from "../kit/actions";
import { Missing } from "../kit/missing";
import { Button, toast } from "../kit/parts";
import { go, href } from "../kit/route";
import type { RunDetail } from "../kit/run-messages";
import { FlowTable, LinkTable } from "./figures";
import type { LiveRun } from "./live";
import { RunPlots } from "./plots";
import { show, startRun, stop } from "./start";
import { Tags } from "./tags";
import { useRun } from "./use-run";
import { Pill, Verdict } from "./verdict";

type Tab = "live" | "report" | "scenario" | "log";
const TITLES: Readonly<Record<Tab, string>> = { live: "Plots", report: "Report", scenario: "Scenario", log: "Log and files" };

export function RunView({ id }: { id: string }): ReactNode {
  const { live, detail, problem, refresh } = useRun(id);
  // A choice holds for the run that it was made for.
  const [chosen, setChosen] = useState<{ of: LiveRun; tab: Tab } | null>(null);
  const setTab = (tab: Tab): void => setChosen({ of: live, tab });
  const state = live.state;
  const going = !state || state.status === "starting" || state.status === "running";
  const hasReport = state?.status === "complete" || (state?.status === "interrupted" && state.verdict !== null);
  const tab = chosen?.of === live ? chosen.tab : going || !hasReport ? "live" : "report";

  // A run that has ended has another name: the address follows, and "back" leads to where one came from.
  useEffect(() => {
    if (state && state.id !== id && !going) location.replace(href("runs", state.id));
  }, [state?.id, going, id]);

  const end = (how: "early" | "now"): void => void stop("runs", state?.id ?? id, how);
  useEffect(
    () =>
      offer(() => [
        { id: "run-stop", title: "Stop the run early", group: "Run", icon: "stop", keys: ["Ctrl-."], can: () => going, run: () => end("early") },
      ]),
    [going, state?.id, id],
  );

  if (!state) return problem ? <Missing title="This run can’t be shown" problem={problem} to="runs">All runs</Missing> : <p className="loading">Loading…</p>;
  return (
    <article className={`run ${tab === "report" ? "with-report" : ""}`}>
      <Head live={live} detail={detail} going={going} onStop={end} onChange={refresh} />
      {going && live.health && <Verdict verdict={live.health.verdict} reasons={live.health.reasons} soFar />}
      {/* The report begins with it. */}
      {!going && state.verdict && tab !== "report" && <Verdict verdict={state.verdict} reasons={state.reasons} />}
      {state.problem && (
        <div className="run-failed" role="alert">
          <p>{state.problem}</p>
        </div>
      )}
      <div className="tabs" role="tablist" aria-label="Parts of the run">
        {(Object.keys(TITLES) as Tab[]).map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            id={`tab-${one}`}
            aria-selected={tab === one}
            aria-controls="run-part"
            tabIndex={tab === one ? 0 : -1}
            disabled={one === "report" && !hasReport}
            onClick={() => setTab(one)}
            onKeyDown={(event) => step(event.key, one, hasReport, setTab)}
          >
            {TITLES[one]}
          </button>
        ))}
      </div>
      <div id="run-part" className={`run-part part-${tab}`} role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === "live" && <Live live={live} going={going} />}
        {tab === "report" && <Report id={state.id} ready={state.report || !going} />}
        {tab === "scenario" && <Scenario detail={detail} />}
        {tab === "log" && <Log live={live} detail={detail} id={state.id} />}
      </div>
    </article>
  );
}

function step(key: string, from: Tab, hasReport: boolean, to: (tab: Tab) => void): void {
  const all = (Object.keys(TITLES) as Tab[]).filter((one) => one !== "report" || hasReport);
  const by = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  const next = all[(all.indexOf(from) + by + all.length) % all.length];
  if (!by || !next) return;
  to(next);
  document.getElementById(`tab-${next}`)?.focus();
}

interface HeadProps {
  live: LiveRun;
  detail: RunDetail | null;
  going: boolean;
  onStop: (how: "early" | "now") => void;
  onChange: () => void;
}

function Head({ live, detail, going, onStop, onChange }: HeadProps): ReactNode {
  const [stopping, setStopping] = useState(false);
  const duration = live.legend?.duration_s ?? detail?.legend?.duration_s ?? null;
  const source = detail?.scenario_source;
  const again = async (): Promise<void> => {
    if (!source) return;
    const started = await startRun(source, detail.engine);
    if (started) show(started);
  };
  return (
    <header className="run-head">
      <div className="run-title">
        <h1>{detail?.name ?? "Run"}</h1>
        <p className="soft">
          {[detail?.engine, detail && when(detail.started_at), ...(detail?.overrides ?? [])].filter(Boolean).join(" · ")}
        </p>
      </div>
      <div className="run-progress">
        {going ? (
          <>
            <Pill verdict="running" />
            <span className="run-time">
              {live.ticks && duration ? (
                <>
                  <progress max={duration} value={Math.min(live.time, duration)} aria-label="Time of the run" />
                  {live.time.toFixed(1)} of {duration} s
                </>
              ) : (
                live.stage || "starting"
              )}
            </span>
            {live.ticks > 0 && live.stage !== "running" && <span className="soft">{live.stage}</span>}
          </>
        ) : (
          <>
            <Pill verdict={live.state?.status === "complete" ? (live.state.verdict ?? "complete") : (live.state?.status ?? "")} />
            {detail && <Tags run={detail} onChange={onChange} />}
          </>
        )}
      </div>
      <div className="run-actions">
        {going ? (
          <>
            <Button icon="stop" onClick={() => (setStopping(true), onStop("early"))} disabled={stopping} title="What was measured is judged and kept (Ctrl-.)">
              Stop early
            </Button>
            <Button look="quiet" onClick={() => onStop("now")} title="Records are cut short">
              Stop now
            </Button>
          </>
        ) : (
          <>
            {source && <Button icon="play" onClick={() => void again()} title={detail.command}>Run again</Button>}
            <Button look="quiet" icon="outline" onClick={() => go("compare", live.state?.id ?? "")}>
              Compare
            </Button>
          </>
        )}
        {source?.endsWith(".toml") && (
          <a className="button quiet" href={href("edit", source)}>
            Open {source}
          </a>
        )}
      </div>
    </header>
  );
}

export function when(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return "";
  const today = new Date().toDateString() === date.toDateString();
  return new Intl.DateTimeFormat(undefined, today ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" }).format(date);
}

function Live({ live, going }: { live: LiveRun; going: boolean }): ReactNode {
  if (!live.legend) return <p className="loading">{going ? live.stage || "starting" : "It ended before it had a plan."}</p>;
  return (
    <>
      {/* A run that has ended has them in its report. */}
      {going && (
        <div className="live-tables" tabIndex={0} role="group" aria-label="Flows and links, now">
          <FlowTable live={live} legend={live.legend} />
          <LinkTable live={live} legend={live.legend} />
        </div>
      )}
      <RunPlots live={live} />
    </>
  );
}

/** The report may be a stranger's: it has an origin of its own, without our cookie. */
export function Report({ id, ready, kind = "runs" }: { id: string; ready: boolean; kind?: "runs" | "studies" }): ReactNode {
  if (!ready) return <p className="loading">The report is written…</p>;
  const source = `/api/${kind}/${encodeURIComponent(id)}/report.html`;
  return <iframe key={source} className="report-frame" title="Report" src={source} sandbox="allow-scripts allow-downloads" />;
}

function Scenario({ detail }: { detail: RunDetail | null }): ReactNode {
  if (!detail) return <p className="loading">Loading…</p>;
  return (
    <>
      <Command of={detail.command} />
      <pre className="run-text" tabIndex={0}>{detail.text}</pre>
    </>
  );
}

/** The same by the command line. */
export function Command({ of }: { of: string }): ReactNode {
  const copy = (): void => {
    navigator.clipboard.writeText(of).then(() => toast("Copied"), () => toast("The browser does not allow copying"));
  };
  return (
    <p className="run-command">
      <span className="soft">Repeat this:</span> <code>{of}</code>
      <Button look="quiet" icon="copy" title="Copy" onClick={copy} />
    </p>
  );
}

function Log({ live, detail, id }: { live: LiveRun; detail: RunDetail | null; id: string }): ReactNode {
  return (
    <div className="run-log">
      <ol>
        {live.log.map(({ time, text }, i) => (
          <li key={i}>
            <span className="soft">{time === null ? "" : `${time.toFixed(2)} s`}</span> {text}
          </li>
        ))}
      </ol>
      {detail && (
        <>
          <h2>Files</h2>
          <p className="soft">{detail.directory}</p>
          <ul className="run-files">
            {detail.files.map((name) => (
              <li key={name}>
                <a href={`/api/runs/${encodeURIComponent(id)}/files/${encodeURIComponent(name)}`} download>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
