// The keys of flows: which of them there are depends on the kind. Kinds and their keys are those of the schema.

import type { ReactNode } from "react";
import { useForm } from "../forms/edit";
import { Fields, type Group } from "../forms/fields";
import { deref, type Schema } from "../kit/schema";
import type { DrawnFlow, Edit, Key } from "../kit/messages";
import { sendAll } from "../document/store";

const ENDS: Group = { title: "From, to", keys: ["id", "from", "to"] };
const TIMES: Group = { title: "When", keys: ["start", "stop", "on", "off"] };
const MANY: Group = { title: "Many at once", keys: ["connections", "gap", "arrivals"], closed: true };
/** Keys that no group of their own has. */
const OTHER = ["protocol", "port", "ip"];

/** Kinds of flow by their names: the values of `protocol`, or else the key that only this kind has and needs. */
function kindsOf(root: Schema): Map<string, Schema> {
  const flow = deref(root, deref(root, root.properties?.flows ?? {}).items ?? {});
  return new Map((flow.oneOf ?? []).map((one) => {
    const schema = deref(root, one);
    const key = (schema.required ?? []).find((name) => !ENDS.keys.includes(name));
    return [String(schema.properties?.protocol?.const ?? key), schema];
  }));
}

/** Groups of a kind's keys; those that other kinds lack are its traffic. */
function groupsOf(schema: Schema): Group[] {
  const elsewhere = new Set([ENDS, TIMES, MANY].flatMap(({ keys }) => keys).concat(OTHER));
  const own = Object.keys(schema.properties ?? {}).filter((key) => !elsewhere.has(key));
  return [ENDS, { title: "Traffic", keys: own }, TIMES, MANY];
}

/** "UDP at a constant rate", of a description that goes on after that. */
const label = (schema: Schema): string => (schema.description ?? "").split(/[:,.]/)[0] ?? "";

export function FlowForm({ flows }: { flows: readonly DrawnFlow[] }): ReactNode {
  const { root } = useForm();
  const [first] = flows;
  if (!first) return null;
  const kinds = new Set(flows.map((flow) => flow.protocol));
  const known = kindsOf(root);
  const schema = known.get(first.protocol) ?? {};
  const keys = flows.map((flow) => flow.key);
  const become = (protocol: string): void => {
    const commands = flows.flatMap(({ key, written }): Edit[] => {
      const next = known.get(protocol) ?? {};
      const dropped = Object.keys(written).filter((name) => !(name in (next.properties ?? {})));
      const needed = (next.required ?? []).filter((name) => !(name in written) && name !== "protocol");
      return [
        ...dropped.map((name): Edit => ({ do: "unset", key: [...key, name] })),
        ...named(key, next, "protocol" in written && !dropped.includes("protocol")),
        ...needed.map((name): Edit => ({ do: "set", key: [...key, name], value: example(next, name, root) })),
      ];
    });
    void sendAll(commands, `make it ${protocol}`);
  };
  return (
    <>
      <div className="field given">
        <label htmlFor="flow-kind">Kind</label>
        <div className="control">
          <select id="flow-kind" value={kinds.size === 1 ? first.protocol : ""} onChange={(event) => become(event.target.value)}>
            {kinds.size > 1 && <option value="">several</option>}
            {[...known].map(([name, one]) => <option key={name} value={name}>{label(one)}</option>)}
          </select>
        </div>
      </div>
      {kinds.size === 1 && <Fields schema={schema} keys={keys} groups={groupsOf(schema)} skip={["protocol"]} />}
    </>
  );
}

/** Write the key `protocol` of kinds that need it. */
function named(key: Key, schema: Schema, isWritten: boolean): Edit[] {
  if (schema.required?.includes("protocol")) return [{ do: "set", key: [...key, "protocol"], value: schema.properties?.protocol?.const }];
  return isWritten ? [{ do: "unset", key: [...key, "protocol"] }] : [];
}

function example(schema: Schema, name: string, root: Schema): unknown {
  const of = deref(root, schema.properties?.[name] ?? {});
  return of.examples?.[0] ?? of.default ?? "";
}
