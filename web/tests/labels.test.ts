import assert from "node:assert/strict";
import test from "node:test";
import { netOf } from "../ui/layouts/net";
import { arrange } from "../ui/layouts/arrange";
import { places } from "../ui/document/places";
import { NOTHING } from "../ui/document/selection";
import type { Drawing, DrawnDirection, Layout } from "../ui/kit/messages";
import { edges, type FlowEdge, type LinkEdge, type NetworkNode } from "../ui/network/elements";
import { interfaceAt, interfaceRoom, nodeBoxes, roomOf, SIZE, Taken, wordsAt, type Box } from "../ui/network/labels";
import { hit, nameScale, shownNames, sideOf } from "../ui/network/painted";
import { wayAlong } from "../ui/network/way";
import { asideOf, flowSaid, KEY } from "../ui/network/words";
import { random } from "./networks";

const SAMPLE = random(300);
const at = arrange(netOf(SAMPLE.nodes, SAMPLE.links, []));
const NODES = SAMPLE.nodes.map(({ name, kind }, i) => ({ id: name, type: "network", position: at[i], data: { drawn: { name, kind } } })) as unknown as NetworkNode[];

test("names of a painted drawing cover neither each other nor nodes, at any scale", () => {
  for (const zoom of [0.05, 0.1, 0.2, 0.4]) {
    const boxes = [...shownNames(NODES, new Map(), [600, 400, zoom], 1400, 900).values()];
    assert.ok(boxes.length > 0, `${zoom}: ${boxes.length} names`);
    boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => assert.ok(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top, `${zoom}`)));
    const half = sideOf(zoom) / 2;
    for (const box of boxes) for (const { position: { x, y } } of NODES) assert.ok(Math.abs(x * zoom + 600 - (box.left + box.right) / 2) >= half + (box.right - box.left) / 2 - 1e-6 || y * zoom + 400 + half <= box.top + 1e-6 || y * zoom + 400 - half >= box.bottom - 1e-6, `${zoom}`);
  }
});

test("names of nodes are as large on the screen from far as they can be, and as drawn from near", () => {
  assert.deepEqual([1, 0.7, 0.5].map(nameScale), [1, 1, 1]);
  for (const zoom of [0.45, 0.49]) assert.ok(Math.abs(nameScale(zoom) * zoom - 0.8) < 0.03, `${zoom}`);
  assert.equal(nameScale(0.1), 1.8);
});

test("nodes of a large network leave room between them", () => {
  // A thousand nodes in a window of 390 pixels stand 4.5 pixels apart.
  assert.ok(sideOf(0.02) < 4);
});

test("the pointer finds a painted node before a link, and nothing beside both", () => {
  const [a, b] = [NODES[0], NODES[1]] as [NetworkNode, NetworkNode];
  const edges = [{ id: "a~b~0", type: "link", source: a.id, target: b.id }] as unknown as Parameters<typeof hit>[1];
  assert.equal(hit([a, b], edges, a.position, 0.2), a.id);
  assert.equal(hit([a, b], edges, { x: (a.position.x + b.position.x) / 2, y: (a.position.y + b.position.y) / 2 }, 1), "a~b~0");
  assert.equal(hit([a, b], edges, { x: a.position.x - 900, y: a.position.y }, 0.2), null);
});

test("words at a link take the room in which they are drawn, beside other words", () => {
  const taken = new Taken();
  const words = ["100 Mbit/s · 2 ms"];
  const alone = { aside: 0, lanes: 0, isRunning: false, isNamed: false };
  const flat = roomOf(wordsAt({ x: 0, y: 0 }, { x: 300, y: 0 }, words, alone), words);
  assert.ok(flat.bottom < 0 && flat.left > 90 && flat.right < 210);
  taken.add(flat);
  assert.equal(taken.isFree(flat), false);
  assert.equal(taken.isFree({ ...flat, top: flat.top + 30, bottom: flat.bottom + 30 }), true);
  const above = roomOf(wordsAt({ x: 0, y: 0 }, { x: 300, y: 0 }, words, { ...alone, lanes: 3 }), words);
  assert.ok(above.bottom < flat.bottom - 18, "above flows to the left");
});

