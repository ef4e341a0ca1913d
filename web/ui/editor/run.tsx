// Running what is being edited: the button, and beneath the drawing the run while it goes on.

import { useEffect, useRef, useState, type ReactNode } from "react";
import { offer } from "../kit/actions";
import { theAbout } from "../kit/about";
import { Button } from "../kit/parts";
import { href } from "../kit/route";
import { forgetStarted, keepStarted, useStarted } from "../kit/started";
import { useLive, type LiveDirection } from "../network/live";
import type { About, Document } from "../kit/messages";
import { rate } from "../runs/figures";
import type { LiveRun } from "../runs/live";
import { RunPlots } from "../runs/plots";
import { show, startLab, startRun, stop } from "../runs/start";
import { useRun } from "../runs/use-run";
import { Pill, Verdict } from "../runs/verdict";

/** Why a document can't be run now; null: it can. */
function hindrance(document: Document, realTime: boolean): string | null {
  if (document.on_disk !== null) return "The file was changed by another program: decide which text to keep.";
  const [first] = document.problems;
  if (first) return `${document.problems.length > 1 ? `${document.problems.length} problems. ` : ""}${first.what}`;
  const [lack] = document.lacks;
  if (lack && realTime) return lack.what;
  return null;
}

/** A lab needs neither flows nor a duration: it stays up. */
function hindersLab(document: Document): string | null {
  const problem = document.problems.find(({ key }) => key?.[0] !== "duration" && key?.[0] !== "flows");
  return problem?.what ?? document.lacks[0]?.what ?? null;
}

export function RunButton({ document }: { document: Document }): ReactNode {
  const { engine, runs } = useStarted();
  const [about, setAbout] = useState<About | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => void theAbout().then(setAbout), []);
  const engines = about?.engines ?? [{ name: engine, real_time: true }];
  const realTime = engines.find(({ name }) => name === engine)?.real_time ?? true;
  const why = hindrance(document, realTime);
  const runnable = !why && document.drawing !== null && document.drawing.flows.length > 0;
  const path = document.path;
  const noLab = hindersLab(document);

  const run = async (): Promise<void> => {
    setBusy(true);
    const started = await startRun(path, engine);
    setBusy(false);
    if (!started) return;
    if (started.kind === "study") show(started);
    else keepStarted(path, started.id);
  };
  const lab = async (): Promise<void> => {
    setBusy(true);
    await startLab(path);
    setBusy(false);
  };
  useEffect(
    () =>
      offer(() => [
        { id: "run", title: "Run", group: "Run", icon: "play", keys: ["Ctrl-Enter"], can: () => runnable && !busy, run: () => void run() },
        { id: "lab", title: "Start as a lab: a network to live in", group: "Run", icon: "terminal", can: () => !noLab && !busy, run: () => void lab() },
      ]),
    [runnable, busy, engine, path, noLab],
  );
  const title = why ?? (runnable ? `Run it (Ctrl-Enter)${runs[path] ? "; the run beneath is kept" : ""}` : "Add a flow first: a sender and a receiver.");
  return (
    <>
      <Button look="quiet" icon="terminal" title={noLab ?? "Keep the network up, with terminals in its hosts and routers"} disabled={busy || noLab !== null} onClick={() => void lab()}>
        Lab
      </Button>
      <span className="run-menu">
        <Button look="main" icon="play" title={title} disabled={!runnable || busy} onClick={() => void run()}>
          {document.study_runs ? `Run ${document.study_runs.toLocaleString("en")}` : "Run"}
        </Button>
        <select className="engine" aria-label="Engine" title="The engine that runs it" value={engine} onChange={(event) => useStarted.setState({ engine: event.target.value })}>
          {engines.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </span>
    </>
  );
}

export function RunDock({ document }: { document: Document }): ReactNode {
  const id = useStarted(({ runs }) => runs[document.path]);
  return id ? <Dock key={id} id={id} path={document.path} /> : null;
}

function Dock({ id, path }: { id: string; path: string }): ReactNode {
  const { live, problem } = useRun(id);
  const [folded, setFolded] = useState(false);
  const state = live.state;
  const going = !state || state.status === "starting" || state.status === "running";
  const duration = live.legend?.duration_s;
  const place = state?.id ?? id;
  useDrawing(live, path, going);
  const started = useRef(false);
  useEffect(() => {
    started.current = true;
  }, []);
  useEffect(
    () => offer(() => [{ id: "run-stop", title: "Stop the run early", group: "Run", icon: "stop", keys: ["Ctrl-."], can: () => going, run: () => void stop("runs", place, "early") }]),
    [going, place],
  );
  return (
    <section className="dock" aria-label="The run">
      <header className="dock-head">
        <Pill verdict={going ? "running" : state.status === "complete" ? (state.verdict ?? "complete") : state.status} />
        {going && live.ticks > 0 && duration ? (
          <span className="run-time">
            <progress max={duration} value={Math.min(live.time, duration)} aria-label="Time of the run" />
            {live.time.toFixed(1)} of {duration} s
          </span>
        ) : (
          <span className="soft">{going && live.stage !== "running" ? live.stage || "starting" : ""}</span>
        )}
        <span className="dock-end">
          {going && (
            <Button icon="stop" onClick={() => void stop("runs", place, "early")} title="What was measured is judged and kept (Ctrl-.)">
              Stop early
            </Button>
          )}
          <a className="button" href={href("runs", place)}>
            {going ? "Open the run" : "Report"}
          </a>
          <Button look="quiet" icon={folded ? "add" : "minus"} title={folded ? "Show the plots" : "Fold"} onClick={() => setFolded(!folded)} />
          {!going && <Button look="quiet" icon="close" title="Close" onClick={() => forgetStarted(path)} />}
        </span>
      </header>
      {(state?.problem || problem) && <p className="run-failed" role="alert">{state?.problem ?? problem?.what}</p>}
      {going && live.health && live.health.verdict !== "valid" && <Verdict verdict={live.health.verdict} reasons={live.health.reasons} soFar />}
      {!going && state.verdict && state.verdict !== "valid" && <Verdict verdict={state.verdict} reasons={state.reasons} />}
      {!folded && live.legend && (
        <div className="dock-body dock-plots">
          <RunPlots live={live} only={["goodput", "rtt", "queue"]} />
        </div>
      )}
    </section>
  );
}

/** Shows the load of links on the drawing, a few times a second. */
function useDrawing(live: LiveRun, path: string, going: boolean): void {
  useEffect(() => {
    if (!going) return;
    const tell = (): void => {
      const of = new Map(live.legend?.links.map((link) => [link.name, link]));
      const links: Record<string, LiveDirection> = {};
      for (const [name, { bps, now, dropped }] of live.links) {
        const { rate_bps = null, buffer_bytes = null } = of.get(name) ?? {};
        links[name] = {
          share: rate_bps ? bps / rate_bps : null,
          text: rate(bps),
          queue: buffer_bytes && now ? now.queue_bytes / buffer_bytes : null,
          drops: dropped,
        };
      }
      useLive.setState({ path, links });
    };
    const timer = setInterval(tell, 250);
    return () => {
      clearInterval(timer);
      useLive.setState({ path: null, links: {} });
    };
  }, [live, path, going]);
}
