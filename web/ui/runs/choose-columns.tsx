// Which settings and figures the table of runs shows.

import { useState, type ReactNode } from "react";
import { Button, Dialog } from "../kit/parts";
import type { RunColumn, RunTable } from "../kit/run-messages";

const KINDS = { setting: "Settings", figure: "Figures" } as const;

interface ChooseProps {
  table: RunTable;
  /** Keys that the user has chosen; null: the server's choice. */
  columns: readonly string[] | null;
  onChange: (columns: string[] | null) => void;
  onClose: () => void;
}

export function ChooseColumns({ table, columns, onChange, onClose }: ChooseProps): ReactNode {
  const [search, setSearch] = useState("");
  const [all, setAll] = useState(false);
  const shown = new Set(columns ?? table.shown);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (one: RunColumn): boolean =>
    (all || one.differs || shown.has(one.key) || words.length > 0) && words.every((word) => `${one.key} ${one.title} ${one.unit}`.toLowerCase().includes(word));
  const toggle = ({ key }: RunColumn): void => {
    const next = new Set(shown);
    if (!next.delete(key)) next.add(key);
    // In the order of the server: settings, then figures.
    onChange(table.columns.filter((one) => next.has(one.key)).map((one) => one.key));
  };
  return (
    <Dialog
      title="Columns" onClose={onClose} wide
      actions={<><Button disabled={columns === null} onClick={() => onChange(null)}>What differs</Button><Button look="main" onClick={onClose}>Done</Button></>}
    >
      <div className="columns-head">
        <input type="search" aria-label="Search columns" placeholder="Search: rate, RTT, f1" value={search} onChange={(event) => setSearch(event.target.value)} />
        <label><input type="checkbox" checked={all} onChange={(event) => setAll(event.target.checked)} /> Also settings that are the same in all runs</label>
      </div>
      {(Object.keys(KINDS) as (keyof typeof KINDS)[]).map((kind) => {
        const those = table.columns.filter((one) => one.kind === kind && matches(one));
        return those.length > 0 && (
          <fieldset key={kind} className="columns-kind">
            <legend><h3>{KINDS[kind]}</h3></legend>
            {those.map((one) => (
              <label key={one.key} title={one.key}>
                <input type="checkbox" checked={shown.has(one.key)} onChange={() => toggle(one)} />
                <span>{one.title}{one.unit && <span className="soft"> {one.unit}</span>}</span>
              </label>
            ))}
          </fieldset>
        );
      })}
    </Dialog>
  );
}
