// Nodes and links that are added to a lab that is up, or removed: what can be done, and the dialogs that ask for the rest.

import { useId, useState, type ReactNode } from "react";
import { expect } from "../document/places";
import type { Action } from "../kit/actions";
import type { Point } from "../kit/messages";
import { Button, Dialog, forgetProblems, toast } from "../kit/parts";
import type { AddLink, AddNode, LabState, PartKeys, Rewired } from "../kit/run-messages";
import { ask } from "./ask";
import type { Chosen } from "./drawing";
import { LINK_FIELDS } from "./panels";

type Kind = AddNode["kind"];
type Part = Exclude<Chosen, null>;

/** A change of the network that somebody has asked for; `spot`: where in the drawing. */
export type Wanted = { do: "node"; kind: Kind; spot: Point | null } | { do: "link"; ends: readonly string[] } | { do: "remove"; part: Part };
export type Want = (wanted: Wanted) => void;

/** Actions that add; `ends`: nodes that a new link begins with. */
export function additions(want: Want, can: () => boolean, ends: readonly string[], spot: Point | null = null): Action[] {
  const node = (kind: Kind, key: string): Action => ({ id: `lab-add-${kind}`, title: `Add a ${kind}`, group: "Lab", icon: kind, keys: [key], can, run: () => want({ do: "node", kind, spot }) });
  return [
    node("host", "H"), node("switch", "S"), node("router", "R"),
    { id: "lab-add-link", title: ends[0] ? `Link ${ends[0]} with …` : "Add a link", group: "Lab", icon: "link", keys: ["L"], can, run: () => want({ do: "link", ends }) },
  ];
}

/** The action that removes what is chosen. */
export function removal(want: Want, can: () => boolean, part: Chosen): Action {
  const title = part?.kind === "cable" ? "Remove the link" : `Remove ${part?.name ?? "the chosen node or link"}`;
  return { id: "lab-remove", title, group: "Lab", icon: "trash", keys: ["Delete", "Backspace"], can: () => can() && part !== null, run: () => part && want({ do: "remove", part }) };
}

interface Props {
  base: string;
  state: LabState;
  chosen: Chosen;
  wanted: Wanted;
  /** `part`: what to choose from then on. */
  onDone: (part: Chosen) => void;
  onClose: () => void;
}

export function Rewire(props: Props): ReactNode {
  const { wanted } = props;
  if (wanted.do === "node") return <NewNode {...props} kind={wanted.kind} spot={wanted.spot} />;
  if (wanted.do === "link") return <NewLink {...props} ends={wanted.ends} />;
  return <Removal {...props} part={wanted.part} />;
}

/** Changes the network, and says what is left to the user; null if it was refused. */
async function rewire(path: string, asked: object): Promise<Rewired | null> {
  const made = await ask<Rewired>(path, asked);
  made?.left_to_do.forEach((one) => toast(one));
  return made;
}

const NONE: PartKeys = { fields: {}, typed: "" };

function NewNode({ base, state, chosen, kind, spot, onDone, onClose }: Props & { kind: Kind; spot: Point | null }): ReactNode {
  const names = state.nodes.map(({ name }) => name);
  const [name, setName] = useState(() => free(kind, names));
  const near = chosen?.kind === "node" ? chosen.name : state.nodes.find((one) => one.kind === "switch" && !one.waits)?.name;
  const [neighbour, setNeighbour] = useState(near ?? "");
  const [keys, setKeys] = useState(NONE);
  const [link, setLink] = useState(NONE);
  const add = async (): Promise<boolean> => {
    const asked: AddNode = { kind, name: name.trim(), keys, neighbour: neighbour || null, link };
    if (spot) expect(asked.name, spot);
    const made = await rewire(`${base}/add-node`, asked);
    if (made) onDone({ kind: "node", name: asked.name });
    return made !== null;
  };
  return (
    <Form title={`Add a ${kind}`} action="Add" onDo={add} onClose={onClose}>
      <Field title="Name" value={name} onChange={setName} />
      {kind === "host" && <Field title="Address" placeholder="assigned" value={keys.fields.address ?? ""} onChange={(address) => setKeys(withField(keys, "address", address))} />}
      <label className="lab-field">
        <span>Linked to</span>
        <select value={neighbour} onChange={(event) => setNeighbour(event.target.value)}>
          <option value="">no node yet</option>
          {names.map((one) => <option key={one}>{one}</option>)}
        </select>
      </label>
      {neighbour ? <LinkFields keys={link} onChange={setLink} /> : <p className="soft">It comes up with its first link.</p>}
      <details className="lab-more">
        <summary>Further keys</summary>
        <Field title={`The ${kind}`} placeholder={kind === "switch" ? "bridge=true" : 'private=["/var/log"]'} value={keys.typed} onChange={(typed) => setKeys({ ...keys, typed })} />
        {neighbour && <Field title="The link" placeholder="mtu=9000 name=core" value={link.typed} onChange={(typed) => setLink({ ...link, typed })} />}
      </details>
    </Form>
  );
}

