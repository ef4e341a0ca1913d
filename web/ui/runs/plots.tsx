// The live plots of a run as a part of a page.

import { useEffect, useRef, useState, type ReactNode } from "react";
import type { Change } from "../../charts/model";
import type { LiveRun } from "./live";
import { LivePlots, plotsOf } from "./live-plots";

/** Runs longer than this show their last minute, and all of it if asked. */
const WINDOW_S = 60;

/** `only`: keys of the plots that are shown; all by default. */
export function RunPlots({ live, only }: { live: LiveRun; only?: readonly string[] }): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const plots = useRef<LivePlots | null>(null);
  const legend = live.legend;
  const long = (legend?.duration_s ?? 0) > WINDOW_S * 1.5;
  const [window_, setWindow] = useState<number | null>(null);
  const [asked, setAsked] = useState(false);
  const wanted = asked ? window_ : long && live.state?.status === "running" ? WINDOW_S : null;

  useEffect(() => {
    if (!host.current || !legend) return;
    const groups = legend.groups.map(({ label, light, dark, dash }) => ({ label, light, dark, dash, flows: [] }));
    const changes: Change[] = legend.changes.map(({ at_s, words }) => ({ timeS: at_s, link: "", words, label: words }));
    const chosen = plotsOf(live, legend).filter(({ key }) => !only || only.includes(key));
    const made = new LivePlots(host.current, chosen, groups, changes, legend.duration_s);
    plots.current = made;
    return () => {
      made.end();
      plots.current = null;
      host.current?.replaceChildren();
    };
  }, [live, legend, only?.join()]);

  // Plots draw by themselves: React has no part in it.
  useEffect(() => {
    let drawn = -1;
    const look = (): void => {
      const made = plots.current;
      if (made && live.version !== drawn && live.ticks) {
        drawn = live.version;
        made.follow(wanted, live.time);
        made.draw();
      }
    };
    look();
    const timer = setInterval(look, 50);
    return () => clearInterval(timer);
  }, [live, legend, wanted]);

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
