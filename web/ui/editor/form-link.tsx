// The keys of a link: both ways at once, or each direction in a column of its own.

import { useState, type ReactNode } from "react";
import { Button } from "../kit/parts";
import { Field } from "../forms/field";
import { Fields, type Group } from "../forms/fields";
import { at, deref, topologySchema, type Schema } from "../kit/schema";
import { useForm, write } from "../forms/edit";
import { sendAll } from "../document/store";
import { Annotated } from "./made";
import type { DrawnDirection, DrawnLink, Edit, Key } from "../kit/messages";

const GROUPS: readonly Group[] = [
  { title: "Rate and queue", keys: ["rate", "buffer", "queue", "overhead"] },
  { title: "Delay", keys: ["delay", "jitter", "reordering", "reorder", "delay_line"] },
  { title: "Loss", keys: ["loss", "duplicate", "corrupt", "mark"] },
  { title: "Limits and state", keys: ["policer", "slots", "up"], closed: true },
];

/** What holds where nothing is written, in the words of the plan. */
function effective(direction: DrawnDirection | null | undefined): Record<string, string | undefined> {
  if (!direction) return {};
  return { rate: direction.rate, delay: direction.delay, buffer: direction.buffer, queue: direction.queue, loss: direction.loss || "none" };
}

/** The schema of the table at a key: of a link of a graph, or of a preset's `bottleneck`, `link`, ... */
function schemaOf(root: Schema, data: Record<string, unknown>, key: Key): Schema {
  if (key[1] === "links") return root.$defs?.["Cable"] ?? {};
  const preset = topologySchema(root, data)?.properties?.[String(key[1])] ?? (key[1] === "link" ? { $ref: "#/$defs/CableKeys" } : undefined);
  return preset ? deref(root, preset) : (root.$defs?.["CableKeys"] ?? {});
}

