import assert from "node:assert/strict";
import test from "node:test";
import { fold, framed, hanging, hubsOf } from "../ui/document/fold";
import type { Drawing } from "../ui/kit/messages";
import { dumbbell, fatTree, ringOf, star, type Sample } from "./networks";

function drawn({ nodes, links }: Sample): Drawing {
  return {
    topology: "graph", free: true, flows: [], current: true,
    nodes: nodes.map(({ name, kind }) => ({ name, kind, key: [], given: false, written: {}, addresses: [], interfaces: [], place: null, problems: 0 })),
    links: links.map((between) => ({ key: [], between, given: false, forward: null, back: null, written: {}, name: null, problems: 0 })),
  };
}

test("what hangs on a node alone is folded into it, and nothing else", () => {
  const net = drawn(dumbbell(3));
  assert.deepEqual(hanging(net, "left"), ["s1", "s2", "s3"]);
  assert.deepEqual(hanging(net, "s1"), []);
  assert.deepEqual(hanging(drawn(ringOf(5)), "r1"), ["h1"]);
  assert.equal(hanging(drawn(star(9)), "s1").length, 9);
  const { drawing, within } = fold(net, new Map([["left", hanging(net, "left")]]));
  assert.deepEqual(drawing.nodes.map(({ name }) => name), ["left", "right", "r1", "r2", "r3"]);
  assert.equal(drawing.links.length, 4);
  assert.deepEqual([...within], [["left", ["s1", "s2", "s3"]]]);
});

test("all hosts of a fat tree are folded into their switches", () => {
  const net = drawn(fatTree(4));
  const hubs = hubsOf(net);
  assert.equal(hubs.length, 8);
  const { drawing, within } = fold(net, new Map(hubs.map((name) => [name, hanging(net, name)])));
  assert.ok(drawing.nodes.every(({ kind }) => kind === "switch"));
  assert.equal([...within.values()].flat().length, 16);
});

test("a frame is folded into its node with the most links, and has one link to each node outside", () => {
  const net = drawn(dumbbell(3));
  const where = Object.fromEntries(net.nodes.map(({ name }, i) => [name, { x: name === "right" || name.startsWith("r") ? 10 : 500, y: i }]));
  const [head = "", ...members] = framed(net, { kind: "group", x: 400, y: -10, width: 200, height: 100, text: "" }, where);
  assert.equal(head, "left");
  assert.deepEqual(members, ["s1", "s2", "s3"]);
  // The right side as one node, and of the left one the switch alone hidden within a host: its links lead out of the group.
  const { drawing } = fold(net, new Map([["s1", ["left"]], ["right", ["r1", "r2", "r3"]]]));
  assert.deepEqual(drawing.links.map(({ between }) => [...between].sort().join(" ")).sort(), ["right s1", "s1 s2", "s1 s3"]);
});

test("a group within another is hidden with it, and ends of flows are those that are drawn", () => {
  const net = { ...drawn(dumbbell(2)), flows: [{ sender: "s1", receiver: "r1" } as Drawing["flows"][number]] };
  const { drawing, within } = fold(net, new Map([["left", ["s1"]], ["right", ["left", "r1"]]]));
  assert.deepEqual(drawing.nodes.map(({ name }) => name), ["right", "s2", "r2"]);
  assert.deepEqual(within.get("right")?.slice().sort(), ["left", "r1", "s1"]);
  assert.deepEqual([drawing.flows[0]?.sender, drawing.flows[0]?.receiver], ["right", "right"]);
});
