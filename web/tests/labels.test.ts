import assert from "node:assert/strict";
import test from "node:test";
import { netOf } from "../ui/layouts/net";
import { arrange } from "../ui/layouts/arrange";
import type { NetworkNode } from "../ui/network/elements";
import { Taken, wordsBox } from "../ui/network/labels";
import { hit, shownNames } from "../ui/network/painted";
import { random } from "./networks";

const SAMPLE = random(300);
const at = arrange(netOf(SAMPLE.nodes, SAMPLE.links, []));
const NODES = SAMPLE.nodes.map(({ name, kind }, i) => ({ id: name, type: "network", position: at[i], data: { drawn: { name, kind } } })) as unknown as NetworkNode[];

test("names of a painted drawing cover neither each other nor nodes, at any scale", () => {
  for (const zoom of [0.05, 0.1, 0.2, 0.4]) {
    const boxes = [...shownNames(NODES, new Map(), [600, 400, zoom], 1400, 900).values()];
    assert.ok(boxes.length > 0, `${zoom}: ${boxes.length} names`);
    boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => assert.ok(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top, `${zoom}`)));
    const half = Math.max(5, 44 * zoom) / 2;
    for (const box of boxes) for (const { position: { x, y } } of NODES) assert.ok(Math.abs(x * zoom + 600 - (box.left + box.right) / 2) >= half + (box.right - box.left) / 2 - 1e-6 || y * zoom + 400 + half <= box.top + 1e-6 || y * zoom + 400 - half >= box.bottom - 1e-6, `${zoom}`);
  }
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
  const flat = wordsBox({ x: 0, y: 0 }, { x: 300, y: 0 }, ["100 Mbit/s · 2 ms"], 0);
  assert.ok(flat && flat.bottom < 0 && flat.left > 90 && flat.right < 210);
  if (!flat) return;
  taken.add(flat);
  assert.equal(taken.isFree(flat), false);
  assert.equal(taken.isFree({ ...flat, top: flat.top + 30, bottom: flat.bottom + 30 }), true);
  assert.equal(wordsBox({ x: 0, y: 0 }, { x: 9, y: 9 }, [], 0), null);
});
