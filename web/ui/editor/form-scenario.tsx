// The keys of the whole scenario: its name and length, the network as a whole, events, records, study.

import type { ReactNode } from "react";
import { useForm } from "../forms/edit";
import { Field } from "../forms/field";
import { Fields } from "../forms/fields";
import { at, deref, topologySchema } from "../kit/schema";
import { useEditor } from "../document/store";

/** Sections of the form, with the keys of the file that each shows. Others follow behind, each by itself. */
const SECTIONS: readonly { title: string; keys: readonly string[]; open?: boolean }[] = [
  { title: "Scenario", keys: ["name", "description", "duration", "seed"], open: true },
  { title: "Events", keys: ["events"] },
  { title: "Programs", keys: ["programs"] },
  { title: "Settings of all hosts", keys: ["hosts"] },
  { title: "Records", keys: ["record"] },
  { title: "Study", keys: ["repeat", "sweep", "expect"] },
  { title: "Plots of the study", keys: ["report"] },
  { title: "Emulation", keys: ["emulate"] },
  { title: "Simulation", keys: ["simulate"] },
];
/** Shown as nodes, links and flows of the drawing. */
const DRAWN = ["topology", "flows"];

export function ScenarioForm(): ReactNode {
  const form = useForm();
  const drawing = useEditor((editor) => editor.document?.drawing);
  const target = String(form.target?.[0] ?? "");
  const properties = form.root.properties ?? {};
  const known = new Set([...SECTIONS.flatMap((section) => section.keys), ...DRAWN]);
  const others = Object.keys(properties).filter((name) => !known.has(name));
  const sections = [...SECTIONS, ...others.map((name) => ({ title: name.charAt(0).toUpperCase() + name.slice(1), keys: [name], open: false }))];
  const hosts = new Set(drawing?.nodes.map((node) => node.name));
  const unknown = Object.keys(form.data).filter((name) => !(name in properties));
  const [first, ...rest] = sections.map(({ title, keys, open = false }) => {
    const wrong = form.problems.some(({ key }) => key && keys.includes(String(key[0])));
    const given = keys.some((name) => form.data[name] !== undefined);
    return (
      <details key={title} className="field-group" open={open || wrong || keys.includes(target) || undefined}>
        <summary>
          {title}
          {given && !open && <span className="dot" title="given in the file" />}
        </summary>
        {keys.map((name) => {
          const schema = deref(form.root, properties[name] ?? {});
          if (name === "hosts") return <Fields key={name} schema={{ ...schema, additionalProperties: false, properties: { ...schema.properties, ...Object.fromEntries(Object.keys((form.data["hosts"] as object) ?? {}).filter((host) => hosts.has(host)).map((host) => [host, { $ref: "#/$defs/HostSettings" }])) } }} keys={[[name]]} />;
          if (schema.properties && keys.length === 1) return <Fields key={name} schema={schema} keys={[[name]]} />;
          return <Field key={name} name={name} schema={schema} keys={[[name]]} required={form.root.required?.includes(name) ?? false} bare={keys.length === 1} />;
        })}
      </details>
    );
  });
  return (
    <>
      {unknown.length > 0 && <Fields schema={{ properties: {}, additionalProperties: false }} keys={[[]]} />}
      {first}
      <Topology isTarget={target === "topology"} />
      {rest}
    </>
  );
}

/** Keys of the network as a whole. The links and nodes of a free one have forms of their own. */
function Topology({ isTarget }: { isTarget: boolean }): ReactNode {
  const form = useForm();
  const kind = at(form.data, ["topology", "kind"]);
  const schema = topologySchema(form.root, form.data);
  const wrong = form.problems.some(({ key }) => key?.[0] === "topology");
  if (!schema) {
    return <Field name="topology" schema={{ ...form.root.properties?.["topology"] }} keys={[["topology"]]} required />;
  }
  const isFree = kind === "graph";
  return (
    <details className="field-group" open={!isFree || wrong || isTarget || undefined}>
      <summary>{isFree ? "Network" : `Network: ${String(kind)}`}</summary>
      <Fields schema={schema} keys={[["topology"]]} skip={isFree ? ["kind", "nodes", "links"] : ["kind"]} />
    </details>
  );
}
