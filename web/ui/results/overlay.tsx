// Curves of several runs over each other, asked for when they are wanted.

import { useEffect, useRef, useState, type ReactNode } from "react";
import { Button, toast } from "../app/parts";
import { get, problemOf } from "../api";
import type { Series } from "../run-messages";
import { LivePlots, type Curve } from "../runs/live-plots";
import { Series as Values } from "../runs/series";

const PLOTS = { goodput: "Goodput", rtt: "RTT", cwnd: "Congestion window", queue: "Queue" } as const;
type Key = keyof typeof PLOTS;
/** Runs whose curves are laid over each other at most: more can't be told apart. */
const MOST = 6;
const HUES: readonly [string, string][] = [
  ["#0072b2", "#3d9fe0"], ["#d55e00", "#f07f2e"], ["#009e73", "#23bf92"], ["#cc79a7", "#dc93bb"], ["#e69f00", "#eeb23a"], ["#56b4e9", "#8fd0f5"],
];
const DASHES = [[], [6, 3], [2, 2], [8, 2, 2, 2]];

export function Overlay({ runs }: { runs: readonly { id: string; name: string }[] }): ReactNode {
  const [plot, setPlot] = useState<Key | null>(null);
  return (
    <section>
      <h2>Curves</h2>
      <div className="overlay-choice" role="group" aria-label="Curves that are laid over each other">
        {(Object.keys(PLOTS) as Key[]).map((key) => (
          <Button key={key} aria-pressed={plot === key} onClick={() => setPlot(key)}>
            {PLOTS[key]}
          </Button>
        ))}
      </div>
      {runs.length > MOST && <p className="soft">Of the first {MOST} runs: more can’t be told apart.</p>}
      {plot && <Curves plot={plot} runs={runs.slice(0, MOST)} />}
    </section>
  );
}

function Curves({ plot, runs }: { plot: Key; runs: readonly { id: string; name: string }[] }): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const [found, setFound] = useState<Series[] | null>(null);
  const key = runs.map(({ id }) => id).join("/");
  useEffect(() => {
    let wanted = true;
    setFound(null);
    const each = runs.map(({ id }) => get<Series>(`/api/runs/${encodeURIComponent(id)}/series`, { plot }));
    Promise.all(each).then(
      (all) => wanted && setFound(all),
      (thrown) => wanted && toast(problemOf(thrown)),
    );
    return () => {
      wanted = false;
    };
  }, [plot, key]);
  useEffect(() => {
    if (!host.current || !found) return;
    const groups = runs.map(({ name }, i) => ({ label: name, light: HUES[i]?.[0] ?? "", dark: HUES[i]?.[1] ?? "", dash: [] as number[], flows: [] }));
    // Flows of one run have its colour, and dashes to tell them apart.
    const shown: typeof groups = [];
    const curves: Curve[] = [];
    let duration = 1;
    found.forEach((series, run) =>
      series.curves.forEach((curve, i) => {
        const values = new Values();
        curve.t.forEach((time, at) => values.push(time, curve.y[at] ?? null));
        duration = Math.max(duration, curve.t.at(-1) ?? 0);
        const label = series.curves.length > 1 ? `${runs[run]?.name} ${curve.label}` : (runs[run]?.name ?? "");
        shown.push({ ...(groups[run] as (typeof groups)[number]), label, dash: DASHES[i % DASHES.length] ?? [] });
        curves.push({ label, group: shown.length - 1, flow: null, series: values });
      }),
    );
    const unit = found[0]?.unit ?? "";
    const made = new LivePlots(
      host.current,
      [{ key: plot, title: PLOTS[plot], unit, note: "From the records of each run, thinned out to its extremes.", fromZero: plot !== "rtt", sources: [{ name: "", references: [], curves: () => curves }] }],
      shown, [], Math.ceil(duration),
    );
    made.draw();
    return () => {
      made.end();
      host.current?.replaceChildren();
    };
  }, [found]);
  return (
    <>
      {!found && <p className="loading">Reading records…</p>}
      <div className="plots" ref={host} />
    </>
  );
}
