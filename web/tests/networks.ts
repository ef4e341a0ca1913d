// Networks of many kinds, to be laid out.

import type { NetNode } from "../ui/layouts/net";

export interface Sample {
  nodes: NetNode[];
  links: [string, string][];
  senders: string[];
}

class Pencil implements Sample {
  nodes: NetNode[] = [];
  links: [string, string][] = [];
  senders: string[] = [];
  private hosts = 0;
  add(name: string, kind: NetNode["kind"]): string {
    const addresses = kind === "host" ? [`10.1.${Math.floor(++this.hosts / 200)}.${this.hosts % 200}/24`] : [];
    this.nodes.push({ name, kind, addresses });
    return name;
  }
  link(a: string, b: string): void {
    this.links.push([a, b]);
  }
  /** Hosts at a node. */
  hang(at: string, count: number): void {
    for (let i = 0; i < count; i++) this.link(this.add(`h${this.hosts + 1}`, "host"), at);
  }
}

/** Numbers from 0 to 1, the same each time (mulberry32). */
function draws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export function treeOf(fanout: number, levels: number): Sample {
  const net = new Pencil();
  const grow = (at: string, level: number): void => {
    for (let i = 1; i <= fanout; i++) {
      if (level === levels) net.hang(at, 1);
      else {
        const below = net.add(`${at}${i}`, "switch");
        net.link(at, below);
        grow(below, level + 1);
      }
    }
  };
  grow(net.add("s", "switch"), 1);
  return net;
}

export function ringOf(count: number, hosts = 1): Sample {
  const net = new Pencil();
  for (let i = 0; i < count; i++) net.add(`r${i + 1}`, "router");
  for (let i = 0; i < count; i++) net.link(`r${i + 1}`, `r${((i + 1) % count) + 1}`);
  for (let i = 0; i < count; i++) net.hang(`r${i + 1}`, hosts);
  return net;
}

export function fatTree(k: number): Sample {
  const net = new Pencil();
  const half = k / 2;
  for (let i = 0; i < half * half; i++) net.add(`c${i + 1}`, "switch");
  for (let pod = 1; pod <= k; pod++) {
    for (let i = 0; i < half; i++) {
      const above = net.add(`a${pod}-${i + 1}`, "switch");
      for (let j = 0; j < half; j++) net.link(`c${i * half + j + 1}`, above);
    }
    for (let i = 0; i < half; i++) {
      const edge = net.add(`e${pod}-${i + 1}`, "switch");
      for (let j = 0; j < half; j++) net.link(`a${pod}-${j + 1}`, edge);
      net.hang(edge, half);
    }
  }
  return net;
}

export function leafSpine(leaves: number, spines: number, hosts: number): Sample {
  const net = new Pencil();
  for (let i = 1; i <= spines; i++) net.add(`spine${i}`, "switch");
  for (let i = 1; i <= leaves; i++) {
    const leaf = net.add(`leaf${i}`, "switch");
    for (let j = 1; j <= spines; j++) net.link(`spine${j}`, leaf);
    net.hang(leaf, hosts);
  }
  return net;
}

export function random(count: number, seed = 1, degree = 3.6): Sample {
  const net = new Pencil();
  const draw = draws(seed);
  for (let i = 0; i < count; i++) net.add(`r${i}`, "router");
  const known = new Set<string>();
  const link = (a: number, b: number): void => {
    const key = `${Math.min(a, b)} ${Math.max(a, b)}`;
    if (a === b || known.has(key)) return;
    known.add(key);
    net.link(`r${a}`, `r${b}`);
  };
  for (let i = 1; i < count; i++) link(i, Math.max(0, i - 1 - Math.floor(draw() * 12)));
  while (known.size < (count * degree) / 2) {
    const a = Math.floor(draw() * count);
    link(a, Math.min(count - 1, a + 1 + Math.floor(draw() * 12)));
  }
  return net;
}

