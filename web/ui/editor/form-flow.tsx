// The keys of flows: which of them there are depends on the protocol.

import type { ReactNode } from "react";
import { useForm } from "../forms/edit";
import { Fields, type Group } from "../forms/fields";
import { deref, type Schema } from "../forms/schema";
import type { DrawnFlow, Edit, Key } from "../messages";
import { sendAll } from "./store";

const SCHEMAS = { tcp: "TcpFlow", udp: "UdpFlow", ping: "PingFlow", command: "CommandFlow" } as const;

const GROUPS: readonly Group[] = [
  { title: "From, to", keys: ["id", "from", "to"] },
  { title: "Traffic", keys: ["cc", "rate", "interval", "command", "server_command", "mix", "bytes", "sizes", "payload", "echo", "ecn"] },
  { title: "When", keys: ["start", "stop", "on", "off"] },
  { title: "Many at once", keys: ["connections", "gap", "arrivals"], closed: true },
];

export function FlowForm({ flows }: { flows: readonly DrawnFlow[] }): ReactNode {
  const { root } = useForm();
  const [first] = flows;
  if (!first) return null;
  const kinds = new Set(flows.map((flow) => flow.protocol));
  const schema = deref(root, { $ref: `#/$defs/${SCHEMAS[first.protocol]}` });
  const keys = flows.map((flow) => flow.key);
  const become = (protocol: string): void => {
    const commands = flows.flatMap(({ key, written }): Edit[] => {
      const next = deref(root, { $ref: `#/$defs/${SCHEMAS[protocol as keyof typeof SCHEMAS]}` });
      const known = new Set(Object.keys(next.properties ?? {}));
      const dropped = Object.keys(written).filter((name) => !known.has(name));
      const needed = (next.required ?? []).filter((name) => !(name in written) && name !== "protocol");
      return [
        ...dropped.map((name): Edit => ({ do: "unset", key: [...key, name] })),
        ...said(key, protocol, "protocol" in written && !dropped.includes("protocol")),
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
            <option value="tcp">TCP</option>
            <option value="udp">UDP at a constant rate</option>
            <option value="ping">Echo requests</option>
            <option value="command">A program</option>
          </select>
        </div>
      </div>
      {kinds.size === 1 && <Fields schema={schema} keys={keys} groups={GROUPS} skip={["protocol"]} />}
    </>
  );
}

/** TCP needs no word; a program has its command in place of one. */
function said(key: Key, protocol: string, isWritten: boolean): Edit[] {
  if (protocol !== "tcp" && protocol !== "command") return [{ do: "set", key: [...key, "protocol"], value: protocol }];
  return isWritten ? [{ do: "unset", key: [...key, "protocol"] }] : [];
}

function example(schema: Schema, name: string, root: Schema): unknown {
  const of = deref(root, schema.properties?.[name] ?? {});
  return of.examples?.[0] ?? of.default ?? "";
}
