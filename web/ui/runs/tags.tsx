// Tags of a run: names by which it is found.

import { useState, type ReactNode } from "react";
import { Button, forgetProblems, toast } from "../kit/parts";
import { post, problemOf } from "../kit/api";
import type { RunDetail } from "../kit/run-messages";

export async function tag(ids: string[], name: string, remove = false): Promise<boolean> {
  try {
    await post("/api/runs/tags", { ids, tag: name, remove });
    forgetProblems();
    return true;
  } catch (thrown) {
    toast(problemOf(thrown));
    return false;
  }
}

export function Tags({ run, onChange }: { run: RunDetail; onChange: () => void }): ReactNode {
  const [adding, setAdding] = useState<string | null>(null);
  if (run.status === "running" || run.status === "starting") return null;
  const add = async (): Promise<void> => {
    if (adding && (await tag([run.id], adding))) onChange();
    setAdding(null);
  };
  return (
    <div className="tags">
      {run.tags.map((name) => (
        <span key={name} className="tag">
          {name}
          <button type="button" aria-label={`Remove the tag ${name}`} onClick={() => void tag([run.id], name, true).then(onChange)}>
            ×
          </button>
        </span>
      ))}
      {adding === null ? (
        <Button look="quiet" icon="add" onClick={() => setAdding("")}>
          Tag
        </Button>
      ) : (
        <form onSubmit={(event) => (event.preventDefault(), void add())}>
          <input aria-label="New tag" autoFocus value={adding} placeholder="baseline" onChange={(event) => setAdding(event.target.value)} onBlur={() => void add()} />
        </form>
      )}
    </div>
  );
}
