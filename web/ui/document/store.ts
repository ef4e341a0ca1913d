// The editor's state: the document as the server says it is, and what is selected here. Commands go one after another.

import { create } from "zustand";
import { toast } from "../kit/parts";
import type { Ack, Command, Document, Drawing, DrawnFlow, DrawnLink, DrawnNode, Edit, Key, Problem } from "../kit/messages";
import { socket } from "../kit/socket";
import { changesText, mayChange } from "./lock";
import { forgetPlaces } from "./places";
import { linkIds, NOTHING, type Selection } from "./selection";

export type Tool = "select" | "host" | "switch" | "router" | "link" | "flow";
export type Pane = "draw" | "outline" | "form" | "text";

interface Editor {
  path: string;
  document: Document | null;
  /** Why the document can't be opened. */
  refused: Problem | null;
  selection: Selection;
  tool: Tool;
  outline: boolean;
  form: boolean;
  text: boolean;
  /** The pane that a narrow window shows. */
  pane: Pane;
  /** The key whose field or line is to be shown; a new object each time. */
  target: { key: Key; line: number | null } | null;
  flowsShown: boolean;
  /** Nodes and frames (`note:N`) whose groups are folded; in this view only. */
  folded: ReadonlySet<string>;
}

function kept(name: string, otherwise: boolean): boolean {
  try {
    return (localStorage.getItem(`dumbbell.${name}`) ?? String(otherwise)) === "true";
  } catch {
    return otherwise;
  }
}

export const useEditor = create<Editor>(() => ({
  path: "",
  document: null,
  refused: null,
  selection: NOTHING,
  tool: "select",
  outline: kept("outline", innerWidth >= 1200),
  form: kept("form", true),
  text: kept("text", false),
  pane: "draw",
  target: null,
  flowsShown: kept("flowsShown", true),
  folded: new Set(),
}));

const set = useEditor.setState;
export const state = useEditor.getState;

/** Show or hide a part of the window; remembered in this browser. */
export function toggle(name: "outline" | "form" | "text" | "flowsShown", to = !state()[name]): void {
  set({ [name]: to });
  try {
    localStorage.setItem(`dumbbell.${name}`, String(to));
  } catch {
    // A browser may forbid it; it is only a convenience.
  }
}

let revision = 0;
let queue: Promise<unknown> = Promise.resolve();

/** Open a document and follow it until the function that this returns is called. */
export function openDocument(path: string): () => void {
  revision = 0;
  renumbered = 0;
  forgetPlaces();
  set({ path, document: null, refused: null, selection: NOTHING, tool: "select", target: null, folded: new Set() });
  // A server that was started again may count from another number: its first state holds, whatever it says.
  let isNew = true;
  const unwatch = socket.watch((link) => (isNew ||= link === "lost"));
  const unfollow = socket.subscribe(
    `document/${path}`,
    (event) => {
      const document = event as Document;
      if (!isNew && document.revision < (state().document?.revision ?? 0)) return;
      revision = isNew ? document.revision : Math.max(revision, document.revision);
      if (isNew) renumbered = 0;
      isNew = false;
      set({ document, refused: null, selection: existing(document.drawing, state().selection) });
    },
    null,
    (refused) => set({ refused }),
  );
  return () => {
    unwatch();
    unfollow();
  };
}

function existing(drawing: Drawing | null, chosen: Selection): Selection {
  if (!drawing) return chosen;
  const nodes = new Set(drawing.nodes.map((node) => node.name));
  const links = new Set(linkIds(drawing));
  const left = {
    nodes: chosen.nodes.filter((name) => nodes.has(name) || fresh.has(name)),
    links: chosen.links.filter((id) => links.has(id)),
    flows: chosen.flows.filter((at) => at < drawing.flows.length || fresh.has(at)),
  };
  for (const name of nodes) fresh.delete(name);
  const same = left.nodes.length === chosen.nodes.length && left.links.length === chosen.links.length && left.flows.length === chosen.flows.length;
  return same ? chosen : left;
}

/** What was just made: its event may come behind the answer. */
const fresh = new Set<string | number>();

/** The revision of the last command of this page that changed the places of entries in lists. */
let renumbered = 0;
const NEED_NO_BASE = new Set<Command["do"]>(["undo", "redo", "save", "resolve"]);
const RENUMBER = new Set<Command["do"]>(["remove_node", "remove_link", "remove_flow", "remove_item", "add_item", "replace_text", "free", "undo", "redo"]);

function renumbers(command: Command): boolean {
  return command.do === "batch" ? command.commands.some(renumbers) : RENUMBER.has(command.do);
}

