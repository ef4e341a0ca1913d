// Numbers of what is shown, beside those of the kept curve.

import type { ReactNode } from "react";
import { swatch } from "../../charts/legend";
import { digits } from "../../charts/numbers";
import type { Bench } from "./bench";
import type { Curves } from "./curves";

const said = (value: number | undefined): string => (value === undefined || Number.isNaN(value) ? "–" : value === 0 ? "0" : digits(value));

function Value({ now, kept }: { now: number | undefined; kept?: number | undefined }): ReactNode {
  return (
    <td className="n">
      {said(now)}
      {kept !== undefined && <span className="soft kept-value">{said(kept)}</span>}
    </td>
  );
}

export function Figures({ bench }: { bench: Bench }): ReactNode {
  const { shown, kept } = bench;
  if (!shown) return null;
  const before = kept?.curves;
  const queues = shown.legend.links.filter(({ rate_bps, name }) => rate_bps !== null && busy(shown, name));
  return (
    <div className="whatif-figures">
      <table className="list">
        <thead>
          <tr>
            <th>Flow</th>
            <th className="n">Goodput, Mbit/s</th>
            <th className="n">Mean RTT, ms</th>
            <th className="n">Sent again</th>
          </tr>
        </thead>
        <tbody>
          {shown.legend.flows.slice(0, 12).map(({ id, label, group }) => {
            const [flow, old] = [shown.flows.get(id), before?.flows.get(id)];
            return (
              <tr key={id}>
                <td>
                  <span ref={(place) => place?.replaceChildren(swatch(group, swatchOf(shown, group)))} /> {label}
                </td>
                <Value now={flow?.meanGoodput} kept={old?.meanGoodput} />
                <Value now={flow?.meanRtt} kept={old?.meanRtt} />
                <Value now={flow?.resent} kept={old?.resent} />
              </tr>
            );
          })}
        </tbody>
      </table>
      <table className="list">
        <thead>
          <tr>
            <th>Link</th>
            <th className="n">Mean queue, kB</th>
            <th className="n">Dropped</th>
            <th className="n">Lost</th>
          </tr>
        </thead>
        <tbody>
          {queues.slice(0, 8).map(({ name }) => {
            const [link, old] = [shown.links.get(name), before?.links.get(name)];
            return (
              <tr key={name}>
                <td>{name}</td>
                <Value now={link?.meanQueue} kept={old?.meanQueue} />
                <Value now={link?.dropped} kept={old?.dropped} />
                <Value now={link?.lost} kept={old?.lost} />
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function swatchOf(curves: Curves, group: number): { label: string; light: string; dark: string; dash: number[] } | undefined {
  return curves.legend.groups[group];
}

/** Links back carry ACKs alone, most often: they are left out unless something happens there. */
function busy(curves: Curves, name: string): boolean {
  const link = curves.links.get(name);
  return !name.endsWith("-reverse") || (link !== undefined && link.dropped + link.lost > 0);
}
