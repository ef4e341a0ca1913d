import assert from "node:assert/strict";
import test from "node:test";
import { arrange, GRID, netOf, suited, type Arrangement, type Net } from "../ui/layouts/arrange";
import { partOf, parts } from "../ui/layouts/net";
import { random, ringOf, SAMPLES, zoo, type Sample } from "./networks";

const ALL: readonly Arrangement[] = ["tree", "ring", "layers", "geography", "force"];
const net = ({ nodes, links, senders }: Sample): Net => netOf(nodes, links, senders);

/** Pairs of nodes that share room. On the grid, one may have moved by half of its step in each direction. */
function overlaps(at: readonly { x: number; y: number }[], { width, height }: Net["cell"]): number {
  let found = 0;
  at.forEach((a, i) => at.slice(i + 1).forEach((b) => (found += Number(Math.abs(a.x - b.x) < width - GRID - 1 && Math.abs(a.y - b.y) < height - GRID - 1))));
  return found;
}

test("the arrangement is the one that fits the structure", () => {
  const found = Object.fromEntries(Object.entries(SAMPLES).map(([name, make]) => [name, suited(net(make()))]));
  assert.deepEqual(found, {
    "tree of 3 levels": "tree", "tree of 5 levels": "tree", "ring of 12": "ring", "ring of 100": "ring", "ring of 20 with 6 hosts each": "ring",
    "fat tree k=4": "layers", "fat tree k=8": "layers", "leaf and spine": "layers", zoo: "geography",
    "random 50": "force", "random 200": "force", "random 1000": "force", "grown 200": "force", "grown 1000": "force",
    "star of 8": "tree", "star of 200": "tree", "parking lot": "layers", "dumbbell of 4": "layers", "dumbbell of 100": "tree",
  });
});

for (const [name, make] of Object.entries(SAMPLES)) {
  test(`${name}: all have a place on the grid, no two share one, and the same network is drawn the same`, () => {
    const of = net(make());
    for (const how of [undefined, ...ALL]) {
      const at = arrange(of, how);
      assert.equal(at.length, of.names.length);
      for (const { x, y } of at) assert.ok(x % GRID === 0 && y % GRID === 0 && Number.isFinite(x + y), `${how}`);
      assert.equal(overlaps(at, of.cell), 0, `${how}`);
    }
    assert.deepEqual(arrange(net(make())), arrange(of));
  });
}

test("a network of 1,000 nodes is laid out in a second of CPU time", () => {
  const of = net(random(1000));
  const began = process.cpuUsage();
  arrange(of);
  const { user, system } = process.cpuUsage(began);
  assert.ok((user + system) / 1e6 < 1.5, `${(user + system) / 1e6} s`);
});

test("parts that nothing joins stand beside each other, each as it suits it", () => {
  const [ring, mesh] = [ringOf(12), random(30, 2)];
  const of = netOf([...ring.nodes, ...mesh.nodes.map((node) => ({ ...node, name: `m-${node.name}` }))], [...ring.links, ...mesh.links.map(([a, b]) => [`m-${a}`, `m-${b}`] as const)], []);
  assert.deepEqual(parts(of).map((part) => suited(partOf(of, part))).sort(), ["force", "ring"]);
  assert.equal(overlaps(arrange(of), of.cell), 0);
});

test("a map has north above and east on the right, also across the line where dates change", () => {
  const at = arrange(net(zoo()));
  const where = (name: string): { x: number; y: number } => at[zoo().nodes.findIndex((node) => node.name === name)] ?? { x: NaN, y: NaN };
  assert.ok(where("Seattle").y < where("Sunnyvale").y && where("Sunnyvale").x < where("Denver").x && where("Denver").x < where("New-York").x);
  const pacific = netOf(
    [["tokyo", 35.7, 139.7], ["fiji", -17.7, 178], ["samoa", -13.8, -172], ["hawaii", 21.3, -157.9]].map(([name, latitude, longitude]) => ({ name: String(name), kind: "router", addresses: [], place: { latitude: Number(latitude), longitude: Number(longitude) } })),
    [["tokyo", "fiji"], ["fiji", "samoa"], ["samoa", "hawaii"]],
    [],
  );
  const xs = arrange(pacific).map(({ x }) => x);
  assert.deepEqual([...xs].sort((a, b) => a - b), xs);
});

test("a network of no nodes, of one, and links to itself have a layout", () => {
  assert.deepEqual(arrange(netOf([], [], [])), []);
  const one = netOf([{ name: "a", kind: "host", addresses: [] }], [["a", "a"]], ["a"]);
  for (const how of [undefined, ...ALL]) assert.equal(arrange(one, how).length, 1);
});
