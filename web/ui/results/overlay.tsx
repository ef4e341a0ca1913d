// Curves of several runs over each other, asked for when they are wanted.

import { useEffect, useRef, useState, type ReactNode } from "react";
import { Button, toast } from "../kit/parts";
import { get, problemOf } from "../kit/api";
import type { Series } from "../kit/run-messages";
import { LivePlots, type Curve, type Finer } from "../runs/live-plots";
import { valuesOf } from "../runs/series";

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
      <OneFigure runs={runs} />
    </section>
  );
}

/** Runs of one figure at most, as the command draws them. */
const MOST_IN_FIGURE = 36;

function OneFigure({ runs }: { runs: readonly { id: string }[] }): ReactNode {
  const [shown, setShown] = useState(false);
  const query = runs.slice(0, MOST_IN_FIGURE).map(({ id }) => `run=${encodeURIComponent(id)}`).join("&");
  const place = (format: string): string => `/api/overlay.${format}?${query}`;
  return (
    <>
      <p>
        <Button aria-expanded={shown} onClick={() => setShown(!shown)}>All in one figure</Button>{" "}
        {["svg", "pdf", "png", "csv"].map((format) => (
          <a key={format} href={place(format)} download={`overlay.${format}`}>{format.toUpperCase()} </a>
        ))}
        {runs.length > MOST_IN_FIGURE && <span className="soft">Of the first {MOST_IN_FIGURE} runs.</span>}
      </p>
      {shown && <img className="overlay-figure" src={place("svg")} alt="Goodput, congestion window, RTT and queue of the runs over time" />}
    </>
  );
}

function seriesOf(runs: readonly { id: string }[], query: Record<string, string>): Promise<Series[]> {
  return Promise.all(runs.map(({ id }) => get<Series>(`/api/runs/${encodeURIComponent(id)}/series`, query)));
}

function Curves({ plot, runs }: { plot: Key; runs: readonly { id: string; name: string }[] }): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const [found, setFound] = useState<Series[] | null>(null);
  const key = runs.map(({ id }) => id).join("/");
  useEffect(() => {
    let wanted = true;
    setFound(null);
    seriesOf(runs, { plot }).then(
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
    const shown = found.flatMap((series, run) =>
      series.curves.map((curve, i) => {
        const label = series.curves.length > 1 ? `${runs[run]?.name} ${curve.label}` : (runs[run]?.name ?? "");
        return { ...(groups[run] as (typeof groups)[number]), label, dash: DASHES[i % DASHES.length] ?? [] };
      }),
    );
    const curvesOf = (all: readonly Series[]): Curve[] =>
      all.flatMap(({ curves }) => curves).map((curve, group) => ({ label: shown[group]?.label ?? curve.label, group, flow: null, series: valuesOf(curve) }));
    const curves = curvesOf(found);
    const duration = Math.max(1, ...found.flatMap((series) => series.curves.map(({ t }) => t.at(-1) ?? 0)));
    const finer: Finer = async (_, __, from, to) => curvesOf(await seriesOf(runs, { plot, from: String(from), to: String(to), points: "2400" }));
    const unit = found[0]?.unit ?? "";
    const made = new LivePlots(
      host.current,
      [{ key: plot, title: PLOTS[plot], unit, note: "From the records of each run, thinned out to its extremes.", fromZero: plot !== "rtt", sources: [{ name: "", references: [], curves: () => curves }] }],
      shown, [], Math.ceil(duration), finer,
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
