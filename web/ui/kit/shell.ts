// What the frame shows for the view inside it: its part of the bar, and which of the frame's own windows are open.

import type { ReactNode } from "react";
import { create } from "zustand";

interface Shell {
  /** The view's part of the bar. */
  bar: ReactNode;
  palette: boolean;
  help: boolean;
  set: (part: Partial<Shell>) => void;
}

export const useShell = create<Shell>((set) => ({ bar: null, palette: false, help: false, set }));
