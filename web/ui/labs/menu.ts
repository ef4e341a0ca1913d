// The menu of a node, a link, or the ground of a lab's drawing.

import type { Action } from "../kit/actions";
import type { LabState } from "../kit/run-messages";
import { ask } from "./ask";
import type { Clicked } from "./drawing";
import { additions, removal, type Want } from "./rewire";

interface Doing {
  base: string;
  want: Want;
  can: () => boolean;
  onTerminal: (node: string) => void;
  onPackets: (of: string[]) => void;
}

export function menuOf({ spot, part }: Clicked, state: LabState, { base, want, can, onTerminal, onPackets }: Doing): Action[] {
  const group = "Lab";
  if (part === null) return additions(want, can, [], spot);
  const remove = removal(want, can, part);
  if (part.kind === "node") {
    const isPlace = state.nodes.some(({ name, runs_programs }) => name === part.name && runs_programs);
    const open: Action = { id: "terminal", title: `Terminal in ${part.name}`, group, icon: "terminal", keys: ["T"], can, run: () => onTerminal(part.name) };
    return [...(isPlace ? [open] : []), ...additions(want, can, [part.name]).slice(-1), remove];
  }
  const links = state.links.filter(({ name }) => part.links.includes(name));
  const isUp = links.every(({ up }) => up);
  const change = async (): Promise<void> => {
    for (const of of part.links) if (!(await ask(`${base}/link`, { of: [of], keys: isUp ? { up: "false", carrier: "lost" } : { up: "true" } }))) return;
  };
  return [
    { id: "packets", title: "Packets", group, icon: "search", can, run: () => links[0] && onPackets([links[0].sender, links[0].receiver]) },
    { id: "carrier", title: isUp ? "Take down" : "Take up", group, icon: "event", can, run: () => void change() },
    remove,
  ];
}
