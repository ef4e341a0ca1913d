// What can be done with the runs that are chosen: compare, tag, remove.

import { useState, type ReactNode } from "react";
import { count } from "../../charts/counts";
import { post, problemOf } from "../kit/api";
import { Button, Dialog, toast } from "../kit/parts";
import { go } from "../kit/route";
import type { RunRow } from "../kit/run-messages";
import { tag } from "./tags";

/** Runs that the server compares at a time. */
const MOST = 1000;

interface ChosenProps {
  /** Chosen runs that the table lists, in its order. */
  ids: readonly string[];
  /** Chosen runs that it does not list now. */
  hidden: readonly string[];
  baseline: string | null;
  rows: ReadonlyMap<string, RunRow>;
  /** Tags that there are. */
  tags: readonly string[];
  onClear: () => void;
  onRemove: () => void;
  onChange: () => void;
}

export function Chosen({ ids, hidden, baseline, rows, tags, onClear, onRemove, onChange }: ChosenProps): ReactNode {
  const [name, setName] = useState("");
  const all = [...ids, ...hidden];
  // The baseline is A, with which the others are compared.
  const compared = baseline ? [baseline, ...all.filter((id) => id !== baseline)] : all;
  const theirs = [...new Set(all.flatMap((id) => rows.get(id)?.tags ?? []))].sort();
  const give = async (): Promise<void> => {
    if (name && (await tag(all, name))) onChange();
    setName("");
  };
  return (
    <div className="chosen" role="region" aria-label="Chosen runs">
      <span>
        {all.length.toLocaleString("en")} chosen{hidden.length > 0 && <span className="soft">, {hidden.length.toLocaleString("en")} of them not listed</span>}
      </span>
      <Button
        look="main" disabled={compared.length < 2 || compared.length > MOST} onClick={() => go("compare", ...compared)}
        title={compared.length > MOST ? `${MOST.toLocaleString("en")} runs at most: group the table by a setting instead` : undefined}
      >
        {baseline && !all.includes(baseline) ? "Compare with the baseline" : "Compare"}
      </Button>
      <form onSubmit={(event) => (event.preventDefault(), void give())}>
        <input aria-label="Tag the chosen runs" placeholder="tag" list="runs-tags" value={name} onChange={(event) => setName(event.target.value)} />
        <datalist id="runs-tags">{tags.map((one) => <option key={one} value={one} />)}</datalist>
      </form>
      {theirs.map((one) => (
        <span key={one} className="tag">
          {one}
          <button type="button" aria-label={`Remove the tag ${one}`} onClick={() => void tag(all, one, true).then((done) => done && onChange())}>×</button>
        </span>
      ))}
      <Button look="quiet" icon="trash" onClick={onRemove}>Remove</Button>
      <Button look="quiet" onClick={onClear}>Clear</Button>
    </div>
  );
}

export function Remove({ ids, onClose, onDone }: { ids: string[]; onClose: () => void; onDone: () => void }): ReactNode {
  const remove = async (): Promise<void> => {
    try {
      await post("/api/runs/remove", { ids });
      onDone();
    } catch (thrown) {
      toast(problemOf(thrown));
    }
  };
  return (
    <Dialog
      title={ids.length === 1 ? "Remove this run?" : `Remove ${count(ids.length, "run")}?`} onClose={onClose}
      actions={<><Button onClick={onClose}>Keep</Button><Button look="danger" icon="trash" onClick={() => void remove()}>Remove</Button></>}
    >
      <p>All records go, too, and do not come back. Deterministic runs can be repeated from their scenario; real ones never give the same again.</p>
    </Dialog>
  );
}
