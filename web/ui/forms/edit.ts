// How a form writes: to one place of the scenario, or to the same key of several elements at once.

import { createContext, useContext } from "react";
import { sendAll } from "../document/store";
import type { Edit, Key, Problem } from "../kit/messages";
import { at, type Schema } from "../kit/schema";

export interface Form {
  root: Schema;
  /** The whole text as values. */
  data: Record<string, unknown>;
  problems: readonly Problem[];
  algorithms: readonly string[];
  nodes: readonly string[];
  /** The key that was asked for, to be shown. */
  target: Key | null;
}

export const FormContext = createContext<Form | null>(null);

export function useForm(): Form {
  const form = useContext(FormContext);
  if (!form) throw new Error("a field outside a form");
  return form;
}

/** The value at several places: undefined if it is not given or if they differ. */
export function common(data: unknown, keys: readonly Key[]): { value: unknown; mixed: boolean } {
  const values = keys.map((key) => at(data, key));
  const first = JSON.stringify(values[0]);
  const mixed = values.some((value) => JSON.stringify(value) !== first);
  return { value: mixed ? undefined : values[0], mixed };
}

/** Write a value at all keys, or remove it there. */
export function write(keys: readonly Key[], value: unknown): void {
  const commands = keys.map((key): Edit => (value === undefined ? { do: "unset", key } : { do: "set", key, value }));
  void sendAll(commands, `${value === undefined ? "unset" : "set"} ${keys[0]?.at(-1)} of ${keys.length}`);
}

export function sameKey(a: Key, b: Key): boolean {
  return a.length === b.length && a.every((part, i) => part === b[i]);
}

export function startsWith(key: Key, prefix: Key): boolean {
  return prefix.every((part, i) => part === key[i]);
}
