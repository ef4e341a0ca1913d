// What the links of a lab carry and how its flows do, in the last minute.

import { useEffect, useRef, type ReactNode } from "react";
import type { Change } from "../../charts/model";
import type { FlowLive } from "../runs/live";
import { LivePlots, queues, type Curve, type Plot } from "../runs/live-plots";
import type { Series } from "../runs/series";
import type { Lab } from "./use-lab";

const WINDOW_S = 60;
const MOST = 8;
const HUES: readonly [string, string][] = [
  ["#0072b2", "#3d9fe0"], ["#d55e00", "#f07f2e"], ["#009e73", "#23bf92"], ["#cc79a7", "#dc93bb"], ["#e69f00", "#eeb23a"], ["#56b4e9", "#8fd0f5"],
];

export function LabPlots({ lab }: { lab: Lab }): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const plots = useRef<LivePlots | null>(null);
  const changes = useRef<Change[]>([]);
  const now = useRef(lab);
  now.current = lab;
  // Links with a rate are those in which a queue grows; without any, all are shown.
  const links = lab.state?.links ?? [];
  const limited = links.filter(({ rate_bps }) => rate_bps !== null);
  const shown = (limited.length ? limited : links).map(({ name }) => name).slice(0, MOST);
  const flows = [...lab.flows.keys()].slice(0, MOST);
  const key = [...shown, "", ...flows].join("/");

  useEffect(() => {
    if (!host.current || !shown.length) return;
    const groups = [...shown, ...flows].map((name, i) => {
      const [light, dark] = HUES[i % HUES.length] as [string, string];
      return { label: name, light, dark, dash: i < HUES.length ? [] : [6, 3], flows: [] };
    });
    const ofFlows = (pick: (flow: FlowLive) => Series) => (): Curve[] =>
      flows.flatMap((name, i) => {
        const flow = now.current.flows.get(name);
        return flow ? [{ label: name, group: shown.length + i, flow: null, series: pick(flow) }] : [];
      });
    const goodput: Plot = { key: "goodput", title: "Goodput", unit: "Mbit/s", note: "Traffic that the lab has started: bytes read by the receiver, over half a second.", fromZero: true, sources: [{ name: "flows", references: [], curves: ofFlows((flow) => flow.goodput) }] };
    const rtt: Plot = { key: "rtt", title: "RTT", unit: "ms", note: "Smoothed RTT of the sender’s kernel.", fromZero: false, sources: [{ name: "flows", references: [], curves: ofFlows((flow) => flow.rtt) }] };
    const rates: Plot = {
      key: "rate", title: "Rate", unit: "Mbit/s", note: "Rate at which packets left each link’s queue.", fromZero: true,
      sources: [{
        name: "links", references: [],
        curves: () => shown.flatMap((name, group) => {
          const link = now.current.links.get(name);
          return link ? [{ label: name, group, flow: null, series: link.rate }] : [];
        }),
      }],
    };
    const queue = queues(shown.map((name) => ({ name, buffer_bytes: null })), (name) => now.current.links.get(name));
    const made = new LivePlots(host.current, flows.length ? [goodput, rtt, rates, queue] : [rates, queue], groups, changes.current, WINDOW_S);
    plots.current = made;
    return () => {
      made.end();
      plots.current = null;
      host.current?.replaceChildren();
    };
  }, [key]);

  useEffect(() => {
    let drawn = -1;
    const timer = setInterval(() => {
      const { version, time, state } = now.current;
      if (version === drawn || !plots.current || !time) return;
      drawn = version;
      const said = (state?.changes ?? []).map(({ at_s, what }) => ({ timeS: at_s, link: "", words: what, label: what }));
      changes.current.splice(0, changes.current.length, ...said);
      plots.current.follow(WINDOW_S, time);
      plots.current.draw();
    }, 50);
    return () => clearInterval(timer);
  }, [key]);

  if (!links.length) return null;
  return (
    <section className="run-plots" aria-label="Traffic on links">
      <div className="plots" ref={host} />
    </section>
  );
}
