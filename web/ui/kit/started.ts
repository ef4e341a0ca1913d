// Which run was started from each document, so that its plots are beneath the drawing.

import { create } from "zustand";

/** The run that was started from each document. */
interface Started {
  runs: Readonly<Record<string, string>>;
  engine: string;
}
const KEPT = "dumbbell-started";
export const useStarted = create<Started>(() => ({ runs: {}, engine: "emulate", ...kept() }));
// After a reload the run is beneath its drawing again.
useStarted.subscribe((started) => {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(started));
  } catch {
    // It is full or forbidden: runs are in their list all the same.
  }
});

function kept(): Partial<Started> {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? "{}") as Partial<Started>;
  } catch {
    return {};
  }
}

/** Show a run beneath the drawing of a document. */
export function keepStarted(path: string, run: string): void {
  useStarted.setState(({ runs }) => ({ runs: { ...runs, [path]: run } }));
}

/** Show no run beneath the drawing of a document. */
export function forgetStarted(path: string): void {
  useStarted.setState(({ runs }) => ({ runs: Object.fromEntries(Object.entries(runs).filter(([one]) => one !== path)) }));
}
