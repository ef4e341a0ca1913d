// The goodput of a run's flows as a small curve, from its records.

import { useEffect, useState, type ReactNode } from "react";
import { digits } from "../../charts/numbers";
import { get } from "../kit/api";
import type { Series } from "../kit/run-messages";

const [WIDTH, HEIGHT] = [96, 26];
const POINTS = 48;
/** Flows that are drawn at most. */
const CURVES = 8;
/** The time for which a row must be in sight before its curve is asked for, in milliseconds. */
const STAY_MS = 150;
/** Curves that are asked for at a time. */
const AT_ONCE = 2;

const known = new Map<string, Series | null>();
const waiting: (() => Promise<void>)[] = [];
let busy = 0;

function begin(): void {
  while (busy < AT_ONCE && waiting.length) {
    busy++;
    void (waiting.pop() as () => Promise<void>)().finally(() => (busy--, begin()));
  }
}

export function Spark({ id }: { id: string }): ReactNode {
  const [series, setSeries] = useState<Series | null | undefined>(known.get(id));
  useEffect(() => {
    setSeries(known.get(id));
    if (known.has(id)) return;
    const work = async (): Promise<void> => {
      // A run without records of its flows has no curve, which is no fault of the table.
      const found = await get<Series>(`/api/runs/${encodeURIComponent(id)}/series`, { plot: "goodput", points: String(POINTS) }).catch(() => null);
      known.set(id, found);
      setSeries(found);
    };
    const timer = setTimeout(() => (waiting.push(work), begin()), STAY_MS);
    return () => {
      clearTimeout(timer);
      const at = waiting.indexOf(work);
      if (at >= 0) waiting.splice(at, 1);
    };
  }, [id]);
  if (!series?.curves.length) return null;
  const curves = series.curves.slice(0, CURVES);
  const last = Math.max(...curves.flatMap(({ t }) => t));
  const most = Math.max(...curves.flatMap(({ y }) => y.map((value) => value ?? 0)));
  return (
    <svg className="spark" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Goodput of ${curves.map(({ label }) => label).join(", ")}: up to ${digits(most)} ${series.unit}`}>
      <title>{`Goodput of ${curves.map(({ label }) => label).join(", ")}, 0 to ${digits(most)} ${series.unit}`}</title>
      {curves.map(({ label, light, dark, dash, t, y }, i) => (
        <path key={`${label} ${i}`} d={path(t, y, last, most)} strokeDasharray={dash.join(" ")} style={{ "--light": light, "--dark": dark } as Record<string, string>} />
      ))}
    </svg>
  );
}

/** The curve as a path; a gap in the values is one in the curve. */
export function path(t: readonly number[], y: readonly (number | null)[], last: number, most: number): string {
  let pen = "M";
  let found = "";
  t.forEach((time, i) => {
    const value = y[i];
    if (value == null) return void (pen = "M");
    const across = last > 0 ? (time / last) * WIDTH : 0;
    const down = HEIGHT - 2 - (most > 0 ? (value / most) * (HEIGHT - 4) : 0);
    found += `${pen}${across.toFixed(1)} ${down.toFixed(1)}`;
    pen = "L";
  });
  return found;
}
