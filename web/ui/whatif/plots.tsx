// The plots of what is simulated, and beneath them those of a kept curve.

import { useEffect, useRef, type ReactNode } from "react";
import type { Change } from "../../charts/model";
import type { Shared } from "../../charts/pen";
import type { Legend } from "../kit/run-messages";
import { LivePlots, plotsOf, type Curve, type Plot, type Source } from "../runs/live-plots";
import type { Bench } from "./bench";
import type { Curves } from "./curves";

/** Colours of kept curves of links: paler than those of the present, and dashed. */
const PALE: Omit<Shared["groups"][number], "label"> = { light: "#9aa3ab", dark: "#6d757c", dash: [4, 3], flows: [] };

function groupsOf(legend: Legend): Shared["groups"][number][] {
  return legend.groups.map(({ label, light, dark, dash }) => ({ label, light, dark, dash, flows: [] }));
}

/** Kept curves of a flow have its hue, mixed with the ground. */
function pale({ label, light, dark }: Shared["groups"][number], words: string): Shared["groups"][number] {
  const mix = (colour: string, ground: number, share: number): string => {
    const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
    return `#${parts.map((part) => Math.round(part + (ground - part) * share).toString(16).padStart(2, "0")).join("")}`;
  };
  return { label: `${label}, ${words}`, light: mix(light, 255, 0.5), dark: mix(dark, 24, 0.45), dash: [4, 3], flows: [] };
}

/** What makes it necessary to build plots anew: all else is drawn with the next frame. */
function shapeOf(bench: Bench): string {
  const of = (curves: Pick<Curves, "legend"> | null | undefined): unknown =>
    curves && [curves.legend.duration_s, curves.legend.groups, curves.legend.links.filter(({ rate_bps }) => rate_bps).map(({ name }) => name), curves.legend.changes];
  return JSON.stringify([of(bench.shown), bench.kept ? [bench.kept.words, of(bench.kept.curves)] : null]);
}

/** The plots of a run whose curves are asked for as they are drawn. */
function following(bench: Bench): Plot[] {
  const first = bench.shown as Curves;
  const kept = bench.kept?.curves;
  const offset = first.legend.groups.length;
  const later = (key: string, name: string): { curves: Curve[]; references: Source["references"] } => {
    const shown = bench.shown as Curves;
    const plot = plotsOf(shown, shown.legend).find((one) => one.key === key);
    const source = plot?.sources.find((one) => one.name === name);
    const before = kept && plotsOf(kept, kept.legend).find((one) => one.key === key)?.sources.find((one) => one.name === name);
    const keptCurves = (before?.curves() ?? []).map(({ label, group, flow, series }): Curve => ({
      label: `${label}, ${bench.kept?.words}`,
      group: group === null ? offset + (kept?.legend.groups.length ?? 0) : offset + group,
      flow, series,
    }));
    return { curves: [...keptCurves.filter(({ series }) => series.length), ...(source?.curves() ?? [])], references: source?.references ?? [] };
  };
  return plotsOf(first, first.legend).map((plot) => ({
    ...plot,
    note: plot.key === "queue" ? "Bytes that wait, at each sample. Triangles: drops." : plot.key === "goodput" ? "Bytes read by the receiver's application." : plot.key === "rtt" ? "Smoothed RTT of the sender." : plot.key === "in-flight" ? "As the sender counts them." : plot.note,
    sources: plot.sources.map(({ name }) => ({
      name,
      curves: () => later(plot.key, name).curves,
      get references() {
        return later(plot.key, name).references;
      },
    })),
  }));
}

export function Plots({ bench }: { bench: Bench }): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const plots = useRef<LivePlots | null>(null);
  const shape = bench.shown ? shapeOf(bench) : "";
  useEffect(() => {
    if (!host.current || !bench.shown) return;
    const { legend } = bench.shown;
    const { kept } = bench;
    const keptGroups = kept ? [...groupsOf(kept.curves.legend).map((one) => pale(one, kept.words)), ...(kept.curves.links.size ? [{ ...PALE, label: kept.words }] : [])] : [];
    const changes: Change[] = legend.changes.map(({ at_s, words }) => ({ timeS: at_s, link: "", words, label: words }));
    const made = new LivePlots(host.current, following(bench), [...groupsOf(legend), ...keptGroups], changes, legend.duration_s);
    made.follow(null, 0);
    made.draw();
    plots.current = made;
    return () => {
      made.end();
      plots.current = null;
      host.current?.replaceChildren();
    };
  }, [bench, shape]);
  // Plots draw by themselves: React has no part in it.
  useEffect(() => {
    let drawn: Curves | null = null;
    let at = -1;
    return bench.watch(() => {
      if (!plots.current || (bench.shown === drawn && bench.shown?.now === at)) return;
      drawn = bench.shown;
      at = drawn?.now ?? -1;
      plots.current.draw();
    });
  }, [bench]);
  return <div className="plots whatif-plots" ref={host} />;
}
