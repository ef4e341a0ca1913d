// The views: each is a module of its own, loaded when it is first shown.

import type { ComponentType } from "react";
import type { IconName } from "../kit/icons";
import type { ViewProps } from "../kit/route";

export interface View {
  title: string;
  icon: IconName;
  /** False: it is reached from others, and is not in the bar. */
  listed: boolean;
  /** The listed view that it belongs to. */
  within?: string;
  load: () => Promise<{ default: ComponentType<ViewProps> }>;
}

export const VIEWS: Readonly<Record<string, View>> = {
  files: { title: "Files", icon: "folder", listed: true, load: () => import("../files/view") },
  edit: { title: "Editor", icon: "layout", listed: false, within: "files", load: () => import("../editor/view") },
  runs: { title: "Runs", icon: "play", listed: true, load: () => import("../runs/view") },
  studies: { title: "Study", icon: "outline", listed: false, within: "runs", load: () => import("../results/study") },
  compare: { title: "Compare", icon: "outline", listed: false, within: "runs", load: () => import("../results/compare") },
  whatif: { title: "What if", icon: "settings", listed: false, within: "files", load: () => import("../whatif/view") },
  captures: { title: "Captures", icon: "flow", listed: true, load: () => import("../captures/view") },
  labs: { title: "Labs", icon: "terminal", listed: true, load: () => import("../labs/view") },
};
