// A list: its entries, one more, one less. Lists of tables are written entry by entry, so that comments stay with them.

import type { ReactNode } from "react";
import { send } from "../document/store";
import { Button } from "../kit/parts";
import type { Key } from "../kit/messages";
import { useForm, write } from "./edit";
import { seed } from "./entries";
import { Field } from "./field";
import { deref, isTable, title, type Schema } from "../kit/schema";

interface ListProps {
  name: string;
  items: Schema;
  keys: readonly Key[];
  value: unknown;
}

/** `[[events]]`, `[[sweep.cases]]`: their entries are tables of their own in the text. */
function isTables(items: Schema, root: Schema, key: Key): boolean {
  return key.length <= 2 && typeof key[0] === "string" && deref(root, items).type === "object";
}

/** What tells an entry from others at a glance. */
function summary(entry: unknown): string {
  if (!isTable(entry)) return "";
  const said = ["at", "link", "router", "daemon", "name", "node", "metric", "rate", "delay", "up", "down_for", "command"];
  return said
    .filter((key) => entry[key] !== undefined && typeof entry[key] !== "object")
    .slice(0, 4)
    .map((key) => (key === "up" ? (entry[key] === false ? "down" : "up") : String(entry[key])))
    .join(" · ");
}

export function ListField({ name, items, keys, value }: ListProps): ReactNode {
  const form = useForm();
  const list = Array.isArray(value) ? value : [];
  const [key] = keys;
  if (!key || keys.length > 1) return <p className="field-help always">Select one element to change its list.</p>;
  const tables = isTables(items, form.root, key);
  const first = seed(form.root, items);
  const add = (): void => void (tables ? send({ do: "add_item", key, value: first }) : write([key], [...list, first]));
  const drop = (i: number): void => void (tables ? send({ do: "remove_item", key: [...key, i] }) : write([key], list.length > 1 ? list.filter((_, j) => j !== i) : undefined));
  return (
    <div className="list-field">
      {list.map((entry, i) => (
        <div key={i} className={tables ? "list-table" : "list-entry"}>
          {tables ? (
            <details open={form.target !== null && form.target[key.length] === i && key.every((part, j) => form.target?.[j] === part)}>
              <summary>
                <span>{summary(entry) || `${title(name)} ${i + 1}`}</span>
              </summary>
              <Field bare name={name} schema={items} keys={[[...key, i]]} required />
            </details>
          ) : (
            <Field bare name={`${title(name)} ${i + 1}`} schema={items} keys={[[...key, i]]} required onWrite={isTable(entry) ? undefined : (next) => write([key], list.map((old, j) => (j === i ? (next ?? old) : old)))} />
          )}
          <Button look="quiet" icon="trash" title={`Remove ${title(name)} ${i + 1}`} onClick={() => drop(i)} />
        </div>
      ))}
      <Button look="quiet" icon="add" onClick={add}>
        Add{list.length === 0 ? "" : " another"}
      </Button>
    </div>
  );
}
