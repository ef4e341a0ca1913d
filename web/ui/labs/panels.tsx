// What can be done to a node or a link of a lab that is up.

import { useEffect, useState, type ReactNode } from "react";
import { ConfigurationDialog } from "../files/configuration";
import { Button } from "../kit/parts";
import type { LabAnswer, LabState } from "../kit/run-messages";
import { ask } from "./ask";
import type { Want } from "./rewire";
import type { Lab } from "./use-lab";

interface NodeProps {
  base: string;
  lab: Lab;
  name: string;
  places: readonly string[];
  onTerminal: (node: string, program: "shell" | "vtysh") => Promise<void>;
  onAnswer: (answer: LabAnswer | null) => void;
  onPackets: (of: string[]) => void;
  onWant: Want;
}

export function NodePanel({ base, lab, name, places, onTerminal, onAnswer, onPackets, onWant }: NodeProps): ReactNode {
  const node = (lab.state as LabState).nodes.find((one) => one.name === name);
  const others = places.filter((one) => one !== name);
  const [to, setTo] = useState("");
  const [busy, setBusy] = useState("");
  const [configures, setConfigures] = useState(false);
  const { scenario } = lab.state as LabState;
  const target = others.includes(to) ? to : (others[0] ?? "");
  if (!node) return null;
  const change = (
    <div className="lab-buttons">
      <Button icon="link" onClick={() => onWant({ do: "link", ends: [name] })}>Link with …</Button>
      <Button look="danger" icon="trash" onClick={() => onWant({ do: "remove", part: { kind: "node", name } })}>Remove</Button>
    </div>
  );
  if (!node.runs_programs) {
    return (
      <section className="lab-panel" aria-label={`Node ${name}`}>
        <h2>{name} <span className="soft">{node.kind}</span></h2>
        <p>{node.waits ? "It comes up with its first link." : "No program runs in a switch. Choose one of its links to change it."}</p>
        {change}
      </section>
    );
  }
  const question = async (what: "ping" | "why" | "routes" | "neighbours" | "sockets"): Promise<void> => {
    setBusy(what);
    onAnswer(await ask<LabAnswer>(`${base}/ask`, { do: what, node: name, to: what === "ping" || what === "why" ? target : null }));
    setBusy("");
  };
  const daemon = (which: string, up: boolean): void => void ask(`${base}/daemon`, { router: name, daemon: which, up });
  const daemons = Object.entries(node.daemons);
  return (
    <section className="lab-panel" aria-label={`Node ${name}`}>
      <h2>{name} <span className="soft">{node.kind}</span></h2>
      <dl>
        {node.interfaces.map(([one, addresses]) => (
          <div key={one}>
            <dt>{one}</dt>
            <dd>
              <span>{addresses.join(", ")}</span>
              <Button look="quiet" title={`List the packets at ${name} ${one}`} onClick={() => onPackets([name, one])}>Packets</Button>
            </dd>
          </div>
        ))}
      </dl>
      <div className="lab-buttons">
        <Button look="main" icon="terminal" onClick={() => void onTerminal(name, "shell")}>Terminal</Button>
        {daemons.length > 0 && <Button icon="terminal" onClick={() => void onTerminal(name, "vtysh")}>vtysh</Button>}
        {daemons.length > 0 && scenario.endsWith(".toml") && <Button icon="daemons" onClick={() => setConfigures(true)}>Configuration …</Button>}
        <Button disabled={busy !== ""} onClick={() => void question("routes")}>Routes</Button>
        <Button disabled={busy !== ""} onClick={() => void question("neighbours")}>Neighbours</Button>
        <Button disabled={busy !== ""} onClick={() => void question("sockets")}>Sockets</Button>
      </div>
      {others.length > 0 && (
        <div className="lab-buttons">
          <select aria-label="The other node" value={target} onChange={(event) => setTo(event.target.value)}>
            {others.map((one) => <option key={one}>{one}</option>)}
          </select>
          <Button disabled={busy !== ""} onClick={() => void question("ping")}>{busy === "ping" ? "Pinging…" : "Ping"}</Button>
          <Button disabled={busy !== ""} onClick={() => void question("why")} title="Draw the path of packets, and say why they are lost if they are">{busy === "why" ? "Looking…" : "Why"}</Button>
        </div>
      )}
      {daemons.length > 0 && (
        <ul className="lab-daemons">
          {daemons.map(([which, runs]) => (
            <li key={which}>
              <code>{which}</code> <span className={runs ? "" : "cut"}>{runs ? "runs" : "stopped"}</span>
              <Button look="quiet" onClick={() => daemon(which, !runs)}>{runs ? "Kill" : "Start"}</Button>
            </li>
          ))}
        </ul>
      )}
      {change}
      {configures && <ConfigurationDialog path={scenario} router={name} note="The lab keeps what it has: a lab that is started later has it." onClose={() => setConfigures(false)} />}
    </section>
  );
}

