// Groups of nodes to insert: each is one step of undo, and its names continue those that are there.

import type { DrawnNode, Edit, Point } from "../kit/messages";
import { freeNames } from "./clipboard";
import { pinned } from "./commands";
import { stage } from "../network/stage";
import { select, sendAll, settled, state } from "../document/store";
import { count } from "../../charts/counts";

interface Group {
  nodes: { name: string; kind: DrawnNode["kind"]; at: Point; values?: Record<string, unknown> }[];
  links: { between: [string, string]; values?: Record<string, unknown> }[];
}

const ACCESS = { rate: "1 Gbit/s", delay: "1 ms" };
const CORE = { rate: "100 Mbit/s", delay: "10 ms", buffer: "1 bdp" };

function dumbbell(pairs: number): Group {
  const middle = ((pairs - 1) * 90) / 2;
  const group: Group = {
    nodes: [
      { name: "s1", kind: "switch", at: { x: 150, y: middle } },
      { name: "s2", kind: "switch", at: { x: 390, y: middle } },
    ],
    links: [{ between: ["s1", "s2"], values: CORE }],
  };
  for (let i = 0; i < pairs; i++) {
    const [left, right] = [`h${2 * i + 1}`, `h${2 * i + 2}`];
    group.nodes.push({ name: left, kind: "host", at: { x: 0, y: i * 90 } }, { name: right, kind: "host", at: { x: 540, y: i * 90 } });
    group.links.push({ between: [left, "s1"], values: ACCESS }, { between: ["s2", right], values: ACCESS });
  }
  return group;
}

function star(leaves: number): Group {
  const group: Group = { nodes: [{ name: "s1", kind: "switch", at: { x: 0, y: 0 } }], links: [] };
  for (let i = 0; i < leaves; i++) {
    const angle = (2 * Math.PI * i) / leaves - Math.PI / 2;
    group.nodes.push({ name: `h${i + 1}`, kind: "host", at: { x: Math.round(170 * Math.cos(angle)), y: Math.round(170 * Math.sin(angle)) } });
    group.links.push({ between: [`h${i + 1}`, "s1"], values: ACCESS });
  }
  return group;
}

function routers(count: number, closed: boolean): Group {
  const group: Group = { nodes: [], links: [] };
  for (let i = 0; i < count; i++) {
    const angle = (2 * Math.PI * i) / count - Math.PI / 2;
    const at = closed ? { x: Math.round(150 * Math.cos(angle)), y: Math.round(150 * Math.sin(angle)) } : { x: i * 150, y: 0 };
    const out = closed ? { x: Math.round(270 * Math.cos(angle)), y: Math.round(270 * Math.sin(angle)) } : { x: i * 150, y: 110 };
    group.nodes.push({ name: `r${i + 1}`, kind: "router", at }, { name: `h${i + 1}`, kind: "host", at: out });
    group.links.push({ between: [`h${i + 1}`, `r${i + 1}`], values: ACCESS });
    if (i > 0) group.links.push({ between: [`r${i}`, `r${i + 1}`], values: CORE });
  }
  if (closed) group.links.push({ between: [`r${count}`, "r1"], values: CORE });
  return group;
}

function bgp(): Group {
  const routing = (asn: number): Record<string, unknown> => ({ routing: ["bgp"], asn });
  return {
    nodes: [
      { name: "h1", kind: "host", at: { x: 0, y: 0 } },
      { name: "r1", kind: "router", at: { x: 140, y: 0 }, values: routing(65001) },
      { name: "r2", kind: "router", at: { x: 320, y: 0 }, values: routing(65002) },
      { name: "h2", kind: "host", at: { x: 460, y: 0 } },
    ],
    links: [{ between: ["h1", "r1"], values: ACCESS }, { between: ["r1", "r2"], values: CORE }, { between: ["r2", "h2"], values: ACCESS }],
  };
}

export const GENERATORS: readonly { id: string; title: string; note: string; make: () => Group }[] = [
  { id: "dumbbell2", title: "Dumbbell", note: "two pairs of hosts around one link", make: () => dumbbell(2) },
  { id: "dumbbell5", title: "Dumbbell of five pairs", note: "ten hosts around one link", make: () => dumbbell(5) },
  { id: "star", title: "Star", note: "a switch and six hosts", make: () => star(6) },
  { id: "chain", title: "Chain of routers", note: "four routers, a host at each", make: () => routers(4, false) },
  { id: "ring", title: "Ring of routers", note: "five routers, a host at each", make: () => routers(5, true) },
  { id: "bgp", title: "BGP pair", note: "two autonomous systems, a host in each", make: bgp },
];

/** Insert a group below what is there. */
export async function generate(id: string): Promise<void> {
  await settled();
  const drawing = state().document?.drawing;
  const group = GENERATORS.find((one) => one.id === id)?.make();
  if (!drawing || !group) return;
  const names = freeNames(
    group.nodes.map((node) => node.name),
    new Set(drawing.nodes.map((node) => node.name)),
  );
  const name = (old: string): string => names.get(old) ?? old;
  const there = Object.values(stage()?.positions() ?? {});
  const [left, top] = there.length > 0 ? [Math.min(...there.map((at) => at.x)), Math.max(...there.map((at) => at.y)) + 140] : [0, 0];
  const [x0, y0] = [Math.min(...group.nodes.map(({ at }) => at.x)), Math.min(...group.nodes.map(({ at }) => at.y))];
  const commands: Edit[] = [
    ...pinned(),
    ...group.nodes.map(({ name: old, kind, at, values = {} }): Edit => ({ do: "add_node", kind, name: name(old), values, at: { x: left + at.x - x0, y: top + at.y - y0 } })),
    ...group.links.map(({ between: [a, b], values = {} }): Edit => ({ do: "add_link", between: [name(a), name(b)], values })),
  ];
  if (!(await sendAll(commands, `insert ${count(group.nodes.length, "node")}`))) return;
  select({ nodes: [...names.values()] }, true);
  setTimeout(() => stage()?.fit(), 80);
}
