// All nodes and links of a lab in a list: found by a part of a name or an address, with a terminal a key away.

import { useEffect, useMemo, useState, type ReactNode } from "react";
import { offer } from "../kit/actions";
import { Icon, type IconName } from "../kit/icons";
import { Chooser, type Choice } from "../kit/palette";
import { Button } from "../kit/parts";
import type { LabState } from "../kit/run-messages";
import type { Chosen } from "./drawing";
import { cables } from "./network";
import { count } from "../../charts/counts";

interface Row {
  id: string;
  icon: IconName;
  title: string;
  note: string;
  /** True if a terminal can be opened in it. */
  opens: boolean;
  chosen: Exclude<Chosen, null>;
  /** Nodes to bring into view. */
  at: string[];
}

/** Rows of the list without a search: a search finds the others. */
const MOST_ROWS = 80;

function rowsOf(state: LabState): Row[] {
  const links = new Map(state.links.map((link) => [link.name, link]));
  return [
    ...state.nodes.map(({ name, kind, interfaces, waits, runs_programs }): Row => ({ id: `node ${name}`, icon: kind, title: name, opens: runs_programs, note: waits ? "no link yet" : interfaces.flatMap(([, held]) => held.map((one) => one.replace(/\/\d+$/, ""))).join(" "), chosen: { kind: "node", name }, at: [name] })),
    ...cables(state).map((of): Row => {
      const names = of.filter((one) => one !== undefined);
      const first = links.get(names[0] ?? "");
      const [a, b] = [first?.sender ?? "", first?.receiver ?? ""];
      const isDown = names.some((name) => links.get(name)?.up === false);
      return { id: `link ${names[0]}`, icon: "link", title: `${a} – ${b}`, opens: false, note: [isDown ? "down" : "", first?.rate, first?.delay].filter(Boolean).join(" "), chosen: { kind: "cable", links: names }, at: [a, b] };
    }),
  ];
}

interface Props {
  state: LabState;
  chosen: Chosen;
  onChoose: (chosen: Chosen, at: readonly string[]) => void;
  onOpen: (node: string) => void;
}

export function LabOutline({ state, chosen, onChoose, onOpen }: Props): ReactNode {
  const [query, setQuery] = useState("");
  const [asks, setAsks] = useState<"find" | "terminal" | null>(null);
  const rows = useMemo(() => rowsOf(state), [state]);
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter(({ title, note }) => words.every((word) => `${title} ${note}`.toLowerCase().includes(word)));
  const opens = (row: Row): string | null => (row.chosen.kind === "node" && row.opens ? row.chosen.name : null);
  useEffect(
    () =>
      offer(() => [
        { id: "lab-find", title: "Find a node, a link, an address", group: "Lab", icon: "search", keys: ["/", "Ctrl-F"], run: () => setAsks("find") },
        { id: "lab-terminal-of", title: "Terminal in …", group: "Lab", icon: "terminal", run: () => setAsks("terminal") },
      ]),
    [],
  );
  const choices = (asks === "terminal" ? rows.filter(opens) : rows).map(({ id, icon, title, note }): Choice => ({ id, icon, title, note }));
  const isChosen = ({ chosen: one }: Row): boolean => (one.kind === "node" ? chosen?.kind === "node" && chosen.name === one.name : chosen?.kind === "cable" && chosen.links[0] === one.links[0]);
  return (
    <details className="lab-outline" open={chosen === null}>
      <summary>
        {count(state.nodes.length, "node")}, {count(state.cables.length, "link")}
      </summary>
      <input type="search" aria-label="Find a node, a link, an address" placeholder="Find a node, a link, an address" value={query} onChange={(event) => setQuery(event.target.value)} />
      <ul aria-label="Nodes and links">
        {found.slice(0, MOST_ROWS).map((row) => {
          const node = opens(row);
          return (
            <li key={row.id}>
              <button type="button" className="lab-row" aria-pressed={isChosen(row)} onClick={() => onChoose(row.chosen, row.at)}>
                <Icon name={row.icon} />
                <b>{row.title}</b>
                <span className="soft">{row.note}</span>
              </button>
              {node && <Button look="quiet" icon="terminal" title={`Terminal in ${node}`} onClick={() => onOpen(node)} />}
            </li>
          );
        })}
      </ul>
      {found.length > MOST_ROWS && <p className="soft">{found.length - MOST_ROWS} more: type a part of a name or an address.</p>}
      {found.length === 0 && <p className="soft">Nothing of this name.</p>}
      {asks && (
        <Chooser
          label={asks === "find" ? "Find a node, a link, an address" : "Terminal in"} choices={choices} onClose={() => setAsks(null)}
          onChoose={(id) => {
            const row = rows.find((one) => one.id === id);
            const node = row && opens(row);
            if (row) onChoose(row.chosen, row.at);
            if (asks === "terminal" && node) onOpen(node);
          }}
        />
      )}
    </details>
  );
}
