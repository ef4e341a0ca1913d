// The network of a lab: its nodes and links as they are, with what they carry.

import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { Icon } from "../kit/icons";
import { beside, LINE } from "../document/beside";
import { laidOut, places } from "../document/places";
import type { Document, Drawing, Layout, Point } from "../kit/messages";
import type { LabLink, LabState, WhyShown } from "../kit/run-messages";
import { rate } from "../runs/figures";
import { socket } from "../kit/socket";
import type { Lab } from "./use-lab";

export type Chosen = { kind: "node"; name: string } | { kind: "cable"; links: readonly string[] } | null;

const SIZE = 46;
/** A small network is not drawn larger than this. */
const LARGEST = 1.15;

interface Cable {
  there: LabLink;
  back: LabLink | null;
  /** Among those between the same nodes. */
  at: number;
  of: number;
}

function cablesOf(state: LabState): Cable[] {
  const links = new Map(state.links.map((link) => [link.name, link]));
  const found = state.cables.flatMap(([first = "", second = ""]) => {
    const there = links.get(first);
    return there ? [{ there, back: links.get(second) ?? null, at: 0, of: 1 }] : [];
  });
  const between = (cable: Cable): string => [cable.there.sender, cable.there.receiver].sort().join(" ");
  for (const cable of found) {
    const beside = found.filter((other) => between(other) === between(cable));
    [cable.at, cable.of] = [beside.indexOf(cable), beside.length];
  }
  return found;
}

/** Where the scenario's editor has put the nodes; none if it is no file of the workspace. */
function useLayout(scenario: string): Layout | null {
  const [layout, setLayout] = useState<Layout | null>(null);
  useEffect(() => {
    if (!scenario.endsWith(".toml")) return;
    return socket.subscribe(`document/${scenario}`, (event) => setLayout((event as Document).layout), null, () => {});
  }, [scenario]);
  return layout;
}

export function LabDrawing({ lab, why, chosen, onChoose, onOpen }: { lab: Lab; why: WhyShown | null; chosen: Chosen; onChoose: (chosen: Chosen) => void; onOpen: (node: string) => void }): ReactNode {
  const state = lab.state as LabState;
  const layout = useLayout(state.scenario);
  const names = state.nodes.map(({ name }) => name).join();
  const cables = useMemo(() => cablesOf(state), [state]);
  const at = useMemo((): Record<string, Point> => {
    const none = { key: [], given: true, written: {}, addresses: [], interfaces: [], place: null, problems: 0 };
    const drawing: Drawing = {
      topology: "graph", free: true, flows: [], current: true,
      nodes: state.nodes.map(({ name, kind }) => ({ ...none, name, kind })),
      links: cables.map(({ there }) => ({ key: [], between: [there.sender, there.receiver], given: true, forward: null, back: null, written: {}, name: null, problems: 0 })),
    };
    return layout && Object.keys(layout.nodes).length ? places(drawing, layout) : laidOut(drawing);
  }, [names, layout]);
  const [room, box] = useRoom();
  const all = Object.values(at);
  const [left, top] = [Math.min(...all.map(({ x }) => x)) - 80, Math.min(...all.map(({ y }) => y)) - 60];
  const [right, bottom] = [Math.max(...all.map(({ x }) => x)) + 80, Math.max(...all.map(({ y }) => y)) + 70];
  const [width, height] = [Math.max(right - left, room.width / LARGEST), Math.max(bottom - top, room.height / LARGEST)];
  const view = [(left + right - width) / 2, (top + bottom - height) / 2, width, height];
  return (
    <svg ref={box} className="lab-drawing" viewBox={view.join(" ")} role="group" aria-label="The network" preserveAspectRatio="xMidYMid meet">
      {cables.map((cable) => {
        const [a, b] = [at[cable.there.sender], at[cable.there.receiver]];
        if (!a || !b) return null;
        const links = cable.back ? [cable.there.name, cable.back.name] : [cable.there.name];
        const isChosen = chosen?.kind === "cable" && chosen.links[0] === links[0];
        return <CableView key={links[0]} cable={cable} a={a} b={b} lab={lab} way={seen(links, why?.links, why?.faulty_links)} chosen={isChosen} onChoose={() => onChoose({ kind: "cable", links })} />;
      })}
      {state.nodes.map(({ name, kind, interfaces }) => {
        const place = at[name];
        if (!place) return null;
        const isChosen = chosen?.kind === "node" && chosen.name === name;
        const address = interfaces[0]?.[1][0] ?? "";
        return (
          <g
            key={name} className={`lab-node ${isChosen ? "chosen-one" : ""} ${seen([name], why?.nodes, why?.faulty_nodes)}`} transform={`translate(${place.x},${place.y})`} role="button" tabIndex={0}
            aria-label={`${kind} ${name} ${address}`} aria-pressed={isChosen}
            onClick={() => onChoose({ kind: "node", name })}
            onDoubleClick={() => kind !== "switch" && onOpen(name)}
            onKeyDown={(event) => pressed(event, () => onChoose({ kind: "node", name }))}
          >
            <rect x={-SIZE / 2} y={-SIZE / 2} width={SIZE} height={SIZE} rx={kind === "router" ? SIZE / 2 : 10} />
            <g transform="translate(-12,-12)">
              <svg width={24} height={24} viewBox="0 0 20 20"><Icon name={kind} size={20} /></svg>
            </g>
            {/* The space keeps both words apart for those who hear them. */}
            <text y={SIZE / 2 + 16} className="lab-name">{`${name} `}</text>
            <text y={SIZE / 2 + 30} className="lab-address">{address.split("/")[0]}</text>
          </g>
        );
      })}
    </svg>
  );
}

