// The keys of nodes: name, kind, addresses, routing, and the settings of hosts.

import { useState, type ReactNode } from "react";
import { ConfigurationDialog } from "../files/configuration";
import { useForm } from "../forms/edit";
import { Fields, type Group } from "../forms/fields";
import { TextField } from "../forms/text-field";
import { Button } from "../kit/parts";
import { deref, type Schema } from "../kit/schema";
import type { DrawnNode } from "../kit/messages";
import { rename } from "./commands";
import { FreeBar } from "./made";
import { useEditor } from "../document/store";

const GROUPS: readonly Group[] = [
  { title: "Network", keys: ["kind", "address", "routes"] },
  { title: "Routing", keys: ["routing", "id", "asn", "timers", "networks", "customers", "peers", "providers", "clients", "frr", "bare"] },
  { title: "Machine", keys: ["cpus", "private", "sysctl"], closed: true },
];

export function NodeForm({ nodes }: { nodes: readonly DrawnNode[] }): ReactNode {
  const form = useForm();
  const drawing = useEditor((editor) => editor.document?.drawing);
  const path = useEditor((editor) => editor.path);
  const [configured, setConfigured] = useState<string | null>(null);
  const [first] = nodes;
  if (!first || !drawing) return null;
  const kinds = new Set(nodes.map((node) => node.kind));
  const of: Schema = deref(form.root, { $ref: `#/$defs/${{ host: "Host", switch: "Switch", router: "Router" }[first.kind]}` });
  // Changing the kind keeps the name and the links.
  const schema: Schema = { ...of, required: [], properties: { ...of.properties, kind: { enum: ["host", "switch", "router"], description: of.properties?.["kind"]?.description ?? "", default: "host" } } };
  const settings = deref(form.root, { $ref: "#/$defs/HostSettings" });
  const canName = nodes.length === 1 && !first.given;
  return (
    <>
      {canName && (
        <div className="field given">
          <label htmlFor="node-name">Name</label>
          <div className="control">
            <TextField id="node-name" label="Name" describedBy="node-name-help" value={first.name} placeholder="" invalid={false} onChange={(to) => rename(first.name, to)} />
          </div>
          <p id="node-name-help" className="field-help">
            At most 15 letters, digits, _ and -. Links, flows, settings and events that name it follow.
          </p>
        </div>
      )}
      {first.given && <FreeBar kind={drawing.topology} />}
      {first.addresses.length > 0 && nodes.length === 1 && (
        <dl className="facts">
          {first.addresses.map((address, i) => (
            <div key={address}>
              <dt>{first.interfaces[i] ?? `address ${i + 1}`}</dt>
              <dd>{address}</dd>
            </div>
          ))}
        </dl>
      )}
      {nodes.length === 1 && first.kind === "router" && !first.given && (
        <p className="field-help always">
          <Button icon="daemons" onClick={() => setConfigured(first.name)}>Configuration …</Button>
        </p>
      )}
      {configured !== null && <ConfigurationDialog path={path} router={configured} onClose={() => setConfigured(null)} />}
      {kinds.size === 1 && !nodes.some((node) => node.given) && <Fields schema={schema} keys={nodes.map((node) => node.key)} groups={GROUPS} />}
      {kinds.size === 1 && first.kind === "host" && (
        <section className="field-group">
          <h3>Settings of the host</h3>
          <Fields schema={settings} keys={nodes.map((node) => ["hosts", node.name])} />
        </section>
      )}
      {kinds.size > 1 && <p className="field-help always">Nodes of one kind can be changed together.</p>}
    </>
  );
}