export const LINK_FIELDS = [
  { key: "rate", title: "Rate", example: "unlimited" },
  { key: "delay", title: "Delay", example: "20 ms" },
  { key: "loss", title: "Loss", example: "1 %" },
  { key: "buffer", title: "Buffer", example: "100 packets" },
] as const;

interface CableProps {
  base: string;
  lab: Lab;
  names: readonly string[];
  onPackets: (of: string[]) => void;
  onWant: Want;
}

export function CablePanel({ base, lab, names, onPackets, onWant }: CableProps): ReactNode {
  const links = (lab.state as LabState).links.filter(({ name }) => names.includes(name));
  const [side, setSide] = useState<string>("");
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  useEffect(() => setValues({}), [names.join()]);
  const there = links[0];
  if (!there) return null;
  const of = side && names.includes(side) ? [side] : names;
  const down = links.some(({ up }) => !up);
  const change = async (keys: Record<string, string>): Promise<void> => {
    for (const name of of) if (!(await ask(`${base}/link`, { of: [name], keys }))) return;
    setValues({});
  };
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim()));
  return (
    <section className="lab-panel" aria-label={`Link ${there.sender} to ${there.receiver}`}>
      <h2>{there.sender} – {there.receiver} <span className={down ? "cut" : "soft"}>{down ? "down" : "up"}</span></h2>
      <ul className="lab-links">
        {links.map(({ name, words }) => <li key={name}>{words}</li>)}
      </ul>
      <form onSubmit={(event) => (event.preventDefault(), void change(given))}>
        {names.length > 1 && (
          <label className="lab-field">
            <span>Direction</span>
            <select value={side} onChange={(event) => setSide(event.target.value)}>
              <option value="">both</option>
              {links.map(({ name, sender, receiver }) => <option key={name} value={name}>{sender} → {receiver}</option>)}
            </select>
          </label>
        )}
        {LINK_FIELDS.map(({ key, title, example }) => (
          <label className="lab-field" key={key}>
            <span>{title}</span>
            <input value={values[key] ?? ""} placeholder={key === "rate" ? there.rate || example : key === "delay" ? there.delay : example} onChange={(event) => setValues({ ...values, [key]: event.target.value })} />
          </label>
        ))}
        <div className="lab-buttons">
          <Button look="main" type="submit" disabled={Object.keys(given).length === 0}>Change now</Button>
          {down ? (
            <Button onClick={() => void change({ up: "true" })}>Take up</Button>
          ) : (
            <>
              <Button onClick={() => void change({ up: "false", carrier: "lost" })} title="As if the cable were pulled: interfaces lose their carrier">Take down</Button>
              <Button look="quiet" onClick={() => void change({ up: "false" })} title="Packets are dropped, and interfaces notice nothing">Silence</Button>
            </>
          )}
          <Button look="quiet" onClick={() => onPackets(of.length === 1 ? [...of] : [there.sender, there.receiver])} title="List the packets, and what the link does to each">Packets</Button>
          <Button look="danger" icon="trash" onClick={() => onWant({ do: "remove", part: { kind: "cable", links: names } })}>Remove</Button>
        </div>
      </form>
    </section>
  );
}