function NewLink({ base, state, ends, onDone, onClose }: Props & { ends: readonly string[] }): ReactNode {
  const names = state.nodes.map(({ name }) => name);
  const [from, setFrom] = useState(ends[0] ?? names[0] ?? "");
  const [to, setTo] = useState(() => ends[1] ?? names.find((one) => one !== from) ?? "");
  const [keys, setKeys] = useState(NONE);
  const add = async (): Promise<boolean> => {
    const asked: AddLink = { ends: [from, to], keys };
    const made = await rewire(`${base}/add-link`, asked);
    if (made) onDone({ kind: "cable", links: made.links });
    return made !== null;
  };
  const end = (title: string, value: string, change: (name: string) => void): ReactNode => (
    <label className="lab-field">
      <span>{title}</span>
      <select value={value} onChange={(event) => change(event.target.value)}>{names.map((one) => <option key={one}>{one}</option>)}</select>
    </label>
  );
  return (
    <Form title="Add a link" action="Add" onDo={add} onClose={onClose}>
      {end("From", from, setFrom)}
      {end("To", to, setTo)}
      <LinkFields keys={keys} onChange={setKeys} />
      <details className="lab-more">
        <summary>Further keys</summary>
        <Field title="The link" placeholder="mtu=9000 name=core" value={keys.typed} onChange={(typed) => setKeys({ ...keys, typed })} />
      </details>
    </Form>
  );
}

function Removal({ base, state, part, onDone, onClose }: Props & { part: Part }): ReactNode {
  const links = state.links.filter(({ name, sender, receiver }) => (part.kind === "node" ? sender === part.name || receiver === part.name : part.links.includes(name)));
  const others = [...new Set(links.map(({ sender, receiver }) => (part.kind === "node" && sender === part.name ? receiver : sender)))];
  const cable = part.kind === "cable" ? `the link between ${others.join(" and ")}` : "";
  const remove = async (): Promise<boolean> => {
    const done = part.kind === "node" ? await rewire(`${base}/remove-node`, { node: part.name }) : await rewire(`${base}/remove-link`, { of: part.links.slice(0, 1) });
    if (done !== null) onDone(null);
    return done !== null;
  };
  const isEmpty = part.kind === "node" && !state.nodes.some(({ name, runs_programs }) => name === part.name && runs_programs);
  return (
    <Form title={`Remove ${part.kind === "node" ? part.name : cable}?`} action="Remove" isDanger onDo={remove} onClose={onClose}>
      <p>
        {part.kind === "node" && others.length > 0 ? `Its links go with it: ${others.join(", ")}. ` : ""}
        {part.kind === "node" && !isEmpty ? "Programs in it are killed. " : ""}
        All other nodes keep their addresses and programs.
      </p>
    </Form>
  );
}

interface FormProps {
  title: string;
  action: string;
  isDanger?: boolean;
  /** True if it was done; else the refusal is said, and the dialog stays. */
  onDo: () => Promise<boolean>;
  onClose: () => void;
  children: ReactNode;
}

function Form({ title, action, isDanger = false, onDo, onClose, children }: FormProps): ReactNode {
  const id = useId();
  const [busy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    setBusy(true);
    if (!(await onDo())) return setBusy(false);
    forgetProblems();
    onClose();
  };
  return (
    <Dialog
      title={title} onClose={onClose}
      actions={<><Button onClick={onClose}>Cancel</Button><Button look={isDanger ? "danger" : "main"} type="submit" form={id} disabled={busy}>{action}</Button></>}
    >
      <form id={id} className="lab-form" onSubmit={(event) => (event.preventDefault(), void submit())}>{children}</form>
    </Dialog>
  );
}

function Field({ title, value, placeholder = "", onChange }: { title: string; value: string; placeholder?: string; onChange: (value: string) => void }): ReactNode {
  return (
    <label className="lab-field">
      <span>{title}</span>
      <input value={value} placeholder={placeholder} spellCheck={false} onChange={(event) => onChange(event.target.value)} />
    </label>
  );
}

function LinkFields({ keys, onChange }: { keys: PartKeys; onChange: (keys: PartKeys) => void }): ReactNode {
  return LINK_FIELDS.map(({ key, title, example }) => <Field key={key} title={title} placeholder={key === "rate" ? example : `such as ${example}`} value={keys.fields[key] ?? ""} onChange={(value) => onChange(withField(keys, key, value))} />);
}

/** Keys with another value of a field; an empty one is none. */
function withField(keys: PartKeys, key: string, value: string): PartKeys {
  const { [key]: _, ...others } = keys.fields;
  return { ...keys, fields: value.trim() ? { ...others, [key]: value.trim() } : others };
}

/** A name as the editor gives it that no node has: h1, h2, ... */
function free(kind: Kind, names: readonly string[]): string {
  for (let number = 1; ; number++) if (!names.includes(`${kind[0]}${number}`)) return `${kind[0]}${number}`;
}