/** Carry out a command of the user; what refuses it is shown. Null: it was not carried out. */
export function send(command: Command): Promise<Ack | null> {
  const path = state().path;
  // Keys hold numbers of entries as they were shown: if a command before this one has moved entries, this one is stale.
  const seen = state().document?.revision ?? revision;
  const next = queue.then(async () => {
    if (state().path !== path || (changesText(command) && !(await mayChange(state().document)))) return null;
    const base = NEED_NO_BASE.has(command.do) ? null : renumbered > seen ? seen : revision;
    const answer = await socket.command(`document/${path}`, base, command);
    if (answer.type === "ack") {
      revision = Math.max(revision, answer.revision ?? 0);
      if (renumbers(command)) renumbered = revision;
      return answer;
    }
    if (answer.type === "lost") toast("The server does not answer: this change was not made.");
    else if (answer.why === "stale") toast("The file was changed at the same moment. Look at it, and do it again.");
    else if (answer.problem) toast(answer.problem);
    return null;
  });
  queue = next.catch(() => undefined);
  return next;
}

/** Wait until the drawing shows all that was sent. */
export async function settled(): Promise<void> {
  await queue;
  const isShown = (): boolean => (state().document?.revision ?? 0) >= revision;
  if (isShown()) return;
  await new Promise<void>((shown) => {
    const done = (): void => {
      clearTimeout(patience);
      stop();
      shown();
    };
    const stop = useEditor.subscribe(() => isShown() && done());
    const patience = setTimeout(done, 3000);
  });
}

/** Several commands as one step. */
export function sendAll(commands: Edit[], label: string): Promise<Ack | null> {
  const [only] = commands;
  if (commands.length === 0) return Promise.resolve(null);
  return only && commands.length === 1 ? send(only) : send({ do: "batch", commands, label });
}

/** Send a text that was typed on top of a revision; the answer says whether it was taken. */
export function sendText(text: string, base: number): Promise<number | "stale" | null> {
  const path = state().path;
  const next = queue.then(async () => {
    const answer = await socket.command(`document/${path}`, base, { do: "replace_text", text });
    if (answer.type === "ack") {
      revision = Math.max(revision, answer.revision ?? 0);
      return answer.revision ?? revision;
    }
    if (answer.type === "reject" && answer.why === "stale") return "stale" as const;
    if (answer.type === "reject" && answer.problem) toast(answer.problem);
    return null;
  });
  queue = next.catch(() => undefined);
  return next;
}

/** The latest revision that this page knows of. */
export function known(): number {
  return revision;
}

export interface Selected {
  nodes: DrawnNode[];
  links: DrawnLink[];
  flows: DrawnFlow[];
}

/** What is selected, as it is drawn. */
export function selected(): Selected {
  const { document, selection } = state();
  return selectedOf(document?.drawing ?? null, selection);
}

export function selectedOf(drawing: Drawing | null, selection: Selection): Selected {
  if (!drawing) return { nodes: [], links: [], flows: [] };
  const ids = linkIds(drawing);
  return {
    nodes: drawing.nodes.filter((node) => selection.nodes.includes(node.name)),
    links: drawing.links.filter((_, i) => selection.links.includes(ids[i] ?? "")),
    flows: drawing.flows.filter((_, i) => selection.flows.includes(i)),
  };
}

/** Select; what was just made may be drawn only later. */
export function select(chosen: Partial<Selection>, made = false): void {
  if (made) for (const name of [...(chosen.nodes ?? []), ...(chosen.flows ?? [])]) fresh.add(name);
  set({ selection: { ...NOTHING, ...chosen } });
}

/** Show the field and the line of a key, and select the element that it belongs to. */
export function reveal(problem: { key: Key | null; line: number | null }): void {
  const drawing = state().document?.drawing;
  const key = problem.key ?? [];
  const begins = (prefix: Key): boolean => prefix.length > 0 && prefix.every((part, i) => part === key[i]);
  if (drawing) {
    const ids = linkIds(drawing);
    const link = drawing.links.findIndex((one) => !one.given && begins(one.key));
    const node = drawing.nodes.find((one) => begins(one.key));
    const flow = drawing.flows.findIndex((one) => begins(one.key));
    if (link >= 0) select({ links: [ids[link] ?? ""] });
    else if (node) select({ nodes: [node.name] });
    else if (flow >= 0) select({ flows: [flow] });
    else select({});
  }
  toggle("form", true);
  set({ target: { key, line: problem.line } });
}
