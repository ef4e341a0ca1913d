// The menu of what was clicked with the right button: the same actions as in the palette.

import type { ReactNode } from "react";
import { actions } from "../kit/actions";
import { ActionMenu, type MenuPlace } from "../kit/menu";
import { state } from "../document/store";

const OF_SELECTION = ["edit", "link", "flow", "copy", "cut", "duplicate", "frame", "fold", "delete"];
const OF_GROUND = ["host", "switch", "router", "paste", "note", "layout", "fold-hosts", "fit", "select-all", "svg", "png"];

const OF = {
  export: ["toml", "mn", "clab", "py", "svg", "png"],
  arrange: ["layout", "arrange-tree", "arrange-ring", "arrange-layers", "arrange-geography", "arrange-force"],
};

/** What fits the selection; what the file can be exported as; or how nodes can be arranged. */
export function Menu({ at, onClose, of = "selection" }: { at: MenuPlace; onClose: () => void; of?: "selection" | keyof typeof OF }): ReactNode {
  const { selection } = state();
  const isSome = of === "selection" && selection.nodes.length + selection.links.length + selection.flows.length > 0;
  const ids = of !== "selection" ? OF[of] : isSome ? OF_SELECTION : OF_GROUND;
  const all = actions();
  // What the runs' and labs' part of the page offers for an element comes behind.
  const shown = [...ids.flatMap((id) => all.filter((action) => action.id === id)), ...all.filter((action) => isSome && action.group === "Element")].filter((action) => !action.can || action.can());
  return <ActionMenu at={at} actions={shown} onClose={onClose} />;
}