/** The class of what packets pass, and of what stops them. */
function seen(names: readonly string[], passed: readonly string[] = [], faulty: readonly string[] = []): "" | "on-way" | "faulty" {
  if (names.some((name) => faulty.includes(name))) return "faulty";
  return names.some((name) => passed.includes(name)) ? "on-way" : "";
}

/** The pixels that the drawing has. */
function useRoom(): [{ width: number; height: number }, (of: SVGSVGElement | null) => void] {
  const [room, setRoom] = useState({ width: 800, height: 340 });
  const observer = useRef<ResizeObserver | null>(null);
  return [
    room,
    (of) => {
      if (observer.current || !of) return;
      observer.current = new ResizeObserver(([entry]) => entry && setRoom({ width: entry.contentRect.width, height: entry.contentRect.height }));
      observer.current.observe(of);
    },
  ];
}

function pressed(event: KeyboardEvent, act: () => void): void {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  act();
}

function CableView({ cable: { there, back, at, of }, a, b, lab, way, chosen, onChoose }: { cable: Cable; a: Point; b: Point; lab: Lab; way: string; chosen: boolean; onChoose: () => void }): ReactNode {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const [ux, uy] = [(b.x - a.x) / length, (b.y - a.y) / length];
  const aside = (at - (of - 1) / 2) * 22;
  const line = (shift: number): string => {
    const [dx, dy] = [-uy * (aside + shift), ux * (aside + shift)];
    return `M${a.x + dx} ${a.y + dy}L${b.x + dx} ${b.y + dy}`;
  };
  const down = !there.up || back?.up === false;
  const carried = [there, back].map((link) => (link && lab.links.get(link.name)?.bps) || 0);
  const words = [there.rate, there.delay !== "0 ms" ? there.delay : ""].filter(Boolean).join(", ");
  const [mx, my] = [(a.x + b.x) / 2 - uy * aside, (a.y + b.y) / 2 + ux * aside];
  const arrow = ux < 0 ? ["←", "→"] : ["→", "←"];
  const said = [words, ...(carried.some((bps) => bps > 1000) ? carried.map((bps, i) => `${arrow[i]} ${rate(bps)}`) : [])].filter(Boolean);
  const steep = beside(ux, uy, said.length, 12);
  const load = (link: LabLink | null, bps: number): ReactNode => {
    if (!link || bps < 1000) return null;
    const share = link.rate_bps ? bps / link.rate_bps : 0.3;
    return <path className={`lab-load ${link.rate_bps && share > 0.95 ? "full" : ""}`} d={line(link === there ? -4 : 4)} strokeWidth={1.5 + 3 * Math.min(1, share)} />;
  };
  return (
    <g
      className={`lab-cable ${down ? "down" : ""} ${chosen ? "chosen-one" : ""} ${way}`} role="button" tabIndex={0} aria-pressed={chosen}
      aria-label={`link ${there.sender} to ${there.receiver}, ${down ? "down" : "up"}, ${words}`} onClick={onChoose} onKeyDown={(event) => pressed(event, onChoose)}
    >
      <path className="lab-line" d={line(0)} />
      {load(there, carried[0] ?? 0)}
      {load(back, carried[1] ?? 0)}
      <path className="lab-reach" d={line(0)} />
      {said.map((text, i) => (
        <text key={i} className="lab-said" x={mx + (steep?.dx ?? 0)} y={my + (steep?.dy ?? -9 - (said.length - 1) * LINE) + i * LINE} textAnchor={steep?.anchor ?? "middle"}>{text}</text>
      ))}
      {down && <text className="lab-said cut" x={mx} y={my + 18} textAnchor="middle">down</text>}
    </g>
  );
}
