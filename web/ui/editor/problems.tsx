// What keeps the scenario from running, in the words of the command line; a click shows the place.

import { useState, type ReactNode } from "react";
import { Icon } from "../kit/icons";
import { reveal, useEditor } from "../document/store";

export function Problems(): ReactNode {
  const problems = useEditor((editor) => editor.document?.problems ?? NONE);
  const current = useEditor((editor) => editor.document?.drawing?.current ?? true);
  const hasFlows = useEditor((editor) => (editor.document?.drawing?.flows.length ?? 0) > 0);
  const [open, setOpen] = useState(true);
  if (problems.length === 0) return null;
  const [only] = problems;
  // A drawing that has only begun is not wrong yet.
  if (problems.length === 1 && only?.key?.length === 1 && only.key[0] === "flows" && !hasFlows) {
    return (
      <p className="not-yet">
        <Icon name="flow" />
        <span>
          To run it, add a flow: <kbd>F</kbd>, or drag from sender to receiver with the tool.
        </span>
      </p>
    );
  }
  return (
    <section className="problems" aria-label="Problems">
      <button type="button" className="problems-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="warning" />
        <b>
          {problems.length} problem{problems.length > 1 ? "s" : ""}
        </b>
        {!current && <span>the drawing is that of the last text without problems</span>}
        <Icon name={open ? "down" : "chevron"} size={14} />
      </button>
      {open && (
        <ul>
          {problems.map((problem, i) => (
            <li key={i}>
              <button type="button" onClick={() => reveal(problem)}>
                <span className="what">{problem.what}</span>
                {problem.why && <span className="why">{problem.why}</span>}
                {problem.hint && <span className="hint">{problem.hint}</span>}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const NONE: never[] = [];
