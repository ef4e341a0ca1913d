// The drawing as React Flow wants it. An element that did not change stays the same object, so it is not drawn again.

import { Position, type Edge, type Node, type NodeHandle } from "@xyflow/react";
import type { Annotation, Drawing, DrawnFlow, DrawnLink, DrawnNode, Layout, Point } from "../kit/messages";
import { linkIds, type Selection } from "../document/selection";
import { count } from "../../charts/counts";
import { SIZE } from "./labels";
import { NO_PLACE, said, wordsRoom, type LinkRoom, type NamePlace, type Parallel } from "./words";

/** `marked`: further classes, of a lab. `within`: folded nodes that it stands for. */
export type NetworkNode = Node<{ drawn: DrawnNode; flows: number; marked?: string; within?: number }, "network">;
export type NoteNode = Node<{ note: Annotation; at: number }, "note">;
export type AnyNode = NetworkNode | NoteNode;

export type LinkEdge = Edge<{ drawn: DrawnLink; parallel: Parallel; said: string[]; flip: boolean; marked?: string } & LinkRoom, "link">;
export type FlowEdge = Edge<{ drawn: DrawnFlow; bend: number; below: boolean } & NamePlace, "flow">;
export type AnyEdge = LinkEdge | FlowEdge;

/** What React Flow would measure: with it, a node that is out of sight need not be drawn for that. */
const MEASURED = { width: SIZE, height: SIZE };
const HANDLES: NodeHandle[] = [
  { id: "centre", type: "source", position: Position.Top, x: SIZE / 2, y: SIZE / 2, width: 1, height: 1 },
  { id: "pull", type: "source", position: Position.Top, x: -6, y: -6, width: SIZE + 12, height: SIZE + 12 },
];
/** Above this many flows, only selected ones are drawn. */
const MOST_FLOWS = 12;

/** A name for people who do not see the drawing. */
function spoken(link: DrawnLink, lines: string[]): string {
  const problems = link.problems > 0 ? `, ${link.problems} problem${link.problems > 1 ? "s" : ""}` : "";
  return `link ${link.between.join(" to ")}${lines.length > 0 ? `, ${lines.join(", ")}` : ""}${problems}`;
}

function reuse<T extends { id: string }>(before: readonly T[], made: T, same: (old: T) => boolean): T {
  const old = before.find((one) => one.id === made.id);
  return old && same(old) ? old : made;
}

const NONE: ReadonlyMap<string, readonly string[]> = new Map();
const texts = new WeakMap<object, string>();

/** An object as text: of each once, as each is compared with the one before and the one after it. */
function text(of: object = {}): string {
  let found = texts.get(of);
  if (found === undefined) texts.set(of, (found = JSON.stringify(of)));
  return found;
}

/** `where`: the place of each node; `within`: how many nodes it stands for beside itself. */
export function nodes(drawing: Drawing, layout: Layout, where: Readonly<Record<string, Point>>, selection: Selection, before: readonly AnyNode[], dragged: ReadonlySet<string>, within: ReadonlyMap<string, readonly string[]> = NONE): AnyNode[] {
  const chosen = new Set(selection.nodes);
  const known = new Map(before.map((node) => [node.id, node]));
  const traffic = new Map<string, number>();
  for (const { sender, receiver } of drawing.flows) for (const name of [sender, receiver]) traffic.set(name, (traffic.get(name) ?? 0) + 1);
  const notes = layout.annotations.map((note, at): AnyNode => {
    const id = `note:${at}`;
    const old = known.get(id);
    const position = dragged.has(id) && old ? old.position : { x: note.x, y: note.y };
    return {
      ...(old?.type === "note" ? old : {}),
      id,
      type: "note",
      position,
      origin: [0, 0],
      data: { note, at },
      selected: chosen.has(id),
      zIndex: note.kind === "group" ? -2 : 1,
      ...(note.kind === "group" ? { width: note.width, height: note.height } : {}),
    };
  });
  const drawn = drawing.nodes.map((one): AnyNode => {
    const old = known.get(one.name);
    const at: Point = where[one.name] ?? { x: 0, y: 0 };
    const position = dragged.has(one.name) && old ? old.position : at;
    const made: NetworkNode = {
      measured: MEASURED,
      handles: HANDLES,
      ...(old?.type === "network" ? old : {}),
      id: one.name,
      type: "network",
      position,
      data: { drawn: one, flows: traffic.get(one.name) ?? 0, ...(within.has(one.name) ? { within: within.get(one.name)?.length ?? 0 } : {}) },
      selected: chosen.has(one.name),
      ariaLabel: `${one.kind} ${one.name}${one.addresses[0] ? `, ${one.addresses.join(", ")}` : ""}${one.problems > 0 ? `, ${count(one.problems, "problem")}` : ""}`,
    };
    if (old?.type !== "network") return made;
    const same = old.position.x === position.x && old.position.y === position.y && (old.selected ?? false) === made.selected && text(old.data) === text(made.data);
    return same ? old : made;
  });
  return [...notes, ...drawn];
}