/** Each node joins two that are there, those with many links before others; a third are hosts. */
export function grown(count: number, seed = 3): Sample {
  const net = new Pencil();
  const draw = draws(seed);
  const ends: string[] = [];
  const routers = Math.ceil((count * 2) / 3);
  for (let i = 0; i < routers; i++) {
    const name = net.add(`r${i}`, "router");
    const to = new Set([ends[Math.floor(draw() * ends.length)], ends[Math.floor(draw() * ends.length)]].filter((one) => one !== undefined));
    for (const other of to) {
      net.link(other, name);
      ends.push(other);
    }
    ends.push(name);
  }
  for (let i = routers; i < count; i++) net.hang(`r${Math.floor(draw() * routers)}`, 1);
  return net;
}

export function star(count: number): Sample {
  const net = new Pencil();
  net.hang(net.add("s1", "switch"), count);
  return net;
}

export function parkingLot(hops: number): Sample {
  const net = new Pencil();
  for (let i = 1; i <= hops + 1; i++) net.add(`r${i}`, "router");
  for (let i = 1; i <= hops; i++) net.link(`r${i}`, `r${i + 1}`);
  net.hang("r1", 1);
  net.hang(`r${hops + 1}`, 1);
  for (let i = 1; i <= hops; i++) {
    net.hang(`r${i}`, 1);
    net.hang(`r${i + 1}`, 1);
  }
  net.senders.push("h1");
  return net;
}

export function dumbbell(pairs: number): Sample {
  const net = new Pencil();
  net.link(net.add("left", "switch"), net.add("right", "switch"));
  for (let i = 1; i <= pairs; i++) net.link(net.add(`s${i}`, "host"), "left");
  for (let i = 1; i <= pairs; i++) net.link(net.add(`r${i}`, "host"), "right");
  net.senders.push(...Array.from({ length: pairs }, (_, i) => `s${i + 1}`));
  return net;
}

/** As the Topology Zoo has them: cities, their coordinates, a host at each. */
export function zoo(): Sample {
  const net = new Pencil();
  const cities: [string, number, number][] = [
    ["New-York", 40.71, -74.0], ["Chicago", 41.85, -87.65], ["Washington-DC", 38.9, -77.04], ["Seattle", 47.6, -122.33], ["Sunnyvale", 37.37, -122.04],
    ["Los-Angeles", 34.05, -118.24], ["Denver", 39.74, -104.98], ["Kansas-City", 39.1, -94.58], ["Houston", 29.76, -95.36], ["Atlanta", 33.75, -84.39], ["Indianapolis", 39.77, -86.16],
  ];
  for (const [name, latitude, longitude] of cities) net.nodes.push({ name, kind: "router", addresses: ["10.255.0.1/32"], place: { latitude, longitude } });
  const links: [number, number][] = [[0, 1], [0, 2], [1, 10], [2, 9], [3, 4], [3, 6], [4, 5], [4, 6], [5, 8], [6, 7], [7, 8], [7, 10], [8, 9], [9, 10]];
  for (const [a, b] of links) net.link(cities[a]?.[0] ?? "", cities[b]?.[0] ?? "");
  for (const [name] of cities) net.link(net.add(`h-${name}`.slice(0, 15), "host"), name);
  return net;
}

export const SAMPLES: Readonly<Record<string, () => Sample>> = {
  "tree of 3 levels": () => treeOf(4, 3),
  "tree of 5 levels": () => treeOf(3, 5),
  "ring of 12": () => ringOf(12),
  "ring of 100": () => ringOf(100),
  "ring of 20 with 6 hosts each": () => ringOf(20, 6),
  "fat tree k=4": () => fatTree(4),
  "fat tree k=8": () => fatTree(8),
  "leaf and spine": () => leafSpine(12, 4, 20),
  zoo,
  "random 50": () => random(50),
  "random 200": () => random(200),
  "random 1000": () => random(1000),
  "grown 200": () => grown(200),
  "grown 1000": () => grown(1000),
  "star of 8": () => star(8),
  "star of 200": () => star(200),
  "parking lot": () => parkingLot(3),
  "dumbbell of 4": () => dumbbell(4),
  "dumbbell of 100": () => dumbbell(100),
};
