// What the editor can do to the network. Each is one command to the server, so it is one step of undo.

import { toast } from "../kit/parts";
import type { DrawnNode, Edit, Point } from "../kit/messages";
import { annotations } from "./notes";
import { fold } from "../document/fold";
import { laidOut, netOfDrawing, places } from "../document/places";
import { groupsOf } from "./folding";
import { isPlaced, snap, type Arrangement } from "../layouts/arrange";
import { stage } from "../network/stage";
import { select, selected, send, sendAll, state } from "../document/store";

export type NodeKind = DrawnNode["kind"];

/** True if nodes and links can be added and removed; else it says what to do. */
export function isFree(): boolean {
  const drawing = state().document?.drawing;
  if (drawing && !drawing.free) toast(`This network is made by the preset "${drawing.topology}". “Make it free” writes its nodes and links, which can be changed then.`);
  return drawing?.free ?? false;
}

/** The nearest place to a point that no node takes. */
function clear(at: Point): Point {
  const taken = Object.values(stage()?.positions() ?? {});
  let found = { x: snap(at.x), y: snap(at.y) };
  for (let i = 0; i < 60 && taken.some((one) => Math.hypot(one.x - found.x, one.y - found.y) < 60); i++) {
    found = { x: snap(at.x + (1 + Math.floor(i / 6)) * 90 * Math.cos(((i % 6) * Math.PI) / 3)), y: snap(at.y + (1 + Math.floor(i / 6)) * 90 * Math.sin(((i % 6) * Math.PI) / 3)) };
  }
  return found;
}

/** Positions that the layout's file lacks are written with the first one that somebody chooses, so that nothing jumps. */
export function pinned(): Edit[] {
  const { document } = state();
  const lacking = document?.drawing?.nodes.filter((node) => !document.layout.nodes[node.name]) ?? [];
  const now = stage()?.positions() ?? {};
  const nodes = Object.fromEntries(lacking.flatMap(({ name }) => (now[name] ? [[name, now[name]]] : [])));
  return lacking.length > 0 ? [{ do: "move", nodes }] : [];
}

export async function addNode(kind: NodeKind, at?: Point): Promise<void> {
  if (!isFree()) return;
  const place = at ? { x: snap(at.x), y: snap(at.y) } : clear(stage()?.spot() ?? { x: 0, y: 0 });
  const done = await sendAll([...pinned(), { do: "add_node", kind, at: place }], `add ${kind}`);
  const name = done?.made.at(-1)?.at(-1);
  if (typeof name === "string") select({ nodes: [name] }, true);
}

export async function addLink(a: string, b: string): Promise<void> {
  if (!isFree() || a === b) return;
  await send({ do: "add_link", between: [a, b] });
}

export async function addFlow(sender: string, receiver: string): Promise<void> {
  if (sender === receiver) return;
  const done = await send({ do: "add_flow", sender, receiver });
  const at = done?.made.at(-1)?.at(-1);
  if (typeof at === "number") select({ flows: [at] }, true);
}

/** A node's new place, and those of the nodes that are folded into it, which go as far. */
function withFolded(head: string, at: Point): Record<string, Point> {
  const { document, folded } = state();
  const found: Record<string, Point> = { [head]: { x: Math.round(at.x), y: Math.round(at.y) } };
  if (!document?.drawing || folded.size === 0) return found;
  const where = places(document.drawing, document.layout);
  const before = where[head];
  for (const name of fold(document.drawing, groupsOf(document.drawing, document.layout, folded)).within.get(head) ?? []) {
    const own = where[name];
    if (own && before) found[name] = { x: Math.round(own.x + at.x - before.x), y: Math.round(own.y + at.y - before.y) };
  }
  return found;
}

/** Move nodes: positions by name, and of notes by `note:N`. */
export function move(to: Readonly<Record<string, Point>>): void {
  const nodes: Record<string, Point> = {};
  const notes = new Map<number, Point>();
  for (const [id, at] of Object.entries(to)) {
    if (id.startsWith("note:")) notes.set(Number(id.slice(5)), at);
    else Object.assign(nodes, withFolded(id, at));
  }
  const commands: Edit[] = [];
  if (Object.keys(nodes).length > 0) {
    const [pins] = pinned();
    commands.push({ do: "move", nodes: { ...(pins?.do === "move" ? pins.nodes : {}), ...nodes } });
  }
  if (notes.size > 0) commands.push({ do: "annotate", annotations: annotations().map((note, i) => ({ ...note, ...(notes.has(i) ? { x: Math.round(notes.get(i)?.x ?? 0), y: Math.round(notes.get(i)?.y ?? 0) } : {}) })) });
  void sendAll(commands, "move");
}

