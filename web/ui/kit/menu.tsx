// A menu of actions at a place of the page.

import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode } from "react";
import { perform, type Action } from "./actions";
import { Icon } from "./icons";
import { Keys } from "./parts";

export interface MenuPlace {
  x: number;
  y: number;
}

/** Pixels between a menu and the edges of the page. */
const MARGIN = 8;

/** The place beneath a button that opens a menu. */
export function beneath({ currentTarget }: MouseEvent<HTMLElement>): MenuPlace {
  const { left, bottom } = currentTarget.getBoundingClientRect();
  return { x: left, y: bottom + 4 };
}

export function ActionMenu({ at, actions, onClose }: { at: MenuPlace; actions: readonly Action[]; onClose: () => void }): ReactNode {
  const menu = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState(at);
  // All of it is in sight: titles of a narrow page have several lines.
  useLayoutEffect(() => {
    const { width = 0, height = 0 } = menu.current?.getBoundingClientRect() ?? {};
    setPlace({ x: Math.max(MARGIN, Math.min(at.x, innerWidth - width - MARGIN)), y: Math.max(MARGIN, Math.min(at.y, innerHeight - height - MARGIN)) });
  }, [at, actions]);
  useEffect(() => {
    menu.current?.querySelector("button")?.focus();
    const away = (event: Event): void => {
      if (!menu.current?.contains(event.target as globalThis.Node)) onClose();
    };
    addEventListener("pointerdown", away, true);
    return () => removeEventListener("pointerdown", away, true);
  }, [onClose]);
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
    <div ref={menu} className="menu" role="menu" style={{ left: place.x, top: place.y }} onKeyDown={onKey} onContextMenu={(event) => event.preventDefault()}>
      {actions.map((action) => (
        <button key={action.id} type="button" role="menuitem" onClick={() => (onClose(), setTimeout(() => perform(action)))}>
          {action.icon ? <Icon name={action.icon} /> : <span className="icon" />}
          <span>{action.title}</span>
          {action.keys?.[0] && <Keys of={action.keys[0]} />}
        </button>
      ))}
    </div>
  );
}
