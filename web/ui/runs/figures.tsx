// What flows and links do now: the numbers beside the plots.

import type { ReactNode } from "react";
import { dashes } from "../../charts/legend";
import { digits } from "../../charts/numbers";
import type { Legend } from "../kit/run-messages";
import type { LiveRun } from "./live";

const MOST = 12;

/** `47.1 Mbit/s`. */
export function rate(bps: number): string {
  const [size, unit] = bps >= 1e9 ? [1e9, "Gbit/s"] : bps >= 1e6 || bps === 0 ? [1e6, "Mbit/s"] : [1e3, "kbit/s"];
  return `${digits(bps / size)} ${unit}`;
}

export function bytes(count: number): string {
  const [size, unit] = count >= 1e9 ? [1e9, "GB"] : count >= 1e6 ? [1e6, "MB"] : [1e3, "kB"];
  return `${digits(count / size)} ${unit}`;
}

export function Swatch({ of }: { of: { light: string; dark: string; dash: number[] } | undefined }): ReactNode {
  const style = of && ({ "--light": of.light, "--dark": of.dark, ...(of.dash.length ? { "--dashes": dashes(of.dash) } : {}) } as Record<string, string>);
  return <i className={of?.dash.length ? "swatch dashed" : "swatch"} style={style} aria-hidden="true" />;
}

/** A bar with its number: a share of 1. */
export function Meter({ share, label, bad = false }: { share: number; label: string; bad?: boolean }): ReactNode {
  return (
    <span className={bad ? "live-meter bad" : "live-meter"} role="img" aria-label={label}>
      <i style={{ width: `${Math.min(100, Math.max(0, 100 * share))}%` }} />
    </span>
  );
}

export function FlowTable({ live, legend }: { live: LiveRun; legend: Legend }): ReactNode {
  const shown = legend.flows.slice(0, MOST);
  const known = legend.flows.flatMap(({ id }) => live.flows.get(id) ?? []);
  const total = known.reduce((sum, flow) => sum + flow.bps, 0);
  return (
    <table className="list live-table">
      <caption className="visually-hidden">Flows, now</caption>
      <thead>
        <tr>
          <th scope="col">flow</th>
          <th scope="col" className="n">goodput</th>
          <th scope="col" className="n">RTT</th>
          <th scope="col" className="n">cwnd</th>
          <th scope="col" className="n">resent</th>
          <th scope="col" className="n">received</th>
        </tr>
      </thead>
      <tbody>
        {shown.map(({ id, label, group, sender, receiver, start_s }) => {
          const flow = live.flows.get(id);
          const now = flow?.now;
          const waits = live.time < start_s;
          return (
            <tr key={id}>
              <th scope="row">
                <Swatch of={legend.groups[group]} />
                {label} <span className="soft">{sender} › {receiver}</span>
              </th>
              <td className="n strong">{waits ? <span className="soft">from {start_s} s</span> : rate(flow?.bps ?? 0)}</td>
              <td className="n">{now?.srtt_us == null ? "–" : `${digits(now.srtt_us / 1e3)} ms`}</td>
              <td className="n">{now?.cwnd_packets ?? "–"}</td>
              <td className="n">{now?.retransmitted_segments?.toLocaleString("en") ?? "–"}</td>
              <td className="n">{bytes(now?.received_bytes ?? 0)}</td>
            </tr>
          );
        })}
        {legend.flows.length > 1 && (
          <tr className="sum">
            <th scope="row">{legend.flows.length > MOST ? `all ${legend.flows.length} flows` : "together"}</th>
            <td className="n strong">{rate(total)}</td>
            <td colSpan={3} />
            <td className="n">{bytes(known.reduce((sum, flow) => sum + (flow.now?.received_bytes ?? 0), 0))}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

export function LinkTable({ live, legend }: { live: LiveRun; legend: Legend }): ReactNode {
  const busy = legend.links
    .filter(({ name }) => live.links.has(name))
    .sort((a, b) => Number(b.rate_bps !== null) - Number(a.rate_bps !== null) || (live.links.get(b.name)?.bps ?? 0) - (live.links.get(a.name)?.bps ?? 0));
  if (!busy.length) return null;
  return (
    <table className="list live-table">
      <caption className="visually-hidden">Links, now</caption>
      <thead>
        <tr>
          <th scope="col">link</th>
          <th scope="col" className="n">carries</th>
          <th scope="col">of its rate</th>
          <th scope="col" className="n">queue</th>
          <th scope="col" className="n">dropped</th>
        </tr>
      </thead>
      <tbody>
        {busy.slice(0, MOST).map(({ name, rate_bps, buffer_bytes }) => {
          const link = live.links.get(name);
          const share = rate_bps ? (link?.bps ?? 0) / rate_bps : null;
          const full = buffer_bytes ? (link?.now?.queue_bytes ?? 0) / buffer_bytes : null;
          return (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="n strong">{rate(link?.bps ?? 0)}</td>
              <td>
                {share === null ? (
                  <span className="soft">no limit</span>
                ) : (
                  <>
                    <Meter share={share} label={`${Math.round(100 * share)} % of its rate`} /> {Math.round(100 * share)} %
                  </>
                )}
              </td>
              <td className="n">
                {full !== null && <Meter share={full} label={`${Math.round(100 * full)} % full`} bad={full > 0.95} />} {link?.now?.queue_packets ?? 0} pkt
              </td>
              <td className="n">{link?.now?.dropped_packets.toLocaleString("en") ?? 0}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
