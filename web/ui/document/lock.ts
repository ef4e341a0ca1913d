// While a run or a lab of a scenario goes on, changes of it are asked about once: what is drawn is what goes on.

import { create } from "zustand";
import type { Command, Document, Going } from "../kit/messages";

interface Lock {
  /** What the user has said yes for: changes need no question until something else begins. */
  open: readonly string[];
  /** Answers the question that is shown; null: none is. */
  answer: ((yes: boolean) => void) | null;
}

export const useLock = create<Lock>(() => ({ open: [], answer: null }));

/** What goes on of a document; while it is locked, `locks` is true. */
export function holders(document: Document | null, open: readonly string[]): { going: readonly Going[]; locks: boolean } {
  const going = document?.going ?? [];
  return { going, locks: going.some(({ id }) => !open.includes(id)) };
}

/** Changes may be made from now on, until something else begins. */
export function unlock(document: Document | null): void {
  useLock.setState({ open: (document?.going ?? []).map(({ id }) => id) });
}

/** Where nodes stand, and notes, change nothing that runs. */
export function changesText(command: Command): boolean {
  if (command.do === "batch") return command.commands.some(changesText);
  return !["move", "annotate", "save", "resolve"].includes(command.do);
}

/** True at once if the text may be changed, or once the user says so. */
export async function mayChange(document: Document | null): Promise<boolean> {
  if (!holders(document, useLock.getState().open).locks) return true;
  useLock.getState().answer?.(false);
  const yes = await new Promise<boolean>((answer) => useLock.setState({ answer }));
  useLock.setState({ answer: null });
  if (yes) unlock(document);
  return yes;
}
