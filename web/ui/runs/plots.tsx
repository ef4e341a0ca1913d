// The live plots of a run as a part of a page.

import { useEffect, useRef, useState, type ReactNode } from "react";
import type { Change } from "../../charts/model";
import type { Legend } from "../kit/run-messages";
import type { LiveRun } from "./live";
import { LivePlots, plotsOf, type Curve, type Finer, type Measured } from "./live-plots";
import { IN_RECORDS, plotOf, recorded } from "./recorded";
import { valuesOf } from "./series";

/** Runs longer than this show their last minute, and all of it if asked. */
const WINDOW_S = 60;

/** How many flows have told a state of BBR. */
function lanesOf(live: LiveRun): number {
  return [...live.flows.values()].filter(({ bbr }) => bbr.state.length).length;
}

/** Of a run that has ended, what was recorded of the time that is shown. */
function fromRecords(live: LiveRun, legend: Legend): Finer {
  return async (plot, source, from, to) => {
    const id = live.state?.id;
    if (!id || !IN_RECORDS.some((one) => one === plot)) return null;
    const { curves } = await plotOf(id, plot, { from: String(from), to: String(to) });
    const found = curves.flatMap(({ label, flow, t, y, drops }): Curve[] => {
      const of = legend.flows.find((one) => one.id === flow);
      if (plot === "queue" ? label !== source : !of) return [];
      return [{ label: of?.label ?? label, group: of?.group ?? null, flow, series: valuesOf({ t, y }), drops }];
    });
    return found.length ? found : null;
  };
}

/** Fewer looks at a run than this make no plot. */
const FEW = 5;

/** What the plots of a run show: what came while it goes on, then its records. Null: not known yet; undefined: there is nothing. */
function useMeasured(live: LiveRun, going: boolean): Measured | null | undefined {
  const [records, setRecords] = useState<{ of: LiveRun; found: Measured | null } | null>(null);
  const id = live.state?.id;
  const legend = live.legend;
  useEffect(() => {
    if (going || !id || !legend) return;
    let wanted = true;
    void recorded(id, legend, live).then((found) => wanted && setRecords({ of: live, found }));
    return () => {
      wanted = false;
    };
  }, [live, legend, id, going]);
  const seen = live.ticks >= (going ? 1 : FEW) ? live : undefined;
  if (going) return live;
  if (records?.of !== live) return seen ?? null;
  return records.found ?? seen;
}

/** `only`: keys of the plots that are shown; all by default. */
export function RunPlots({ live, only }: { live: LiveRun; only?: readonly string[] }): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const plots = useRef<LivePlots | null>(null);
  /** Where the plots that these replace were zoomed in, and the one that had the keyboard: records come while one looks. */
  const before = useRef<{ of: LiveRun; span: LivePlots["span"]; focus: string | undefined } | null>(null);
  const legend = live.legend;
  const long = (legend?.duration_s ?? 0) > WINDOW_S * 1.5;
  const [window_, setWindow] = useState<number | null>(null);
  const [asked, setAsked] = useState(false);
  const [lanes, setLanes] = useState(() => lanesOf(live));
  const status = live.state?.status;
  const going = !status || status === "starting" || status === "running";
  const measured = useMeasured(live, going);
  const wanted = asked ? window_ : long && going ? WINDOW_S : null;

  useEffect(() => {
    if (!host.current || !legend || !measured) return;
    const groups = legend.groups.map(({ label, light, dark, dash }) => ({ label, light, dark, dash, flows: [] }));
    const changes: Change[] = legend.changes.map(({ at_s, words }) => ({ timeS: at_s, link: "", words, label: words }));
    const chosen = plotsOf(measured, legend, measured === live).filter(({ key }) => !only || only.includes(key));
    const made = new LivePlots(host.current, chosen, groups, changes, legend.duration_s, going ? null : fromRecords(live, legend));
    plots.current = made;
    const { of, span, focus } = before.current ?? {};
    if (of === live && span) made.zoom(span);
    if (of === live && focus) host.current.querySelector<HTMLElement>(`[data-plot="${focus}"] .canvas`)?.focus();
    const focused = (): string | undefined => host.current?.querySelector<HTMLElement>("[data-plot]:focus-within")?.dataset.plot;
    return () => {
      before.current = { of: live, span: made.span, focus: focused() };
      made.end();
      plots.current = null;
      host.current?.replaceChildren();
    };
  }, [live, legend, only?.join(), lanes, going, measured]);

  // Plots draw by themselves: React has no part in it.
  useEffect(() => {
    let drawn = -1;
    const look = (): void => {
      const made = plots.current;
      if (made && live.version !== drawn && (live.ticks || measured !== live)) {
        drawn = live.version;
        made.follow(wanted, going ? live.time : Math.max(live.time, legend?.duration_s ?? 0));
        made.draw();
        // Flows of BBR have a lane each, and a plot of lanes has its height from the start.
        setLanes(lanesOf(live));
      }
    };
    look();
    const timer = setInterval(look, 50);
    return () => clearInterval(timer);
  }, [live, legend, wanted, lanes, going, measured]);

  if (measured === null) return <p className="loading">Reading the records…</p>;
  if (measured === undefined) return <p className="loading">No records of this run’s flows are kept.</p>;
  return (
    <div className="run-plots">
      {long && (
        <div className="run-window" role="group" aria-label="Time that is shown">
          {([WINDOW_S, null] as const).map((seconds) => (
            <button
              key={seconds ?? "all"}
              type="button"
              className="button quiet"
              aria-pressed={wanted === seconds}
              onClick={() => (setAsked(true), setWindow(seconds))}
            >
              {seconds === null ? "The whole run" : `Last ${seconds} s`}
            </button>
          ))}
        </div>
      )}
      <div className="plots" ref={host} />
    </div>
  );
}
