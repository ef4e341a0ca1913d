// The network as a table: everything that the drawing shows and does, for the keyboard and for who can't see the drawing.

import { memo, useEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode, type RefObject } from "react";
import { Icon, type IconName } from "../kit/icons";
import { Button } from "../kit/parts";
import type { Drawing } from "../kit/messages";
import { editSelected } from "./actions";
import { addNode } from "./commands";
import { said } from "../network/words";
import { ask } from "./questions";
import { stage } from "../network/stage";
import { linkIds, type Selection } from "../document/selection";
import { select, state, toggle, useEditor } from "../document/store";

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

/** From so many rows on, those alone are drawn that are in sight, and a few beside them. */
const MANY_ROWS = 300;
const SPARE = 8;
/** Pixels of a row and of a heading. */
const ROW = 28;
const HEAD = 38;

/** What of the outline's pane is in sight, pixels. */
function useSight(box: RefObject<HTMLDivElement | null>, isMany: boolean): { top: number; height: number } {
  const [sight, setSight] = useState({ top: 0, height: 900 });
  useEffect(() => {
    const pane = box.current?.parentElement;
    if (!pane || !isMany) return;
    // A row's height at a time: a smaller step draws no other rows.
    const look = (): void => setSight((now) => (Math.abs(now.top - pane.scrollTop) < ROW && now.height === pane.clientHeight ? now : { top: pane.scrollTop, height: pane.clientHeight }));
    const resized = new ResizeObserver(look);
    resized.observe(pane);
    pane.addEventListener("scroll", look, { passive: true });
    return () => {
      resized.disconnect();
      pane.removeEventListener("scroll", look);
    };
  }, [isMany]);
  return sight;
}

function Blank({ rows: count }: { rows: number }): ReactNode {
  return count > 0 ? <li role="presentation" className="blank" style={{ height: count * ROW }} /> : null;
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
  const sight = useSight(box, all.length > MANY_ROWS);
  /** The rows of a list that are drawn, and the pixels of those before and behind them. */
  const drawn = (at: number): { from: number; to: number } => {
    const { rows: list } = groups[at] ?? { rows: [] };
    if (all.length <= MANY_ROWS) return { from: 0, to: list.length };
    const top = HEAD * (at + 2) + ROW * groups.slice(0, at).reduce((sum, { rows: of }) => sum + of.length, 0);
    const clip = (row: number): number => Math.max(0, Math.min(list.length, row));
    return { from: clip(Math.floor((sight.top - top) / ROW) - SPARE), to: clip(Math.ceil((sight.top + sight.height - top) / ROW) + SPARE) };
  };
  const wanted = useRef<string | null>(null);
  useEffect(() => {
    const row = wanted.current && [...(box.current?.querySelectorAll<HTMLElement>("[role=option]") ?? [])].find((one) => one.dataset["row"] === wanted.current);
    if (!row) return;
    wanted.current = null;
    row.focus();
  });
  const chosenId = active?.selected ? active.id : null;
  useEffect(() => {
    const pane = box.current?.parentElement;
    if (!pane || !chosenId || all.length <= MANY_ROWS) return;
    const before = groups.findIndex(({ rows: of }) => of.some(({ id }) => id === chosenId));
    const y = HEAD * (before + 2) + ROW * all.findIndex(({ id }) => id === chosenId);
    if (y < pane.scrollTop + HEAD || y > pane.scrollTop + pane.clientHeight - 2 * ROW) pane.scrollTop = Math.max(0, y - pane.clientHeight / 2);
  }, [chosenId]);

  const onKey = (event: KeyboardEvent<HTMLElement>, row: Row): void => {
    const index = all.indexOf(row);
    const go: Record<string, number> = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: all.length - 1 };
    const to = go[event.key];
    if (to !== undefined) {
      const target = all[Math.max(0, Math.min(to, all.length - 1))];
      wanted.current = target?.id ?? null;
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
      {groups.map((group, at) => (
        <section key={group.title}>
          <header>
            <h3 id={`outline-${group.title}`}>
              {group.title} <small>{group.rows.length}</small>
            </h3>
            <Button look="quiet" icon="add" title={group.adds} onClick={group.add} />
          </header>
          <ul role="listbox" aria-labelledby={`outline-${group.title}`} aria-multiselectable="true">
            <Blank rows={drawn(at).from} />
            {group.rows.slice(drawn(at).from, drawn(at).to).map((row, i) => (
              <li
                key={row.id}
                role="option"
                aria-setsize={group.rows.length}
                aria-posinset={drawn(at).from + i + 1}
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
            <Blank rows={group.rows.length - drawn(at).to} />
          </ul>
          {group.rows.length === 0 && <p className="none">none yet</p>}
        </section>
      ))}
    </div>
  );
});
