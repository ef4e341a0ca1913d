// The terminals of a lab: a tab each.

import { lazy, Suspense, type ReactNode } from "react";
import type { TerminalState } from "../kit/run-messages";

const Terminal = lazy(() => import("./terminal"));

interface Props {
  open: readonly TerminalState[];
  shown: string | null;
  onShow: (id: string) => void;
  onClose: (id: string) => void;
  onExit: (id: string, code: number) => void;
}

function named({ node, program }: TerminalState): string {
  return program === "lab" ? "lab" : program === "vtysh" ? `${node} vtysh` : node;
}

export function Terminals({ open, shown, onShow, onClose, onExit }: Props): ReactNode {
  if (!open.length) return null;
  return (
    <section className="terminals" aria-label="Terminals">
      <div className="terminal-tabs" role="group" aria-label="Open terminals">
        {open.map((one) => (
          <span key={one.id} className={one.id === shown ? "terminal-tab shown" : "terminal-tab"}>
            <button type="button" aria-pressed={one.id === shown} onClick={() => onShow(one.id)}>
              {named(one)}
              {one.code !== null && <span className="soft"> ended</span>}
            </button>
            <button type="button" className="terminal-close" aria-label={`Close the terminal of ${named(one)}`} onClick={() => onClose(one.id)}>×</button>
          </span>
        ))}
      </div>
      <Suspense fallback={<p className="loading">Loading…</p>}>
        {open.map((one) => (
          <Terminal key={one.id} id={one.id} label={named(one)} shown={one.id === shown} onExit={(code) => onExit(one.id, code)} />
        ))}
      </Suspense>
    </section>
  );
}
