// One key of the scenario: its name, what is written, what is wrong, what it means. The widget follows from the schema.

import { useEffect, useId, useRef, type ReactNode } from "react";
import { Button } from "../kit/parts";
import type { Key } from "../kit/messages";
import { common, sameKey, startsWith, useForm, write } from "./edit";
import { entries, entryOf } from "./entries";
import { Fields } from "./fields";
import { ListField } from "./list";
import { MapField } from "./map";
import { Quantity } from "./quantity";
import { deref, help, isTable, placeholder as told, shown, tags, title, type Schema } from "../kit/schema";
import { TextField } from "./text-field";
import { Vary } from "./vary";

interface FieldProps {
  name: string;
  schema: Schema;
  /** The places to which it writes: one, or the same key of several elements. */
  keys: readonly Key[];
  required?: boolean;
  /** What holds if nothing is written, if the schema does not know it. */
  effective?: string | undefined;
  /** Shown without its name, as in a list. */
  bare?: boolean;
  /** In place of a plain write, where the whole value is always written and cannot be left out. */
  onWrite?: ((value: unknown) => void) | undefined;
  /** In place of a plain write, also of leaving it out. */
  onWriteAll?: ((value: unknown) => void) | undefined;
}

const WORDS = /^\^\\s\*(\w+)\\s\*\$\|/;

