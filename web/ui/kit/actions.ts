// Everything that can be done, each declared once: the palette lists it, keys do it, the page of keys prints it.

import type { IconName } from "./icons";

export interface Action {
  id: string;
  title: string;
  /** Heading under which the palette and the page of keys show it. */
  group: string;
  icon?: IconName;
  /** Keys as they are printed, such as `Ctrl-Shift-Z`; the first ones are shown. */
  keys?: readonly string[];
  /** Single letters act only where no text is typed, and only in the canvas or the outline (WCAG 2.1.4). */
  can?: () => boolean;
  /** True for keys that need no place in the palette, such as arrows. */
  quiet?: boolean;
  run: () => void;
}

const sources = new Set<() => readonly Action[]>();

/** Offer actions until the function that this returns is called. `source` is asked each time. */
export function offer(source: () => readonly Action[]): () => void {
  sources.add(source);
  return () => sources.delete(source);
}

/** What every view has comes behind what the present one has. */
const LAST = new Set(["Go", "Help"]);

/** What can be done now. */
export function actions(): Action[] {
  const all = [...sources].flatMap((source) => [...source()]);
  return [...all.filter(({ group }) => !LAST.has(group)), ...all.filter(({ group }) => LAST.has(group))];
}

const finders = new Set<() => readonly Action[] | Promise<readonly Action[]>>();

/** Offer what the palette finds by its name, such as files and nodes, until the function that this returns is called. */
export function offerFinds(finder: () => readonly Action[] | Promise<readonly Action[]>): () => void {
  finders.add(finder);
  return () => finders.delete(finder);
}

/** Everything that can be found by its name now. What cannot be read is left out. */
export async function finds(): Promise<Action[]> {
  const all = await Promise.allSettled([...finders].map(async (finder) => finder()));
  return all.flatMap((one) => (one.status === "fulfilled" ? [...one.value] : []));
}

/** Do what an action is for, if it can be done. */
export function perform(action: Action): boolean {
  if (action.can && !action.can()) return false;
  action.run();
  return true;
}