export function edges(drawing: Drawing, where: Readonly<Record<string, Point>>, selection: Selection, flowsShown: boolean, before: readonly AnyEdge[]): AnyEdge[] {
  const chosen = new Set(selection.links);
  const flows = new Set(selection.flows);
  const isDrawn = (i: number): boolean => flows.has(i) || (flowsShown && drawing.flows.length <= MOST_FLOWS);
  const ids = linkIds(drawing);
  const known = new Map(before.map((edge) => [edge.id, edge]));
  const count = new Map<string, number>();
  for (const id of ids) {
    const ends = id.slice(0, id.lastIndexOf("~"));
    count.set(ends, (count.get(ends) ?? 0) + 1);
  }
  const names = new Set(drawing.nodes.map((node) => node.name));
  const parallels = ids.map((id): Parallel => {
    const cut = id.lastIndexOf("~");
    return { at: Number(id.slice(cut + 1)), of: count.get(id.slice(0, cut)) ?? 1 };
  });
  const room = wordsRoom(drawing, where, parallels, drawing.flows.flatMap((_, i) => (isDrawn(i) ? [i] : [])));
  const links = drawing.links.flatMap((one, i): AnyEdge[] => {
    const id = ids[i] ?? "";
    const [a, b] = one.between;
    const words = room.links[i];
    if (!names.has(a) || !names.has(b) || !words) return [];
    const lines = said(one);
    const made: LinkEdge = {
      id,
      type: "link",
      source: a,
      target: b,
      sourceHandle: "centre",
      targetHandle: "centre",
      selected: chosen.has(id),
      ariaLabel: spoken(one, lines),
      data: { drawn: one, parallel: parallels[i] ?? { at: 0, of: 1 }, said: lines, flip: a > b, ...words },
    };
    const old = known.get(id);
    return [old && (old.selected ?? false) === made.selected && text(old.data) === text(made.data) && old.source === a ? old : made];
  });
  const bends = new Map<string, number>();
  const middle = drawing.nodes.reduce((sum, node) => sum + (where[node.name]?.y ?? 0), 0) / (drawing.nodes.length || 1);
  const arcs = drawing.flows.flatMap((one, i): AnyEdge[] => {
    if (!names.has(one.sender) || !names.has(one.receiver) || one.sender === one.receiver) return [];
    if (!isDrawn(i)) return [];
    const ends = [one.sender, one.receiver].sort().join("~");
    const bend = bends.get(ends) ?? 0;
    bends.set(ends, bend + 1);
    const made: FlowEdge = {
      id: `flow:${i}`,
      type: "flow",
      source: one.sender,
      target: one.receiver,
      sourceHandle: "centre",
      targetHandle: "centre",
      selected: flows.has(i),
      zIndex: flows.has(i) ? 1 : 0,
      ariaLabel: `flow ${one.name} from ${one.sender} to ${one.receiver}${one.congestion_control ? `, ${one.congestion_control}` : ""}`,
      // Arcs keep out of the middle, where links are.
      data: { drawn: one, bend, ...(room.flows.get(i) ?? NO_PLACE), below: one.via.length === 0 && ((where[one.sender]?.y ?? 0) + (where[one.receiver]?.y ?? 0)) / 2 > middle + 1 },
    };
    return [reuse(before, made, (old) => (old.selected ?? false) === made.selected && text(old.data) === text(made.data))];
  });
  return [...links, ...arcs];
}
