// A network as layouts see it: nodes by number, with the neighbours of each.

import type { Point } from "../kit/messages";

/** Degrees north and east. */
export interface Spot {
  latitude: number;
  longitude: number;
}

export interface NetNode {
  name: string;
  kind: "host" | "switch" | "router";
  addresses: readonly string[];
  place?: Spot | null;
}

export interface Net {
  names: readonly string[];
  isHost: readonly boolean[];
  /** Neighbours of each node, each once, in the order of the links. */
  next: readonly (readonly number[])[];
  /** Nodes from which flows come. */
  senders: readonly number[];
  spots: readonly (Spot | null)[];
  /** Room that a node takes with what is written beneath it, pixels. */
  cell: Cell;
}

export interface Cell {
  width: number;
  height: number;
}

/** Room of a node with a short name; a long name takes no more than the second. */
const CELL: Cell = { width: 84, height: 96 };
const WIDEST = 150;
/** Mean width of a letter of a node's name and of its address, pixels. */
const LETTER = 7.2;
const SMALL_LETTER = 6.1;

/** Pixels that a node's name and first address take. */
export function labelWidth({ name, addresses: [first = "", ...more] }: Pick<NetNode, "name" | "addresses">): number {
  return Math.max(name.length * LETTER, (first.replace(/\/\d+$/, "").length + (more.length > 0 ? 3 : 0)) * SMALL_LETTER);
}

export function netOf(nodes: readonly NetNode[], links: Iterable<readonly [string, string]>, senders: readonly string[]): Net {
  const number = new Map(nodes.map(({ name }, i) => [name, i]));
  const next: Set<number>[] = nodes.map(() => new Set());
  for (const [a, b] of links) {
    const [i, j] = [number.get(a), number.get(b)];
    if (i === undefined || j === undefined || i === j) continue;
    next[i]?.add(j);
    next[j]?.add(i);
  }
  const widest = nodes.reduce((most, node) => Math.max(most, labelWidth(node) + 14), CELL.width);
  return {
    names: nodes.map(({ name }) => name),
    isHost: nodes.map(({ kind }) => kind === "host"),
    next: next.map((all) => [...all]),
    senders: [...new Set(senders)].flatMap((name) => number.get(name) ?? []),
    spots: nodes.map(({ place }) => place ?? null),
    cell: { width: Math.min(widest, WIDEST), height: CELL.height },
  };
}

/** The part of a network that consists of some of its nodes. */
export function partOf(net: Net, nodes: readonly number[]): Net {
  const number = new Map(nodes.map((node, i) => [node, i]));
  const kept = (all: readonly number[]): number[] => all.flatMap((node) => number.get(node) ?? []);
  const pick = <T>(all: readonly T[]): T[] => nodes.map((node) => all[node] as T);
  return { names: pick(net.names), isHost: pick(net.isHost), next: nodes.map((node) => kept(net.next[node] ?? [])), senders: kept(net.senders), spots: pick(net.spots), cell: net.cell };
}

/** Connected parts, the largest first; equal ones in the order of their first nodes. */
export function parts(net: Net): number[][] {
  const seen = new Set<number>();
  const found: number[][] = [];
  for (const start of net.names.keys()) {
    if (seen.has(start)) continue;
    const part = [...distances(net, [start]).entries()].flatMap(([node, far]) => (far >= 0 ? [node] : []));
    for (const node of part) seen.add(node);
    found.push(part);
  }
  return found.sort((a, b) => b.length - a.length);
}

/** Links from some nodes to each; -1: not reachable. */
export function distances(net: Net, from: readonly number[]): number[] {
  const far = net.names.map(() => -1);
  for (const node of from) far[node] = 0;
  const wave = [...from];
  for (const node of wave) {
    for (const other of net.next[node] ?? []) {
      if (far[other] !== -1) continue;
      far[other] = (far[node] ?? 0) + 1;
      wave.push(other);
    }
  }
  return far;
}

export function countLinks(net: Net): number {
  return net.next.reduce((sum, all) => sum + all.length, 0) / 2;
}

/** The other end of the only link of each leaf; -1 for other nodes. Of two nodes with one link, the second is a leaf. */
export function hubs(net: Net): number[] {
  return net.next.map((all, node) => {
    const [hub = -1] = all;
    return all.length === 1 && ((net.next[hub]?.length ?? 0) > 1 || node > hub) ? hub : -1;
  });
}

/** The node from which the farthest one is nearest, in a tree or nearly so; among equals one that is no host. */
export function centre(net: Net): number {
  const farthest = (from: number): number => {
    const far = distances(net, [from]);
    return far.indexOf(Math.max(...far));
  };
  const a = farthest(0);
  const b = farthest(a);
  const [fromA, fromB] = [distances(net, [a]), distances(net, [b])];
  const worth = (node: number): number => Math.max(fromA[node] ?? 0, fromB[node] ?? 0) * 4 + (net.isHost[node] ? 3 : 0) - Math.min(0.9, (net.next[node]?.length ?? 0) / 1000);
  return [...net.names.keys()].reduce((best, node) => (worth(node) < worth(best) ? node : best), 0);
}

export type Places = Point[];

/** The smallest rectangle around all nodes with their names. */
export function bounds(at: readonly Point[], { width, height }: Cell): { left: number; top: number; width: number; height: number } {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of at) [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
  return { left: left - width / 2, top: top - height / 2, width: right - left + width, height: bottom - top + height };
}
