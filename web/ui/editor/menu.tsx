// The menu of what was clicked with the right button: the same actions as in the palette.

import { useEffect, useRef, type KeyboardEvent, type ReactNode } from "react";
import { actions, perform } from "../kit/actions";
import { Icon } from "../kit/icons";
import { Keys } from "../kit/parts";
import { state } from "../document/store";

export interface MenuPlace {
  x: number;
  y: number;
}

const OF_SELECTION = ["edit", "link", "flow", "copy", "cut", "duplicate", "frame", "fold", "delete"];
const OF_GROUND = ["host", "switch", "router", "paste", "note", "layout", "fold-hosts", "fit", "select-all", "svg", "png"];

const OF = {
  export: ["toml", "mn", "clab", "py", "svg", "png"],
  arrange: ["layout", "arrange-tree", "arrange-ring", "arrange-layers", "arrange-geography", "arrange-force"],
};

/** What fits the selection; what the file can be exported as; or how nodes can be arranged. */
export function Menu({ at, onClose, of = "selection" }: { at: MenuPlace; onClose: () => void; of?: "selection" | keyof typeof OF }): ReactNode {
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    menu.current?.querySelector("button")?.focus();
    const away = (event: Event): void => {
      if (!menu.current?.contains(event.target as globalThis.Node)) onClose();
    };
    addEventListener("pointerdown", away, true);
    return () => removeEventListener("pointerdown", away, true);
  }, [onClose]);
  const { selection } = state();
  const isSome = of === "selection" && selection.nodes.length + selection.links.length + selection.flows.length > 0;
  const ids = of !== "selection" ? OF[of] : isSome ? OF_SELECTION : OF_GROUND;
  const all = actions();
  // What the runs' and labs' part of the page offers for an element comes behind.
  const shown = [...ids.flatMap((id) => all.filter((action) => action.id === id)), ...all.filter((action) => isSome && action.group === "Element")].filter((action) => !action.can || action.can());
  const onKey = (event: KeyboardEvent): void => {
    const buttons = [...(menu.current?.querySelectorAll("button") ?? [])];
    const index = buttons.indexOf(document.activeElement as HTMLButtonElement);
    if (event.key === "Escape") onClose();
    else if (event.key === "ArrowDown") buttons[(index + 1) % buttons.length]?.focus();
    else if (event.key === "ArrowUp") buttons[(index - 1 + buttons.length) % buttons.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={menu} className="menu" role="menu" style={{ left: Math.min(at.x, innerWidth - 260), top: Math.min(at.y, innerHeight - shown.length * 32 - 20) }} onKeyDown={onKey} onContextMenu={(event) => event.preventDefault()}>
      {shown.map((action) => (
        <button key={action.id} type="button" role="menuitem" onClick={() => (onClose(), setTimeout(() => perform(action)))}>
          {action.icon ? <Icon name={action.icon} /> : <span className="icon" />}
          <span>{action.title}</span>
          {action.keys?.[0] && <Keys of={action.keys[0]} />}
        </button>
      ))}
    </div>
  );
}
