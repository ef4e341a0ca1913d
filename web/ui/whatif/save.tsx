// Writes what is shown as a scenario, and opens it.

import { useState, type ReactNode } from "react";
import { problemOf } from "../kit/api";
import type { FileEntry, Problem } from "../kit/messages";
import { Button, Dialog, ProblemText, toast } from "../kit/parts";
import { go } from "../kit/route";

interface Props {
  /** Path that is suggested. */
  initial: string;
  overrides: readonly string[];
  save: (to: string) => Promise<FileEntry>;
  onClose: () => void;
  /** Note beneath the name. */
  children: ReactNode;
}

export function Save({ initial, overrides, save, onClose, children }: Props): ReactNode {
  const [to, setTo] = useState(initial);
  const [problem, setProblem] = useState<Problem | null>(null);
  const write = (): void => {
    const name = to.endsWith(".toml") ? to : `${to}.toml`;
    save(name).then(
      () => {
        onClose();
        toast(`saved as ${name}`);
        go("edit", name);
      },
      (thrown) => setProblem(problemOf(thrown)),
    );
  };
  return (
    <Dialog
      title="Save as a scenario"
      onClose={onClose}
      actions={
        <Button look="main" onClick={write}>
          Save
        </Button>
      }
    >
      <label htmlFor="whatif-to">File</label>
      <input id="whatif-to" value={to} spellCheck={false} onChange={(event) => setTo(event.target.value)} onKeyDown={(event) => event.key === "Enter" && write()} />
      {overrides.length > 0 && (
        <ul className="whatif-set">
          {overrides.map((one) => (
            <li key={one}>
              <code>{one}</code>
            </li>
          ))}
        </ul>
      )}
      {problem && <ProblemText problem={problem} />}
      <p className="beneath">{children}</p>
    </Dialog>
  );
}
