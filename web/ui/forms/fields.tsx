// All keys of a table, in groups. What no group names stands in the last one, so that nothing is missing.

import type { ReactNode } from "react";
import { Button } from "../kit/parts";
import type { Key } from "../kit/messages";
import { common, startsWith, useForm, write } from "./edit";
import { Field } from "./field";
import { MapField } from "./map";
import { isTable, type Schema } from "../kit/schema";

export interface Group {
  title: string;
  keys: readonly string[];
  /** Closed until it is opened, or something in it is given or wrong. */
  closed?: boolean;
}

interface FieldsProps {
  schema: Schema;
  keys: readonly Key[];
  groups?: readonly Group[];
  skip?: readonly string[];
  effective?: Readonly<Record<string, string | undefined>>;
}

export function Fields({ schema, keys, groups = [], skip = [], effective = {} }: FieldsProps): ReactNode {
  const form = useForm();
  const names = Object.keys(schema.properties ?? {}).filter((name) => !skip.includes(name));
  const field = (name: string): ReactNode => (
    <Field key={name} name={name} schema={schema.properties?.[name] ?? {}} keys={keys.map((key) => [...key, name])} required={schema.required?.includes(name) ?? false} effective={effective[name]} />
  );
  const grouped = new Set(groups.flatMap((group) => group.keys));
  const rest = names.filter((name) => !grouped.has(name));
  const { value } = common(form.data, keys);
  const unknown = isTable(value) && schema.additionalProperties === false ? Object.keys(value).filter((name) => !(name in (schema.properties ?? {}))) : [];
  const free = schema.properties && (schema.additionalProperties === true || typeof schema.additionalProperties === "object") ? schema.additionalProperties : null;
  return (
    <>
      {unknown.map((name) => (
        <p key={name} className="field-problem" role="alert">
          {form.problems.find((one) => one.key && keys.some((key) => startsWith(one.key ?? [], [...key, name])))?.what ?? `${name}: this kind has no such key`}{" "}
          <Button look="quiet" onClick={() => write(keys.map((key) => [...key, name]), undefined)}>
            Remove {name}
          </Button>
        </p>
      ))}
      {groups.map((group) => {
        const of = group.keys.filter((name) => names.includes(name));
        return of.length > 0 && <Section key={group.title} title={group.title} closed={group.closed ?? false} open={touched(form, keys, of)} children={of.map(field)} />;
      })}
      {rest.length > 0 && (groups.length > 0 ? <Section title="More" closed open={touched(form, keys, rest)} children={rest.map(field)} /> : rest.map(field))}
      {free && <MapField name="Others" values={free === true ? {} : free} keys={keys} value={value} known={Object.keys(schema.properties ?? {})} />}
    </>
  );
}

function touched(form: { data: unknown; problems: readonly { key: Key | null }[]; target: Key | null }, keys: readonly Key[], names: readonly string[]): boolean {
  return names.some((name) =>
    keys.some((key) => {
      const here = [...key, name];
      return common(form.data, [here]).value !== undefined || form.problems.some((one) => one.key && startsWith(one.key, here)) || (form.target !== null && startsWith(form.target, here));
    }),
  );
}

function Section({ title, closed, open, children }: { title: string; closed: boolean; open: boolean; children: ReactNode }): ReactNode {
  if (!closed) {
    return (
      <section className="field-group">
        <h3>{title}</h3>
        {children}
      </section>
    );
  }
  return (
    <details className="field-group" open={open || undefined}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}
