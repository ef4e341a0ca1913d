// A link, straight, beside others between the same nodes; and a flow, an arc above the links.

import { useStore, type EdgeProps } from "@xyflow/react";
import { memo, type ReactNode } from "react";
import { LINE } from "../document/beside";
import type { FlowEdge, LinkEdge } from "./elements";
import { interfaceAt, SIZE, wordsAt } from "./labels";
import { useLive, type LiveDirection } from "./live";
import { wayAlong, type Way } from "./way";
import { asideOf, flowSaid, KEY } from "./words";
import type { Point } from "../kit/messages";

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
  const plain = drawn.forward?.transparent && drawn.back?.transparent;
  const isChosen = selected || /on-way|faulty|down/.test(marked);
  const isRunning = Boolean(forward || back);
  const isCovered = isRunning ? covered.load : covered.words;
  const shown = isCovered && !isChosen ? [] : isRunning ? live(forward, back) : said;
  const [a, b] = [{ x: sourceX, y: sourceY }, { x: targetX, y: targetY }];
  const words = wordsAt(a, b, shown, { aside, lanes: data.above, isRunning, isNamed: data.interfaces.some(Boolean) });
  return (
    <g className={`link ${plain ? "plain" : ""} ${selected ? "selected" : ""} ${drawn.given ? "made" : ""} ${drawn.problems > 0 ? "wrong" : ""} ${marked}`}>
      <path className="react-flow__edge-path" d={`M${x1} ${y1}L${x2} ${y2}`} />
      {forward && <Load from={[x1, y1]} to={[x2, y2]} of={forward} side={1} />}
      {back && <Load from={[x2, y2]} to={[x1, y1]} of={back} side={1} />}
      <path className="react-flow__edge-interaction" d={`M${x1} ${y1}L${x2} ${y2}`} strokeWidth={18} fill="none" />
      {selected && <path className="towards" transform={`translate(${mx + ux * 26},${my + uy * 26}) rotate(${(Math.atan2(uy, ux) * 180) / Math.PI})`} d="M-5 -5L5 0L-5 5z" />}
      {shown.map((line, i) => (
        <text key={i} className={`said ${words.anchor}`} x={words.x} y={words.y + i * LINE}>
          {line}
        </text>
      ))}
      {data.interfaces.map((name, end) => {
        // While the load is shown, only what is chosen says them.
        const at = name && (selected || (!isRunning && !covered.interfaces[end])) ? interfaceAt(a, b, end, aside) : null;
        return at && <text key={end} className="interface" x={at.x} y={at.y}>{name}</text>;
      })}
      {drawn.problems > 0 && (
        <g className="badge-mark" transform={`translate(${mx},${Math.min(my, words.y) - 16})`}>
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
  const colour = drawn.light ? ({ "--light": drawn.light, "--dark": drawn.dark } as Record<string, string>) : undefined;
  return (
    <g className={`flow ${drawn.light ? "coloured" : ""} ${selected ? "selected" : ""} ${drawn.problems > 0 ? "wrong" : ""}`} style={colour}>
      <path className="react-flow__edge-path" d={way.path} />
      <path className="head" transform={`translate(${way.head.x},${way.head.y}) rotate(${way.head.angle})`} d="M-8 -4.5L1 0L-8 4.5z" />
      <path className="react-flow__edge-interaction" d={way.path} strokeWidth={10} fill="none" />
      {(selected || !data.covered) && (
        <text className={`said ${way.name.anchor}`} x={way.name.x} y={way.name.y}>
          {drawn.light && <tspan className="flow-key" aria-hidden="true">{KEY}</tspan>}
          {flowSaid(drawn)}
        </text>
      )}
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
    name: { x: (x1 + 2 * cx + x2) / 4, y: (y1 + 2 * cy + y2) / 4 + (below ? 14 : -6), anchor: "middle" },
  };
}