/** Move what is selected by so many pixels. */
export function nudge(dx: number, dy: number): void {
  const now = stage()?.positions() ?? {};
  const names = state().selection.nodes.filter((name) => now[name]);
  if (names.length > 0) move(Object.fromEntries(names.map((name) => [name, { x: (now[name]?.x ?? 0) + dx, y: (now[name]?.y ?? 0) + dy }])));
}

/** Arrange all nodes: as the network's structure suggests, or in a chosen way. */
export function layOut(how?: Arrangement): void {
  const drawing = state().document?.drawing;
  if (!drawing) return;
  void send({ do: "move", nodes: laidOut(drawing, how) }).then(() => setTimeout(() => stage()?.fit(), 60));
}

/** True if a file says where the nodes are on the earth. */
export function hasPlaces(): boolean {
  const drawing = state().document?.drawing;
  return drawing ? isPlaced(netOfDrawing(drawing)) : false;
}

/** Remove what is selected: one step, with all that hangs on it. */
export function removeSelected(): void {
  const { nodes, links, flows } = selected();
  const notes = state().selection.nodes.filter((id) => id.startsWith("note:")).map((id) => Number(id.slice(5)));
  if ((nodes.length > 0 || links.length > 0) && !isFree()) return;
  const given = [...nodes, ...links].some((one) => one.given);
  if (given) toast("Nodes and links of a GraphML file can't be removed here: “Make it free” writes them into the scenario.");
  const last = (key: readonly (string | number)[]): number => Number(key.at(-1));
  const commands: Edit[] = [
    // From the last one on: each removal changes the numbers of those behind it.
    ...[...flows].sort((a, b) => last(b.key) - last(a.key)).map(({ key }): Edit => ({ do: "remove_flow", key })),
    ...links
      .filter((one) => !one.given)
      .sort((a, b) => last(b.key) - last(a.key))
      .map(({ key }): Edit => ({ do: "remove_link", key })),
    ...nodes.filter((one) => !one.given).map(({ name }): Edit => ({ do: "remove_node", name })),
  ];
  if (notes.length > 0) commands.push({ do: "annotate", annotations: annotations().filter((_, i) => !notes.includes(i)) });
  const count = nodes.length + links.length + flows.length + notes.length;
  void sendAll(commands, `remove ${count} element${count > 1 ? "s" : ""}`);
  // What has the number of a removed flow next is not what was selected.
  select({});
}

export function selectAll(): void {
  const drawing = state().document?.drawing;
  if (drawing) select({ nodes: drawing.nodes.map((node) => node.name) });
}

export function rename(name: string, to: string): void {
  if (to && to !== name) void send({ do: "rename_node", name, to }).then((done) => done && select({ nodes: [to] }, true));
}

/** A frame around what is selected, or a text where the pointer is. */
export function annotate(kind: "text" | "group"): void {
  const now = stage()?.positions() ?? {};
  const points = state().selection.nodes.flatMap((name) => (now[name] ? [now[name]] : []));
  const spot = stage()?.spot() ?? { x: 0, y: 0 };
  const [left, top] = points.length > 0 ? [Math.min(...points.map((at) => at.x)) - 60, Math.min(...points.map((at) => at.y)) - 60] : [spot.x, spot.y];
  const [right, bottom] = points.length > 0 ? [Math.max(...points.map((at) => at.x)) + 60, Math.max(...points.map((at) => at.y)) + 80] : [spot.x + 200, spot.y + 140];
  const size = kind === "group" ? { width: Math.round(right - left), height: Math.round(bottom - top) } : { width: 0, height: 0 };
  const at = kind === "group" ? { x: Math.round(left), y: Math.round(top) } : { x: Math.round(spot.x), y: Math.round(spot.y) };
  const number = annotations().length;
  void send({ do: "annotate", annotations: [...annotations(), { kind, ...at, ...size, text: kind === "group" ? "Group" : "Text" }] }).then((done) => done && select({ nodes: [`note:${number}`] }, true));
}
