// The terminals of a lab: a tab each.

import { lazy, Suspense, useEffect, useRef, type ReactNode } from "react";
import { reveal } from "../kit/reveal";
import type { TerminalState } from "../kit/run-messages";

const Terminal = lazy(() => import("./terminal"));

interface Props {
  open: readonly TerminalState[];
  shown: string | null;
  /** The one that was opened last on this page: it comes into sight. */
  opened: string | null;
  onShow: (id: string) => void;
  onClose: (id: string) => void;
  onExit: (id: string, code: number) => void;
}

function plain({ node, program }: TerminalState): string {
  return program === "lab" ? "lab" : program === "vtysh" ? `${node} vtysh` : node;
}

/** Names of terminals: those of one node are numbered from the second on. */
function namesOf(open: readonly TerminalState[]): string[] {
  const count = new Map<string, number>();
  return open.map((one) => {
    const name = plain(one);
    const number = (count.get(name) ?? 0) + 1;
    count.set(name, number);
    return number > 1 ? `${name} ${number}` : name;
  });
}

export function Terminals({ open, shown, opened, onShow, onClose, onExit }: Props): ReactNode {
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    if (opened !== null) reveal(box.current);
  }, [opened]);
  if (!open.length) return null;
  const names = namesOf(open);
  return (
    <section ref={box} className="terminals" aria-label="Terminals">
      <div className="terminal-tabs" role="group" aria-label="Open terminals">
        {open.map((one, i) => (
          <span key={one.id} className={one.id === shown ? "terminal-tab shown" : "terminal-tab"}>
            <button type="button" aria-pressed={one.id === shown} onClick={() => onShow(one.id)}>
              {names[i]}
              {one.code !== null && <span className="soft"> ended</span>}
            </button>
            <button type="button" className="terminal-close" aria-label={`Close the terminal of ${names[i]}`} onClick={() => onClose(one.id)}>×</button>
          </span>
        ))}
      </div>
      <Suspense fallback={<p className="loading">Loading…</p>}>
        {open.map((one, i) => (
          <Terminal key={one.id} id={one.id} label={names[i] ?? ""} shown={one.id === shown} onExit={(code) => onExit(one.id, code)} />
        ))}
      </Suspense>
    </section>
  );
}