export function Field({ name, schema: given, keys, required = false, effective, bare = false, onWrite, onWriteAll }: FieldProps): ReactNode {
  const form = useForm();
  const id = useId();
  const row = useRef<HTMLDivElement>(null);
  const schema = deref(form.root, given);
  const { value, mixed } = common(form.data, keys);
  const choices = entries(form.root, schema);
  const entry = entryOf(choices, value) ?? choices[0];
  const problems = form.problems.filter(({ key }) => key && keys.some((one) => (entry?.variant.kind.is === "table" || entry?.variant.kind.is === "list" ? sameKey(key, one) : startsWith(key, one))));
  const put = onWriteAll ?? onWrite ?? ((next: unknown) => write(keys, next));
  const isTarget = form.target !== null && keys.some((one) => form.target && sameKey(one, form.target));
  useEffect(() => {
    if (!isTarget) return;
    row.current?.scrollIntoView({ block: "center" });
    row.current?.querySelector<HTMLElement>("input, select, button")?.focus();
  }, [form.target, isTarget]);
  if (!entry) return null;

  const { kind } = entry.variant;
  const isBig = kind.is === "table" || kind.is === "list" || kind.is === "map" || kind.is === "pair";
  // Of several things that a value may be, none is shown before one is chosen, unless a plain field can hold it.
  const isOpen = value === undefined && isBig && choices.length > 1;
  const isGiven = value !== undefined || mixed;
  const label = title(name, schema);
  const ghost = mixed ? "several" : effective || told(schema) || told(entry.variant.schema);
  const common_ = { id, label, describedBy: `${id}-help`, invalid: problems.length > 0 };
  const parameters = entry.table;

  let widget: ReactNode = null;
  if (kind.is === "quantity") {
    const word = WORDS.exec(entry.variant.schema.pattern ?? "")?.[1];
    const simple = choices.filter((one) => one.variant.kind.is === "word" && !one.table).map((one) => one.id);
    widget = (
      <Quantity
        {...common_}
        value={value}
        mixed={mixed}
        units={kind.units}
        words={word ? [word, ...simple] : simple}
        placeholder={ghost}
        example={shown(entry.variant.schema.examples?.[0])}
        onChange={put}
      />
    );
  } else if (kind.is === "text" || kind.is === "number") {
    const suggestions = name === "cc" ? form.algorithms : ["from", "to", "node", "router"].includes(name) ? form.nodes : [];
    const take = (text: string): void => put(text === "" ? undefined : kind.is === "number" && text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text);
    widget = <TextField {...common_} value={shown(value)} placeholder={ghost} suggestions={suggestions} numeric={kind.is === "number"} onChange={take} />;
  } else if (kind.is === "truth") {
    const byDefault = schema.default === true;
    widget = (
      <select id={id} aria-label={label} aria-describedby={`${id}-help`} value={value === undefined ? "" : String(value)} onChange={(event) => put(event.target.value === "" ? undefined : event.target.value === "true")}>
        <option value="">{mixed ? "several" : byDefault ? "yes" : "no"}</option>
        {value !== undefined && String(value) === String(byDefault) && <option value={String(value)}>{byDefault ? "yes" : "no"}</option>}
        <option value={String(!byDefault)}>{byDefault ? "no" : "yes"}</option>
      </select>
    );
  }

  // Words that a quantity's field offers itself need no place among the choices.
  const offered = choices.filter((one) => one.variant.kind.is !== "word" || one.table !== null || !choices.some((other) => other.variant.kind.is === "quantity"));
  const chooser = (offered.length > 1 || kind.is === "word") && !(kind.is === "quantity" && offered.length === 1) && (
    <select
      className={widget ? "variants" : "words"}
      id={widget ? undefined : id}
      aria-label={widget ? `${label}: form` : label}
      aria-describedby={`${id}-help`}
      value={value === undefined && (kind.is === "word" || isOpen) ? "" : entry.id}
      onChange={(event) => {
        const chosen = choices.find((one) => one.id === event.target.value);
        put(chosen ? chosen.make(form.root) : undefined);
      }}
    >
      {(kind.is === "word" || isOpen) && !(required && isGiven) && <option value="">{mixed ? "several" : ghost || "–"}</option>}
      {offered.map((one) => (
        <option key={one.id} value={one.id}>
          {one.label}
        </option>
      ))}
    </select>
  );

  const [place] = keys;
  const isVaried = (kind.is === "quantity" || kind.is === "number" || name === "cc") && keys.length === 1 && !bare;
  const isEmpty = value === undefined && (kind.is === "list" || kind.is === "map");
  const wide = isBig && !isOpen && !isEmpty;
  return (
    <div ref={row} className={`field ${wide ? "wide-field" : ""} ${bare ? "bare-field" : ""} ${isGiven ? "given" : ""}`} data-key={keys[0]?.join(".")}>
      {!bare && (
        <label htmlFor={id} title={help(schema)}>
          {label}
        </label>
      )}
      <div className="control">
        {widget}
        {chooser}
        {isEmpty && !isOpen && kind.is === "list" && <ListField name={name} items={kind.of} keys={keys} value={value} />}
        {isEmpty && !isOpen && kind.is === "map" && <MapField name={name} values={kind.values} keys={keys} value={value} />}
        {isVaried && place && <Vary label={label} of={place} value={isGiven ? shown(value) : ghost} numeric={kind.is === "number"} />}
        {isGiven && !required && !onWrite && <Button look="quiet" icon="close" className="unset" title={`Leave ${label} out of the file`} onClick={() => put(undefined)} />}
      </div>
      {kind.is === "table" && isTable(value) && <Nested schema={kind.schema} keys={keys} />}
      {kind.is === "table" && !isTable(value) && choices.length === 1 && <Nested schema={kind.schema} keys={keys} />}
      {kind.is === "word" && parameters && <Parameters schema={parameters} keys={keys} word={value} />}
      {kind.is === "list" && !isOpen && !isEmpty && <ListField name={name} items={kind.of} keys={keys} value={value} />}
      {kind.is === "map" && !isOpen && !isEmpty && <MapField name={name} values={kind.values} keys={keys} value={value} />}
      {kind.is === "pair" && Array.isArray(value) && (
        <div className="pair">
          {kind.parts.map((part, i) => (
            <Field key={i} bare name={`${label} ${i + 1}`} schema={part} keys={keys.map((one) => [...one, i])} required onWrite={(next) => put(value.map((old, j) => (j === i ? (next ?? old) : old)))} />
          ))}
        </div>
      )}
      {problems.map((problem) => (
        <p key={problem.what} className="field-problem" role="alert">
          {problem.wrong || problem.what}
          {problem.why && `: ${problem.why}`}
          {problem.hint && <span className="hint">{problem.hint}</span>}
        </p>
      ))}
      <p id={`${id}-help`} className="field-help">
        {help(schema)}
      </p>
    </div>
  );
}

function Nested({ schema, keys, skip = [] }: { schema: Schema; keys: readonly Key[]; skip?: readonly string[] }): ReactNode {
  const tag = tags(schema);
  return (
    <div className="nested">
      <Fields schema={schema} keys={keys} skip={[...skip, ...(tag ? [tag.key] : [])]} />
    </div>
  );
}

/** The parameters of what one word stands for; the first that is given turns the word into a table. */
function Parameters({ schema, keys, word }: { schema: Schema; keys: readonly Key[]; word: unknown }): ReactNode {
  const tag = tags(schema);
  if (!tag || typeof word !== "string") return null;
  const others = Object.entries(schema.properties ?? {}).filter(([name]) => name !== tag.key);
  if (others.length === 0) return null;
  return (
    <details className="parameters">
      <summary>Parameters of {word}</summary>
      <div className="nested">
        {others.map(([name, one]) => (
          <Field key={name} name={name} schema={one} keys={keys.map((key) => [...key, name])} onWrite={(next) => next !== undefined && write(keys, { [tag.key]: word, [name]: next })} />
        ))}
      </div>
    </details>
  );
}
