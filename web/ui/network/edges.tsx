// A link, straight, beside others between the same nodes; and a flow, an arc above the links.

import { useStore, type EdgeProps } from "@xyflow/react";
import { memo, type ReactNode } from "react";
import { beside, LINE } from "../document/beside";
import { asideOf, type FlowEdge, type LinkEdge } from "./elements";
import { SIZE } from "./labels";
import { useLive, type LiveDirection } from "./live";
import { wayAlong, widthOf, type Way } from "./way";
import type { Point } from "../kit/messages";

/** Distance of an interface's name from the middle of its node, and the length of a link from which on there is room for it, in pixels. */
const NAME_AT = SIZE / 2 + 20;
const LEAST_FOR_NAMES = 4 * NAME_AT;

export const LinkEdgeView = memo(function LinkEdgeView({ sourceX, sourceY, targetX, targetY, data, selected }: EdgeProps<LinkEdge>): ReactNode {
  const forward = useLive((live) => live.links[data?.drawn.forward?.name ?? ""]);
  const back = useLive((live) => live.links[data?.drawn.back?.name ?? ""]);
  if (!data) return null;
  const { drawn, parallel, said, flip, covered, marked = "" } = data;
  const length = Math.hypot(targetX - sourceX, targetY - sourceY) || 1;
  const [ux, uy] = [(targetX - sourceX) / length, (targetY - sourceY) / length];
  const aside = asideOf(parallel, flip);
  const [x1, y1, x2, y2] = [sourceX - uy * aside, sourceY + ux * aside, targetX - uy * aside, targetY + ux * aside];
  const [mx, my] = [(x1 + x2) / 2, (y1 + y2) / 2];
  const up = ux >= 0 ? 1 : -1;
  const plain = drawn.forward?.transparent && drawn.back?.transparent;
  const isChosen = selected || /on-way|faulty|down/.test(marked);
  const shown = covered && !isChosen ? [] : forward || back ? live(forward, back) : said;
  const running = Boolean(forward || back);
  const steep = beside(ux, uy, shown.length, running ? 14 : 8);
  // Where two nodes stand close, what is written stands above both.
  const width = Math.max(0, ...shown.map((line) => line.length)) * 6.2;
  // And where it would cover names of interfaces, above these.
  const named = length >= LEAST_FOR_NAMES && data.interfaces.some(Boolean) && width + 2 * NAME_AT + 32 > length ? 13 : 0;
  const close = steep ? 0 : width + SIZE + 14 > length ? 20 : named;
  const lift = steep ? ((shown.length - 1) * LINE) / 2 : (running ? 19 : 7) + widthOf(data.above) + close + (shown.length - 1) * LINE;
  return (
    <g className={`link ${plain ? "plain" : ""} ${selected ? "selected" : ""} ${drawn.given ? "made" : ""} ${drawn.problems > 0 ? "wrong" : ""} ${marked}`}>
      <path className="react-flow__edge-path" d={`M${x1} ${y1}L${x2} ${y2}`} />
      {forward && <Load from={[x1, y1]} to={[x2, y2]} of={forward} side={1} />}
      {back && <Load from={[x2, y2]} to={[x1, y1]} of={back} side={1} />}
      <path className="react-flow__edge-interaction" d={`M${x1} ${y1}L${x2} ${y2}`} strokeWidth={18} fill="none" />
      {selected && <path className="towards" transform={`translate(${mx + ux * 26},${my + uy * 26}) rotate(${(Math.atan2(uy, ux) * 180) / Math.PI})`} d="M-5 -5L5 0L-5 5z" />}
      {shown.map((line, i) => (
        <text key={i} className={steep ? `said ${steep.anchor}` : "said"} x={mx + (steep?.dx ?? 0)} y={my + (steep?.dy ?? -lift) + i * LINE}>
          {line}
        </text>
      ))}
      {data.interfaces.map((name, end) => {
        if (!name || length < LEAST_FOR_NAMES) return null;
        const [x, y] = end === 0 ? [x1 + ux * NAME_AT, y1 + uy * NAME_AT] : [x2 - ux * NAME_AT, y2 - uy * NAME_AT];
        return <text key={end} className="interface" x={x + uy * up * 9} y={y - ux * up * 9 + 3.5}>{name}</text>;
      })}
      {drawn.problems > 0 && (
        <g className="badge-mark" transform={`translate(${mx},${my - lift - 16})`}>
          <circle r={8} />
          <text y={4}>!</text>
        </g>
      )}
    </g>
  );
});

function live(forward: LiveDirection | undefined, back: LiveDirection | undefined): string[] {
  return [forward && `→ ${forward.text}`, back && `← ${back.text}`].filter((line): line is string => Boolean(line));
}