export function LinkForm({ links }: { links: readonly DrawnLink[] }): ReactNode {
  const form = useForm();
  const [first] = links;
  const unique = [...new Map(links.map((link) => [JSON.stringify(link.key), link.key])).values()];
  const schema = first ? schemaOf(form.root, form.data, first.key) : {};
  const reverse = deref(form.root, schema.properties?.["reverse"] ?? {});
  const names = Object.keys(reverse.properties ?? {});
  /** True if the reverse direction takes a key over from the forward one unless it is given. */
  const isTakenOver = (name: string): boolean => reverse["x-as-forward"]?.includes(name) ?? false;
  const alike = names.every((name) =>
    unique.every((key) => {
      const [there, back] = [at(form.data, [...key, name]), at(form.data, [...key, "reverse", name])];
      return JSON.stringify(there) === JSON.stringify(back) || (back === undefined && isTakenOver(name));
    }),
  );
  const [split, setSplit] = useState(!alike);
  const both = !split && alike;
  if (!first) return null;
  const made = links.some((link) => link.given) && first.key[1] !== "links";
  const groups = GROUPS.map((group) => ({ ...group, keys: group.keys.filter((name) => name in (schema.properties ?? {})) }));
  const grouped = new Set(GROUPS.flatMap((group) => group.keys));
  const rest = Object.keys(schema.properties ?? {}).filter((name) => !grouped.has(name) && name !== "reverse");
  const [a, b] = first.between;

  const setBoth = (name: string, value: unknown): void => {
    const commands = unique.flatMap((key): Edit[] => {
      const there: Edit = value === undefined ? { do: "unset", key: [...key, name] } : { do: "set", key: [...key, name], value };
      const back: Key = [...key, "reverse", name];
      if (isTakenOver(name) || value === undefined) return at(form.data, back) === undefined ? [there] : [there, { do: "unset", key: back }];
      return [there, { do: "set", key: back, value }];
    });
    void sendAll(commands, `set ${name} both ways`);
  };
  const makeAlike = (): void => {
    const commands = unique.flatMap((key) =>
      names.flatMap((name): Edit[] => {
        const [there, back] = [at(form.data, [...key, name]), at(form.data, [...key, "reverse", name])];
        if (isTakenOver(name)) return back === undefined ? [] : [{ do: "unset", key: [...key, "reverse", name] }];
        if (JSON.stringify(there) === JSON.stringify(back)) return [];
        return there === undefined ? [{ do: "unset", key: [...key, "reverse", name] }] : [{ do: "set", key: [...key, "reverse", name], value: there }];
      }),
    );
    setSplit(false);
    if (!alike) void sendAll(commands, "same both ways");
  };
  const column = (name: string, back: boolean): ReactNode => (
    <Field
      key={name}
      name={name}
      schema={(back ? reverse : schema).properties?.[name] ?? {}}
      keys={unique.map((key) => (back ? [...key, "reverse", name] : [...key, name]))}
      required={!back && (schema.required?.includes(name) ?? false)}
      effective={effective(back ? first.back : first.forward)[name]}
    />
  );
  const one = (name: string): ReactNode =>
    both && names.includes(name) ? (
      <Field
        key={name}
        name={name}
        schema={schema.properties?.[name] ?? {}}
        keys={unique.map((key) => [...key, name])}
        required={schema.required?.includes(name) ?? false}
        effective={effective(first.forward)[name]}
        onWriteAll={(value) => setBoth(name, value)}
      />
    ) : names.includes(name) ? (
      <div key={name} className="two-ways">
        {column(name, false)}
        {column(name, true)}
      </div>
    ) : (
      column(name, false)
    );
  return (
    <>
      {made && <Annotated links={links} />}
      <div className="ways">
        <Button look="quiet" icon={both ? "lock" : "unlock"} aria-pressed={both} onClick={() => (both ? setSplit(true) : makeAlike())} title={both ? "Give each direction values of its own" : "Give the way back the values of the way there"}>
          {both ? "Same both ways" : "Each way its own"}
        </Button>
      </div>
      {!both && (
        <div className="two-ways way-names" aria-hidden="true">
          <span>
            {a} → {b}
          </span>
          <span>
            {b} → {a}
          </span>
        </div>
      )}
      {groups.map((group) => (
        <LinkGroup key={group.title} title={group.title} closed={group.closed ?? false} open={group.keys.some((name) => unique.some((key) => at(form.data, [...key, name]) !== undefined || at(form.data, [...key, "reverse", name]) !== undefined))}>
          {group.keys.map(one)}
        </LinkGroup>
      ))}
      {rest.length > 0 && (
        <LinkGroup title="Name, addresses, cost" closed open={rest.some((name) => name !== "between" && unique.some((key) => at(form.data, [...key, name]) !== undefined))}>
          {rest.filter((name) => name !== "between").map((name) => column(name, false))}
          {rest.includes("between") && links.length === 1 && <Ends keyOf={first.key} between={first.between} />}
        </LinkGroup>
      )}
      <Unknown schema={schema} keys={unique} />
    </>
  );
}

/** Keys that links do not have, so that they can be removed. */
function Unknown({ schema, keys }: { schema: Schema; keys: readonly Key[] }): ReactNode {
  return <Fields schema={schema} keys={keys} skip={Object.keys(schema.properties ?? {})} />;
}

function Ends({ keyOf, between }: { keyOf: Key; between: readonly [string, string] }): ReactNode {
  const { nodes } = useForm();
  const choose = (i: number, name: string): void => write([[...keyOf, "between"]], i === 0 ? [name, between[1]] : [between[0], name]);
  return (
    <div className="field" data-key={[...keyOf, "between"].join(".")}>
      <span className="label">Between</span>
      <div className="control">
        {between.map((end, i) => (
          <select key={i} aria-label={i === 0 ? "From" : "To"} value={end} onChange={(event) => choose(i, event.target.value)}>
            {[...new Set([end, ...nodes])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        ))}
      </div>
    </div>
  );
}

function LinkGroup({ title, closed, open, children }: { title: string; closed: boolean; open: boolean; children: ReactNode }): ReactNode {
  return closed ? (
    <details className="field-group" open={open || undefined}>
      <summary>{title}</summary>
      {children}
    </details>
  ) : (
    <section className="field-group">
      <h3>{title}</h3>
      {children}
    </section>
  );
}
