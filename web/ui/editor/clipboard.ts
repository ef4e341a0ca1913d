// Copy and paste of a group with its links and flows. The clipboard is this browser's, so another tab can paste it.

import { toast } from "../kit/parts";
import type { DrawnNode, Edit, Point } from "../kit/messages";
import { isFree, pinned } from "./commands";
import { stage } from "../network/stage";
import { select, selected, sendAll, settled, state } from "../document/store";

interface Copied {
  nodes: { name: string; kind: DrawnNode["kind"]; values: Record<string, unknown>; at: Point }[];
  links: { between: [string, string]; values: Record<string, unknown> }[];
  flows: { sender: string; receiver: string; values: Record<string, unknown> }[];
  /** How often it was pasted: each copy stands further aside. */
  pasted: number;
}

const PLACE = "dumbbell.clipboard";

function without(table: Record<string, unknown>, ...keys: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(table).filter(([key]) => !keys.includes(key)));
}

/** Copy the selected nodes with the links and flows among them. */
export function copy(): boolean {
  const drawing = state().document?.drawing;
  const { nodes } = selected();
  if (!drawing || nodes.length === 0) return false;
  const names = new Set(nodes.map((node) => node.name));
  const at = stage()?.positions() ?? {};
  const copied: Copied = {
    // Addresses of their own and names of links are for one place only.
    nodes: nodes.map((node) => ({ name: node.name, kind: node.kind, values: without(node.written, "kind", "address", "id"), at: at[node.name] ?? { x: 0, y: 0 } })),
    links: drawing.links.filter(({ between: [a, b] }) => names.has(a) && names.has(b)).map(({ between, written }) => ({ between, values: without(written, "between", "name", "addresses") })),
    flows: drawing.flows.filter((flow) => names.has(flow.sender) && names.has(flow.receiver)).map(({ sender, receiver, written }) => ({ sender, receiver, values: without(written, "from", "to", "id", "port") })),
    pasted: 0,
  };
  localStorage.setItem(PLACE, JSON.stringify(copied));
  return true;
}

/** `h12` -> `h`; the next numbers that are free follow. */
export function freeNames(names: readonly string[], taken: ReadonlySet<string>): Map<string, string> {
  const all = new Set(taken);
  const made = new Map<string, string>();
  for (const name of names) {
    const stem = name.replace(/\d+$/, "") || name;
    let number = 1;
    while (all.has(`${stem}${number}`)) number++;
    all.add(`${stem}${number}`);
    made.set(name, `${stem}${number}`);
  }
  return made;
}

export async function paste(): Promise<void> {
  // Pressed twice quickly: the names of the first copy are taken already.
  await settled();
  const drawing = state().document?.drawing;
  const text = localStorage.getItem(PLACE);
  if (!drawing || !text || !isFree()) return;
  const copied = JSON.parse(text) as Copied;
  copied.pasted++;
  localStorage.setItem(PLACE, JSON.stringify(copied));
  const names = freeNames(
    copied.nodes.map((node) => node.name),
    new Set(drawing.nodes.map((node) => node.name)),
  );
  const name = (old: string): string => names.get(old) ?? old;
  const bottom = Math.max(...copied.nodes.map((node) => node.at.y)) - Math.min(...copied.nodes.map((node) => node.at.y)) + 110;
  const commands: Edit[] = [
    ...pinned(),
    ...copied.nodes.map(({ name: old, kind, values, at }): Edit => ({ do: "add_node", kind, name: name(old), values, at: { x: at.x, y: at.y + bottom * copied.pasted } })),
    ...copied.links.map(({ between: [a, b], values }): Edit => ({ do: "add_link", between: [name(a), name(b)], values })),
    ...copied.flows.map(({ sender, receiver, values }): Edit => ({ do: "add_flow", sender: name(sender), receiver: name(receiver), values })),
  ];
  const made = [...names.values()];
  if (await sendAll(commands, `paste ${made.length} node${made.length > 1 ? "s" : ""}`)) select({ nodes: made }, true);
}

export async function duplicate(): Promise<void> {
  const before = localStorage.getItem(PLACE);
  if (!copy()) return toast("Select nodes to duplicate first.");
  await paste();
  if (before) localStorage.setItem(PLACE, before);
}