/** One direction while it runs: its load as a line beside the link, its queue as a bar at the sender, a tick for drops. */
function Load({ from: [x1, y1], to: [x2, y2], of, side }: { from: [number, number]; to: [number, number]; of: LiveDirection; side: number }): ReactNode {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [nx, ny] = [-uy * 4 * side, ux * 4 * side];
  const begin = SIZE / 2 + 10;
  const share = of.share ?? 0;
  const [bx, by] = [x1 + ux * begin + nx * 2.6, y1 + uy * begin + ny * 2.6];
  const angle = (Math.atan2(uy, ux) * 180) / Math.PI;
  return (
    <g className={`load ${share > 0.95 ? "full" : share > 0.6 ? "busy" : ""}`}>
      <path d={`M${x1 + nx} ${y1 + ny}L${x2 + nx} ${y2 + ny}`} strokeWidth={1 + 3 * Math.min(1, share)} />
      {of.queue !== null && (
        <g transform={`translate(${bx},${by}) rotate(${angle})`}>
          <rect className="queue" width={30} height={6} rx={2} />
          <rect className="queue-fill" width={30 * Math.min(1, of.queue)} height={6} rx={2} />
          {of.drops > 0 && <path className="drop" d="M33 -1h8l-4 8z" />}
        </g>
      )}
    </g>
  );
}

/** Centres of nodes, as they are dragged; null: one of them is not drawn. */
function useCentres(names: readonly string[]): readonly Point[] | null {
  return useStore(
    ({ nodeLookup }) => {
      const found = names.flatMap((name) => {
        const node = nodeLookup.get(name);
        if (!node) return [];
        // A node's shape is above its name.
        const { x, y } = node.internals.positionAbsolute;
        return [{ x: x + (node.measured.width ?? SIZE) / 2, y: y + SIZE / 2 }];
      });
      return found.length === names.length ? found : null;
    },
    (one, other) => JSON.stringify(one) === JSON.stringify(other),
  );
}

export const FlowEdgeView = memo(function FlowEdgeView({ sourceX, sourceY, targetX, targetY, data, selected }: EdgeProps<FlowEdge>): ReactNode {
  const centres = useCentres(data?.drawn.via ?? []);
  if (!data) return null;
  const { drawn } = data;
  const way = (centres && wayAlong(centres, data.lane, SIZE)) ?? arc([sourceX, sourceY], [targetX, targetY], data);
  const label = [drawn.name, drawn.congestion_control ?? drawn.protocol, drawn.connections > 1 ? `× ${drawn.connections}` : ""].filter(Boolean).join(" ");
  const colour = drawn.light ? ({ "--light": drawn.light, "--dark": drawn.dark } as Record<string, string>) : undefined;
  return (
    <g className={`flow ${drawn.light ? "coloured" : ""} ${selected ? "selected" : ""} ${drawn.problems > 0 ? "wrong" : ""}`} style={colour}>
      <path className="react-flow__edge-path" d={way.path} />
      <path className="head" transform={`translate(${way.head.x},${way.head.y}) rotate(${way.head.angle})`} d="M-8 -4.5L1 0L-8 4.5z" />
      <path className="react-flow__edge-interaction" d={way.path} strokeWidth={10} fill="none" />
      <text className="said" x={way.name.x} y={way.name.y}>
        {label}
      </text>
    </g>
  );
});

/** A flow whose way is not known yet: an arc above the links. */
function arc([sourceX, sourceY]: [number, number], [targetX, targetY]: [number, number], { below, bend }: { below: boolean; bend: number }): Way {
  const length = Math.hypot(targetX - sourceX, targetY - sourceY) || 1;
  const [ux, uy] = [(targetX - sourceX) / length, (targetY - sourceY) / length];
  const up = (ux > 0 || (ux === 0 && uy < 0) ? 1 : -1) * (below ? -1 : 1);
  const height = Math.min(150, 36 + length * 0.13) + bend * 26;
  const [cx, cy] = [(sourceX + targetX) / 2 + uy * height * up, (sourceY + targetY) / 2 - ux * height * up];
  const ends = (x: number, y: number): [number, number] => {
    const far = Math.hypot(cx - x, cy - y) || 1;
    return [x + ((cx - x) / far) * (SIZE / 2 + 7), y + ((cy - y) / far) * (SIZE / 2 + 7)];
  };
  const [[x1, y1], [x2, y2]] = [ends(sourceX, sourceY), ends(targetX, targetY)];
  return {
    path: `M${x1} ${y1}Q${cx} ${cy} ${x2} ${y2}`,
    head: { x: x2, y: y2, angle: (Math.atan2(y2 - cy, x2 - cx) * 180) / Math.PI },
    name: { x: (x1 + 2 * cx + x2) / 4, y: (y1 + 2 * cy + y2) / 4 + (below ? 14 : -6) },
  };
}