/** A network of routers and hosts, whose links say a rate and a delay, as the page draws it. */
function drawn(links: readonly [string, string][], flows: readonly string[][]): Drawing {
  const names = [...new Set(links.flat())];
  const ends = (name: string): string[] => links.filter((link) => link.includes(name)).map((_, i) => `eth${i}`);
  const way = { rate: "20 Mbit/s", delay: "10 ms", loss: "none" } as unknown as DrawnDirection;
  return {
    topology: "graph",
    free: true,
    current: true,
    nodes: names.map((name) => ({ name, kind: name.startsWith("h") ? ("host" as const) : ("router" as const), key: [], given: true, written: {}, addresses: [`10.0.0.${names.indexOf(name)}`], interfaces: ends(name), place: null, problems: 0 })),
    links: links.map((between) => ({ key: [], between, given: true, forward: { ...way, name: `${between.join("-")}` }, back: { ...way, name: `${between[1]}-${between[0]}` }, written: {}, name: null, problems: 0 })),
    flows: flows.map((via, i) => ({ name: `f${i + 1}`, sender: via[0], receiver: via.at(-1), via, congestion_control: "cubic", protocol: "tcp", connections: 1, key: [], problems: 0, light: "#000", dark: "#fff" })) as unknown as Drawing["flows"],
  };
}

/** Each box with a name; what is hidden is not among them. */
function shown(drawing: Drawing, isRunning: boolean): [string, Box][] {
  const where = places(drawing, { nodes: {}, annotations: [] } as unknown as Layout);
  const all: [string, Box][] = drawing.nodes.flatMap(({ name, addresses: [address = ""] }) => nodeBoxes(where[name] ?? { x: 0, y: 0 }, name, address).map((box): [string, Box] => [name, box]));
  for (const edge of edges(drawing, where, NOTHING, true, [])) {
    const [from, to] = [where[edge.source] ?? { x: 0, y: 0 }, where[edge.target] ?? { x: 0, y: 0 }];
    if (edge.type === "link") {
      const { said, covered, above, interfaces, parallel, flip } = (edge as LinkEdge).data as NonNullable<LinkEdge["data"]>;
      const words = isRunning ? ["\u2192 20.0 Mbit/s", "\u2190 400 kbit/s"] : said;
      const aside = asideOf(parallel, flip);
      if (!(isRunning ? covered.load : covered.words)) all.push([edge.id, roomOf(wordsAt(from, to, words, { aside, lanes: above, isRunning, isNamed: true }), words)]);
      interfaces.forEach((name, end) => {
        const at = name && !isRunning && !covered.interfaces[end] ? interfaceAt(from, to, end, aside) : null;
        if (at) all.push([`${edge.id} ${name}`, interfaceRoom(at, name)]);
      });
    } else {
      const { drawn: flow, lane, covered } = (edge as FlowEdge).data as NonNullable<FlowEdge["data"]>;
      const name = wayAlong(flow.via.map((hop) => where[hop] ?? { x: 0, y: 0 }), lane, SIZE)?.name;
      if (name && !covered) all.push([flow.name, roomOf(name, [KEY + flowSaid(flow)])]);
    }
  }
  return all;
}

const TRIANGLE: [string, string][] = [["h1", "r1"], ["r1", "r2"], ["r2", "r3"], ["r1", "r3"], ["r2", "h2"]];
const DIRECT = ["h1", "r1", "r2", "h2"];
const CHAIN: [string, string][] = [["r1", "r2"], ["r2", "r3"], ["r3", "r4"], ["h0", "r1"], ["h1", "r1"], ["h2", "r2"], ["h3", "r3"], ["h4", "r4"], ["h5", "r4"]];

for (const isRunning of [false, true])
  test(`no words of a drawing ${isRunning ? "that runs " : ""}cover a node, its name or each other`, () => {
    for (const [links, flows] of [
      [TRIANGLE, [DIRECT, DIRECT, DIRECT]],
      [TRIANGLE, [DIRECT, [...DIRECT].reverse(), ["h1", "r1", "r3", "r2", "h2"]]],
      [CHAIN, [["h0", "r1", "r2", "r3", "r4", "h5"], ["h0", "r1", "r2", "r3", "r4", "h5"], ["h1", "r1", "r2", "h2"], ["h3", "r3", "r4", "h4"]]],
    ] as [[string, string][], string[][]][]) {
      const all = shown(drawn(links, flows), isRunning);
      all.forEach(([one, a], i) =>
        all.slice(i + 1).forEach(([other, b]) => assert.ok(one === other || a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top, `${one} and ${other}`)),
      );
      for (const i of flows.keys()) assert.ok(all.some(([name]) => name === `f${i + 1}`), `f${i + 1} has a name in ${links.length} links`);
    }
  });

test("a flow whose name is that of its algorithm says it once", () => {
  const flow = { name: "cubic", congestion_control: "cubic", protocol: "tcp", connections: 1 } as unknown as Drawing["flows"][number];
  assert.equal(flowSaid(flow), "cubic");
  assert.equal(flowSaid({ ...flow, name: "f1", connections: 3 }), "f1 cubic × 3");
});
