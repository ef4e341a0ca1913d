import assert from "node:assert/strict";
import test from "node:test";
import { dashes } from "../charts/legend";
import { digits, prefix } from "../charts/numbers";
import { round } from "../charts/scales";
import { lanesOf, wayAlong, widthOf } from "../ui/network/way";
import { beside, LINE } from "../ui/document/beside";
import { interfacesOf } from "../ui/document/interfaces";
import { iconOf } from "../ui/network/node-icon";
import { laidOut, places } from "../ui/document/places";
import { GRID } from "../ui/layouts/arrange";
import type { Drawing } from "../ui/kit/messages";

function drawing(names: string[], links: [string, string][], sender: string, receiver: string): Drawing {
  const nodes = names.map((name) => ({ name, kind: "host" as const, key: [], given: true, written: {}, addresses: [], interfaces: [], place: null, problems: 0 }));
  const of = links.map((between) => ({ key: [], between, given: true, forward: null, back: null, written: {}, name: null, problems: 0 }));
  const flow = { sender, receiver } as Drawing["flows"][number];
  return { topology: "graph", free: true, flows: [flow], current: true, nodes, links: of };
}

const NAMES = ["s", "a", "b", "c", "d", "r"];
const NET = drawing(NAMES, [["s", "a"], ["s", "b"], ["a", "r"], ["c", "b"], ["r", "d"], ["s", "r"]], "s", "r");

test("a network is laid out on the grid, from senders to receivers, and no node covers another", () => {
  const at = laidOut(NET);
  assert.deepEqual(Object.keys(at).sort(), [...NAMES].sort());
  for (const { x, y } of Object.values(at)) assert.ok(x % GRID === 0 && y % GRID === 0);
  assert.ok((at.s?.x ?? 0) < (at.r?.x ?? 0));
  const all = Object.values(at);
  all.forEach((one, i) => all.slice(i + 1).forEach((other) => assert.ok(Math.hypot(one.x - other.x, one.y - other.y) > 50)));
});

test("a place that somebody gave is kept, and the other nodes have one, too", () => {
  const at = places(NET, { nodes: { a: { x: 777, y: -30 } }, notes: [] } as unknown as Parameters<typeof places>[1]);
  assert.deepEqual(at.a, { x: 777, y: -30 });
  assert.deepEqual(Object.keys(at).sort(), [...NAMES].sort());
});

test("words beside a steep link do not cross it", () => {
  for (const angle of [-160, -130, -100, -85, -60, -40, -22, 22, 40, 60, 80, 95, 120, 140]) {
    const [ux, uy] = [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)];
    const place = beside(ux, uy, 2, 10);
    if (!place) {
      assert.ok(Math.abs(uy) < 0.36, `${angle}: flat`);
      continue;
    }
    // The end of the last line that is next to the link, and where the link is at its height.
    const y = place.dy + LINE;
    const x = (y * ux) / uy;
    assert.ok(place.anchor === "start" ? x < place.dx : x > place.dx, `${angle}: the link at ${x}, words from ${place.dx}`);
  }
});

test("dashes of a legend are those of the line", () => {
  assert.equal(dashes([6, 3]), "var(--of) 0px 6px, transparent 6px 9px");
  assert.equal(new Set([[6, 3], [2, 2], [8, 2, 2, 2]].map(dashes)).size, 3);
});

test("numbers have as many digits as tell something", () => {
  assert.deepEqual([1234.5, 12.345, 1.2345].map(digits), ["1,235", "12.3", "1.23"]);
  assert.deepEqual([2e9, 3e6, 5].map((value) => prefix(value)[1]), ["G", "M", ""]);
});

test("ticks are round and cover the span", () => {
  for (const [low, high] of [[0, 1], [3, 97], [-5, 12], [0.001, 0.0019]] as const) {
    const ticks = round(low, high);
    assert.ok(ticks.length >= 3 && ticks.length <= 8, `${ticks}`);
    assert.ok(ticks.every((tick) => tick >= low - 1e-9 && tick <= high + 1e-9));
  }
});

test("a router with routing daemons has an icon of its own", () => {
  assert.equal(iconOf({ kind: "router", written: { routing: ["bgp"], bare: true } }), "daemons");
  assert.equal(iconOf({ kind: "router", written: { frr: "r1.conf" } }), "daemons");
  for (const written of [{}, { routing: "static" }, { routing: [] }]) assert.equal(iconOf({ kind: "router", written }), "router");
  assert.equal(iconOf({ kind: "host", written: { routing: ["bgp"] } }), "host");
});

test("flows that share a link have lanes of their own, and their names stand apart", () => {
  const { lanes, taken } = lanesOf([["a", "l", "r", "b"], ["c", "l", "r", "d"], ["b", "r", "l", "a"], ["a", "l", "r", "b"], []]);
  assert.deepEqual(lanes.map(({ lane }) => lane), [0, 1, 0, 2, 0]);
  // The second's name stands where it is alone, those of equal ways at different places.
  assert.equal(lanes[1]?.leg, 0);
  assert.ok(lanes[0]?.along !== lanes[3]?.along);
  assert.equal(taken.get('["l","r"]')?.size, 3);
  assert.equal(taken.get('["r","l"]')?.size, 1);
  assert.deepEqual([widthOf(0), widthOf(1), widthOf(2)], [0, 8, 14]);
});

test("a way goes beside its links, on the right", () => {
  const way = wayAlong([{ x: 0, y: 0 }, { x: 200, y: 0 }, { x: 200, y: 200 }], { lane: 0, leg: 0, along: 0.5, beside: 1 }, 44);
  assert.equal(way?.path, "M29 8L178 8Q196 4 192 22L192 171");
  assert.deepEqual(way?.head, { x: 192, y: 171, angle: 90 });
  assert.equal(wayAlong([{ x: 0, y: 0 }], { lane: 0, leg: 0, along: 0.5, beside: 1 }, 44), null);
});

test("a link names the interfaces that it joins, in the order of each node's links", () => {
  const { nodes, links } = drawing(["a", "b", "s"], [["a", "b"], ["b", "s"], ["a", "s"]], "a", "b");
  for (const node of nodes) node.interfaces = node.name === "s" ? [] : ["eth0", "eth1"];
  assert.deepEqual(interfacesOf({ nodes, links }), [["eth0", "eth0"], ["eth1", ""], ["eth1", ""]]);
});
