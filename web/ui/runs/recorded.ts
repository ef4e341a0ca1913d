// What a run that has ended has recorded, as its plots took it while the run went on.

import { get } from "../kit/api";
import type { Legend, Series as Recorded } from "../kit/run-messages";
import type { LiveRun } from "./live";
import type { Measured } from "./live-plots";
import { Series, valuesOf } from "./series";

/** Points of a curve: two for each pixel of a wide plot. */
const POINTS = 2400;
/** Plots that records have. */
export const IN_RECORDS = ["goodput", "rtt", "cwnd", "in-flight", "queue"] as const;

/** One plot of a run's records; with a span, in seconds, only that. */
export function plotOf(id: string, plot: string, span: Record<string, string> = {}): Promise<Recorded> {
  return get<Recorded>(`/api/runs/${encodeURIComponent(id)}/series`, { plot, points: String(POINTS), every: "true", ...span });
}

/** Returns the series of a run's records. Null if it has none, as one that was cut short. States of BBR are those that were seen live. */
export async function recorded(id: string, legend: Legend, live: LiveRun): Promise<Measured | null> {
  const found = await Promise.all(IN_RECORDS.map((plot) => plotOf(id, plot).catch(() => null)));
  const [goodput, rtt, cwnd, inFlight, queue] = found;
  const known = new Set(found.flatMap((one) => one?.curves.flatMap(({ flow }) => flow ?? []) ?? []));
  if (!known.size) return null;
  const of = (plot: Recorded | null | undefined, flow: string): Series => {
    const curve = plot?.curves.find((one) => one.flow === flow);
    return curve ? valuesOf(curve) : new Series();
  };
  return {
    flows: new Map(
      legend.flows.filter(({ id: flow }) => known.has(flow)).map(({ id: flow }) => {
        const bbr = live.flows.get(flow)?.bbr;
        const series = { goodput: of(goodput, flow), rtt: of(rtt, flow), cwnd: of(cwnd, flow), inFlight: of(inFlight, flow) };
        return [flow, bbr ? { ...series, bbr } : series];
      }),
    ),
    links: new Map((queue?.curves ?? []).map((curve) => [curve.label, { queue: valuesOf(curve), drops: curve.drops }])),
  };
}
