// "Vary this": a key gets several values, and the scenario becomes a study with a run for each.

import { useState, type ReactNode } from "react";
import { Button, Dialog } from "../kit/parts";
import type { Key } from "../kit/messages";
import { at } from "../kit/schema";
import { useForm, write } from "./edit";
import { around, listed } from "./values";

/** Parts of a scenario that a study may vary. */
const VARIED: ReadonlySet<string> = new Set(["topology", "flows", "hosts", "events", "duration"]);

interface VaryProps {
  label: string;
  of: Key;
  /** What is written, or else what holds. */
  value: string;
  numeric: boolean;
}

export function Vary({ label, of, value, numeric }: VaryProps): ReactNode {
  const form = useForm();
  const [asked, setAsked] = useState(false);
  if (!VARIED.has(String(of[0]))) return null;
  const place: Key = ["sweep", of.join(".")];
  const now = at(form.data, place);
  const values = Array.isArray(now) ? now.map(String) : null;
  const title = values ? `${label} has ${values.length} values: ${values.join(", ")}` : `Vary ${label}: a run for each of several values`;
  return (
    <>
      <Button look="quiet" icon="outline" className={values ? "vary varied" : "vary"} aria-pressed={values !== null} title={title} onClick={() => setAsked(true)} />
      {asked && <Values label={label} place={place} values={values} begin={around(value)} numeric={numeric} onClose={() => setAsked(false)} />}
    </>
  );
}

interface ValuesProps {
  label: string;
  place: Key;
  values: readonly string[] | null;
  begin: readonly string[];
  numeric: boolean;
  onClose: () => void;
}

function Values({ label, place, values, begin, numeric, onClose }: ValuesProps): ReactNode {
  const form = useForm();
  const [text, setText] = useState((values ?? begin).join("\n"));
  const found = listed(text, numeric);
  const put = (next: (string | number)[] | undefined): void => {
    const others = Object.keys((form.data["sweep"] as object | undefined) ?? {}).filter((key) => key !== place[1]);
    // A table without keys would say nothing.
    write([next || others.length > 0 ? place : ["sweep"]], next);
    onClose();
  };
  return (
    <Dialog
      title={`Vary ${label}`} onClose={onClose}
      actions={
        <>
          {values && <Button onClick={() => put(undefined)}>Vary it no more</Button>}
          <Button look="main" disabled={found.length === 0} onClick={() => put(found)}>Vary</Button>
        </>
      }
    >
      <p>
        Values of <code>{place[1]}</code>, one in a line. Each is a run of its own, and “Run” starts the study. If several keys vary, all combinations are run.
      </p>
      <textarea aria-label={`Values of ${label}`} rows={5} spellCheck={false} value={text} onChange={(event) => setText(event.target.value)} />
    </Dialog>
  );
}
