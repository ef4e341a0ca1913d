// The live plots of a run as a part of a page.

import { useEffect, useRef, useState, type ReactNode } from "react";
import type { Change } from "../../charts/model";
import { get } from "../kit/api";
import type { Legend, Series } from "../kit/run-messages";
import type { LiveRun } from "./live";
import { LivePlots, plotsOf, type Curve, type Finer } from "./live-plots";
import { valuesOf } from "./series";

/** Runs longer than this show their last minute, and all of it if asked. */
const WINDOW_S = 60;

/** Plots whose records are finer than the events of a run. */
const IN_RECORDS = new Set(["goodput", "rtt", "cwnd", "queue"]);
/** Points of a curve: two for each pixel of a wide plot. */
const POINTS = 2400;

/** How many flows have told a state of BBR. */
function lanesOf(live: LiveRun): number {
  return [...live.flows.values()].filter(({ bbr }) => bbr.state.length).length;
}

/** Of a run that has ended, what was recorded of the time that is shown. */
function fromRecords(live: LiveRun, legend: Legend): Finer {
  return async (plot, source, from, to) => {
    const id = live.state?.id;
    if (!id || !IN_RECORDS.has(plot)) return null;
    const span = { plot, from: String(from), to: String(to), points: String(POINTS) };
    const { curves } = await get<Series>(`/api/runs/${encodeURIComponent(id)}/series`, span);
    const found = curves.flatMap(({ label, flow, t, y }): Curve[] => {
      const of = legend.flows.find((one) => one.id === flow);
      if (plot === "queue" ? label !== source : !of) return [];
      return [{ label: of?.label ?? label, group: of?.group ?? null, flow, series: valuesOf({ t, y }) }];
    });
    return found.length ? found : null;
  };
}

/** `only`: keys of the plots that are shown; all by default. */
export function RunPlots({ live, only }: { live: LiveRun; only?: readonly string[] }): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const plots = useRef<LivePlots | null>(null);
  const legend = live.legend;
  const long = (legend?.duration_s ?? 0) > WINDOW_S * 1.5;
  const [window_, setWindow] = useState<number | null>(null);
  const [asked, setAsked] = useState(false);
  const [lanes, setLanes] = useState(() => lanesOf(live));
  const status = live.state?.status;
  const going = !status || status === "starting" || status === "running";
  const wanted = asked ? window_ : long && going ? WINDOW_S : null;

  useEffect(() => {
    if (!host.current || !legend) return;
    const groups = legend.groups.map(({ label, light, dark, dash }) => ({ label, light, dark, dash, flows: [] }));
    const changes: Change[] = legend.changes.map(({ at_s, words }) => ({ timeS: at_s, link: "", words, label: words }));
    const chosen = plotsOf(live, legend).filter(({ key }) => !only || only.includes(key));
    const made = new LivePlots(host.current, chosen, groups, changes, legend.duration_s, going ? null : fromRecords(live, legend));
    plots.current = made;
    return () => {
      made.end();
      plots.current = null;
      host.current?.replaceChildren();
    };
  }, [live, legend, only?.join(), lanes, going]);

  // Plots draw by themselves: React has no part in it.
  useEffect(() => {
    let drawn = -1;
    const look = (): void => {
      const made = plots.current;
      if (made && live.version !== drawn && live.ticks) {
        drawn = live.version;
        made.follow(wanted, live.time);
        made.draw();
        // Flows of BBR have a lane each, and a plot of lanes has its height from the start.
        setLanes(lanesOf(live));
      }
    };
    look();
    const timer = setInterval(look, 50);
    return () => clearInterval(timer);
  }, [live, legend, wanted, lanes, going]);

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
