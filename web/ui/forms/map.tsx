// A table whose keys are free, such as sysctls or parameters of an algorithm.

import { useId, useState, type ReactNode } from "react";
import { Button } from "../kit/parts";
import type { Key } from "../kit/messages";
import { write } from "./edit";
import { isTable, shown, title, type Schema } from "../kit/schema";
import { TextField } from "./text-field";

interface MapProps {
  name: string;
  values: Schema;
  keys: readonly Key[];
  value: unknown;
  /** Keys that have fields of their own. */
  known?: readonly string[];
}

/** A typed value: numbers, truth values and lists as JSON writes them, anything else is a text. */
export function parse(text: string): unknown {
  if (/^(true|false|-?\d+(\.\d+)?|\[.*\]|\{.*\})$/s.test(text.trim())) {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  return text;
}

export function MapField({ name, keys, value, known = [] }: MapProps): ReactNode {
  const id = useId();
  const [key, setKey] = useState("");
  const rows = isTable(value) ? Object.entries(value).filter(([one]) => !known.includes(one)) : [];
  const below = (one: string): Key[] => keys.map((key) => [...key, one]);
  const add = (text: string): void => {
    if (!key.trim() || !text) return;
    write(below(key.trim()), parse(text));
    setKey("");
  };
  return (
    <div className="map-field">
      {rows.map(([one, held]) => (
        <div key={one} className="map-row">
          <code title={one}>{one}</code>
          <TextField id={`${id}-${one}`} label={`${title(name)}: ${one}`} describedBy="" value={shown(held)} placeholder="" invalid={false} onChange={(text) => write(below(one), text === "" ? undefined : parse(text))} />
          <Button look="quiet" icon="close" title={`Remove ${one}`} onClick={() => write(below(one), undefined)} />
        </div>
      ))}
      <div className="map-row">
        <input aria-label={`${title(name)}: new key`} placeholder="key" value={key} spellCheck={false} onChange={(event) => setKey(event.target.value)} />
        <TextField id={`${id}-new`} label={`${title(name)}: its value`} describedBy="" value="" placeholder="value" invalid={false} onChange={add} />
        <span />
      </div>
    </div>
  );
}
