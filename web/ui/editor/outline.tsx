// The network as a table: everything that the drawing shows and does, for the keyboard and for who can't see the drawing.

import { memo, useEffect, useRef, type KeyboardEvent, type MouseEvent, type ReactNode } from "react";
import { Icon, type IconName } from "../kit/icons";
import { Button } from "../kit/parts";
import type { Drawing } from "../kit/messages";
import { editSelected } from "./actions";
import { addNode } from "./commands";
import { said } from "./elements";
import { ask } from "./questions";
import { stage } from "./stage";
import { linkIds, select, state, toggle, useEditor, type Selection } from "../document/store";

interface Row {
  id: string;
  icon: IconName;
  title: string;
  note: string;
  problems: number;
  selected: boolean;
  /** The selection with it alone. */
  chosen: Partial<Selection>;
}

function rows(drawing: Drawing, selection: Selection): { title: string; add: () => void; adds: string; rows: Row[] }[] {
  const ids = linkIds(drawing);
  return [
    {
      title: "Nodes",
      add: () => void addNode("host"),
      adds: "Add a host (H)",
      rows: drawing.nodes.map((node) => ({ id: `node ${node.name}`, icon: node.kind, title: node.name, note: node.addresses.map((one) => one.replace(/\/\d+$/, "")).join(" "), problems: node.problems, selected: selection.nodes.includes(node.name), chosen: { nodes: [node.name] } })),
    },
    {
      title: "Links",
      add: () => ask("link"),
      adds: "Add a link (L)",
      rows: drawing.links.map((link, i) => ({ id: `link ${ids[i]}`, icon: "link", title: link.name ?? link.between.join(" – "), note: said(link).join("  "), problems: link.problems, selected: selection.links.includes(ids[i] ?? ""), chosen: { links: [ids[i] ?? ""] } })),
    },
    {
      title: "Flows",
      add: () => ask("flow"),
      adds: "Add a flow (F)",
      rows: drawing.flows.map((flow, i) => ({ id: `flow ${i}`, icon: "flow", title: flow.name, note: `${flow.sender} → ${flow.receiver}  ${flow.congestion_control ?? flow.protocol}`, problems: flow.problems, selected: selection.flows.includes(i), chosen: { flows: [i] } })),
    },
  ];
}

/** With Ctrl or Shift a row joins the selection, or leaves it. */
function choose(row: Row, more: boolean): void {
  if (!more) return select(row.chosen);
  const { selection } = state();
  const flip = <T,>(all: readonly T[], some: readonly T[] | undefined): T[] => (some ?? []).reduce<T[]>((now, one) => (now.includes(one) ? now.filter((other) => other !== one) : [...now, one]), [...all]);
  select({ nodes: flip(selection.nodes, row.chosen.nodes), links: flip(selection.links, row.chosen.links), flows: flip(selection.flows, row.chosen.flows) });
}

export const Outline = memo(function Outline(): ReactNode {
  const drawing = useEditor((editor) => editor.document?.drawing ?? null);
  const selection = useEditor((editor) => editor.selection);
  const box = useRef<HTMLDivElement>(null);
  const groups = drawing ? rows(drawing, selection) : [];
  const first = selection.nodes[0] ?? selection.links[0] ?? selection.flows[0];
  useEffect(() => {
    box.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [first]);
  const all = groups.flatMap((group) => group.rows);
  const active = all.find((row) => row.selected) ?? all[0];

  const onKey = (event: KeyboardEvent<HTMLElement>, row: Row): void => {
    const items = [...(box.current?.querySelectorAll<HTMLElement>("[role=option]") ?? [])];
    const index = items.indexOf(event.currentTarget);
    const go: Record<string, number> = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: items.length - 1 };
    const to = go[event.key];
    if (to !== undefined) {
      const next = items[Math.max(0, Math.min(to, items.length - 1))];
      next?.focus();
      const target = all.find((one) => one.id === next?.dataset["row"]);
      if (target) choose(target, event.shiftKey);
    } else if (event.key === " ") choose(row, true);
    else if (event.key === "Enter") (row.selected || select(row.chosen), editSelected());
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={box} className="outline" data-keys>
      <header>
        <h2>Outline</h2>
        <Button look="quiet" icon="close" title="Hide the outline (O)" onClick={() => toggle("outline", false)} />
      </header>
      {groups.map((group) => (
        <section key={group.title}>
          <header>
            <h3 id={`outline-${group.title}`}>
              {group.title} <small>{group.rows.length}</small>
            </h3>
            <Button look="quiet" icon="add" title={group.adds} onClick={group.add} />
          </header>
          <ul role="listbox" aria-labelledby={`outline-${group.title}`} aria-multiselectable="true">
            {group.rows.map((row) => (
              <li
                key={row.id}
                role="option"
                data-row={row.id}
                aria-selected={row.selected}
                tabIndex={row === active ? 0 : -1}
                className={row.problems > 0 ? "wrong" : ""}
                onClick={(event: MouseEvent) => choose(row, event.ctrlKey || event.metaKey || event.shiftKey)}
                onDoubleClick={() => stage()?.show(row.chosen.nodes ?? row.chosen.links?.flatMap((id) => id.split("~").slice(0, 2)) ?? [])}
                onKeyDown={(event) => onKey(event, row)}
              >
                <Icon name={row.icon} />
                <span className="row-title">{row.title}</span>
                <span className="row-note">{row.note}</span>
                {row.problems > 0 && (
                  <span className="badge wrong">
                    <span aria-hidden="true">!</span>
                    <span className="visually-hidden">
                      {row.problems} problem{row.problems > 1 ? "s" : ""}
                    </span>
                  </span>
                )}
              </li>
            ))}
          </ul>
          {group.rows.length === 0 && <p className="none">none yet</p>}
        </section>
      ))}
    </div>
  );
});
