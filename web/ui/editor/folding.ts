// Folding and unfolding: a way of looking at the network, which no file keeps.

import { framed, hanging, hubsOf } from "../document/fold";
import { places } from "../document/places";
import type { Drawing, Layout } from "../kit/messages";
import { state, useEditor } from "../document/store";

/** For each folded group, the node that stands for it and those that it hides. */
export function groupsOf(drawing: Drawing, layout: Layout, folded: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...folded].flatMap((id) => {
      if (!id.startsWith("note:")) return [[id, hanging(drawing, id)] as const];
      const frame = layout.annotations[Number(id.slice(5))];
      const [head, ...members] = frame?.kind === "group" ? framed(drawing, frame, places(drawing, layout)) : [];
      return head === undefined ? [] : [[head, members] as const];
    }),
  );
}

function foldable(): string[] {
  const { document, selection } = state();
  if (!document?.drawing) return [];
  const { drawing, layout } = document;
  return selection.nodes.filter((id) => [...groupsOf(drawing, layout, new Set([id])).values()].some((members) => members.length > 0));
}

/** Fold what hangs on the selected nodes, and what stands in selected frames; unfold what is folded. */
export function foldSelected(): void {
  const { folded, selection } = state();
  const open = selection.nodes.filter((id) => folded.has(id));
  const next = new Set(folded);
  if (open.length > 0) for (const id of open) next.delete(id);
  else for (const id of foldable()) next.add(id);
  useEditor.setState({ folded: next });
}

export function canFold(): boolean {
  const { folded, selection } = state();
  return selection.nodes.some((id) => folded.has(id)) || foldable().length > 0;
}

/** Fold all hosts into what they hang on, or unfold all. */
export function foldHosts(): void {
  const { document, folded } = state();
  useEditor.setState({ folded: new Set(folded.size > 0 || !document?.drawing ? [] : hubsOf(document.drawing)) });
}
