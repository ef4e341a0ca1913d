// Questions that the keyboard answers: which node to link with, what to find, what to insert.

import { create } from "zustand";
import type { Action } from "../kit/actions";
import type { Choice } from "../kit/palette";
import { toast } from "../kit/parts";
import { addFlow, addLink, isFree } from "./commands";
import { GENERATORS, generate } from "./generate";
import { stage } from "../network/stage";
import { linkIds } from "../document/selection";
import { select, state, toggle } from "../document/store";

interface Question {
  label: string;
  choices: Choice[];
  onChoose: (id: string) => void;
}

export const useQuestion = create<{ question: Question | null; close: () => void }>((set) => ({ question: null, close: () => set({ question: null }) }));

function pose(question: Question): void {
  useQuestion.setState({ question });
}

/** Link or flow from the selected node to one whose name is typed; between two selected ones at once. */
function join(what: "link" | "flow"): void {
  const { document, selection } = state();
  const drawing = document?.drawing;
  if (!drawing || (what === "link" && !isFree())) return;
  const make = what === "link" ? addLink : addFlow;
  const ends = (name: string): boolean => what === "link" || drawing.nodes.some((node) => node.name === name && node.kind !== "switch");
  const names = selection.nodes.filter((name) => drawing.nodes.some((node) => node.name === name) && ends(name));
  const [from, to] = names;
  if (from && to && names.length === 2) return void make(from, to);
  if (names.length > 2 && what === "link") return pose({ label: `Link ${names.length} nodes with`, choices: nodeChoices(drawing.nodes.filter((node) => !names.includes(node.name))), onChoose: (id) => names.forEach((name) => void make(name, id)) });
  if (!from) {
    if (drawing.nodes.length < 2) return toast("Add two nodes first.");
    const label = what === "link" ? "Link: from" : "Flow: from";
    return pose({ label, choices: nodeChoices(drawing.nodes.filter((node) => ends(node.name))), onChoose: (id) => (select({ nodes: [id] }), setTimeout(() => join(what))) });
  }
  const others = drawing.nodes.filter((node) => node.name !== from && ends(node.name));
  pose({ label: `${what === "link" ? "Link" : "Flow from"} ${from} to`, choices: nodeChoices(others), onChoose: (id) => void make(from, id) });
}

function nodeChoices(nodes: readonly { name: string; kind: "host" | "switch" | "router"; addresses: string[] }[]): Choice[] {
  return nodes.map((node) => ({ id: node.name, title: node.name, note: [node.kind, ...node.addresses].join(" "), icon: node.kind }));
}

/** Everything in the drawing that has a name, and what shows it. */
function drawn(): (Choice & { show: () => void })[] {
  const drawing = state().document?.drawing;
  if (!drawing) return [];
  const ids = linkIds(drawing);
  const shown = (selection: Parameters<typeof select>[0], nodes: readonly string[]) => (): void => {
    select(selection);
    stage()?.show([...nodes]);
    toggle("form", true);
  };
  return [
    ...nodeChoices(drawing.nodes).map((choice) => ({ ...choice, id: `node ${choice.id}`, show: shown({ nodes: [choice.id] }, [choice.id]) })),
    ...drawing.links.map((link, i) => ({ id: `link ${i}`, title: link.name ?? link.between.join(" – "), note: ["link", link.forward?.rate, link.forward?.delay].filter(Boolean).join(" "), icon: "link" as const, show: shown({ links: [ids[i] ?? ""] }, link.between) })),
    ...drawing.flows.map((flow, i) => ({ id: `flow ${i}`, title: flow.name, note: `flow ${flow.sender} → ${flow.receiver} ${flow.congestion_control ?? flow.protocol}`, icon: "flow" as const, show: shown({ flows: [i] }, [flow.sender, flow.receiver]) })),
  ];
}

/** What the palette finds in the drawing. */
export function drawnFinds(): Action[] {
  return drawn().map(({ id, title, note = "", icon, show }) => ({ id, title, group: note, ...(icon ? { icon } : {}), run: show }));
}

function find(): void {
  const choices = drawn();
  if (choices.length === 0) return;
  pose({ label: "Find a node, a link, a flow, an address", choices, onChoose: (id) => choices.find((one) => one.id === id)?.show() });
}

function insert(): void {
  if (!isFree()) return;
  pose({ label: "Insert a group of nodes", choices: GENERATORS.map(({ id, title, note }) => ({ id, title, note, icon: "template" })), onChoose: (id) => void generate(id) });
}

export function ask(what: "link" | "flow" | "find" | "generate"): void {
  if (what === "find") find();
  else if (what === "generate") insert();
  else join(what);
}
