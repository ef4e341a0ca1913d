// The table of runs: any number of them, of which only the rows in sight are drawn.

import { useEffect, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { count } from "../../charts/counts";
import type { RunColumn } from "../kit/run-messages";
import { Head } from "./table-head";
import { GroupRow, Row } from "./table-row";
import { lines, shownColumns, type Line, type Query } from "./query";
import type { Table } from "./use-table";

/** Height of each line, px; the style sheet has the same. */
const LINE = 46;
/** Lines that are drawn above and below those in sight. */
const BESIDE = 8;

interface RunTableProps {
  of: Table;
  query: Query;
  onQuery: (change: Partial<Query>) => void;
  chosen: ReadonlySet<string>;
  onChosen: (next: ReadonlySet<string>) => void;
}

export function RunsTable({ of: { table, rows, want }, query, onQuery, chosen, onChosen }: RunTableProps): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ top: 0, height: 800 });
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState(0);
  /** True if the next drawing gives the focus to the active line. */
  const move = useRef(false);
  const anchor = useRef<string | null>(null);
  const all = useMemo(() => (table ? lines(table, closed) : []), [table, closed]);
  const columns = useMemo(() => (table ? shownColumns(table) : []), [table]);
  useEffect(() => setClosed(new Set()), [query.group]);

  const first = Math.max(0, Math.floor(place.top / LINE) - BESIDE);
  const shown = all.slice(first, first + Math.ceil(place.height / LINE) + 2 * BESIDE);
  const ids = shown.flatMap((line) => ("id" in line ? [line.id] : []));
  useEffect(() => want(ids), [ids.join("\n"), want]);

  useLayoutEffect(() => {
    const of = box.current;
    if (!of) return;
    const look = (): void => setPlace((before) => (before.top === of.scrollTop && before.height === of.clientHeight ? before : { top: of.scrollTop, height: of.clientHeight }));
    const sizes = new ResizeObserver(look);
    sizes.observe(of);
    of.addEventListener("scroll", look, { passive: true });
    look();
    return () => {
      sizes.disconnect();
      of.removeEventListener("scroll", look);
    };
  }, []);
  useLayoutEffect(() => {
    if (!move.current) return;
    const target = box.current?.querySelector<HTMLElement>(`[data-line="${active}"] .line-focus`);
    if (!target) return;
    move.current = false;
    target.focus({ preventScroll: true });
  });

  const step = (to: number, extend: boolean): void => {
    const of = box.current;
    const next = Math.min(all.length - 1, Math.max(0, to));
    if (!of || next < 0) return;
    const head = of.querySelector("thead")?.clientHeight ?? 0;
    const top = next * LINE;
    if (top < of.scrollTop) of.scrollTop = top;
    else if (top + LINE > of.scrollTop + of.clientHeight - head) of.scrollTop = top + LINE - of.clientHeight + head;
    const line = all[next];
    if (extend && line && "id" in line) onChosen(new Set([...chosen, ...[all[active], line].flatMap((one) => (one && "id" in one ? [one.id] : []))]));
    move.current = true;
    setActive(next);
    setPlace({ top: of.scrollTop, height: of.clientHeight });
  };
  const toggle = (line: Line, extend: boolean): void => {
    const next = new Set(chosen);
    if (!("id" in line)) {
      const members = membersOf(line.group);
      const every = members.every((id) => next.has(id));
      for (const id of members) every ? next.delete(id) : next.add(id);
    } else if (extend && anchor.current && table) {
      const [from, to] = [table.ids.indexOf(anchor.current), line.at].sort((a, b) => a - b) as [number, number];
      for (const id of table.ids.slice(Math.max(0, from), to + 1)) next.add(id);
    } else if (!next.delete(line.id)) next.add(line.id);
    if ("id" in line) anchor.current = line.id;
    onChosen(next);
  };
  const membersOf = (group: number): string[] => {
    if (!table) return [];
    const from = table.groups.slice(0, group).reduce((sum, { runs }) => sum + runs, 0);
    return table.ids.slice(from, from + (table.groups[group]?.runs ?? 0));
  };
  const pin = (id: string): void => onQuery({ baseline: query.baseline === id ? null : id });
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target instanceof HTMLElement && event.target.closest("thead"))) return;
    const line = all[active];
    const page = Math.max(1, Math.floor(place.height / LINE) - 2);
    const onBox = event.target instanceof HTMLInputElement;
    const steps: Record<string, number> = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: all.length - 1 };
    const to = steps[event.key];
    if (to !== undefined) step(event.target === box.current ? active : to, event.shiftKey);
    else if (event.key === " " && line && !onBox && event.target !== box.current) toggle(line, event.shiftKey);
    else if (event.key === "b" && line && "id" in line) pin(line.id);
    else return;
    event.preventDefault();
  };

  const hasTags = (table?.tags.length ?? 0) > 0;
  const base = query.baseline ? (rows.get(query.baseline) ?? null) : null;
  const width = `calc(var(--pick) + var(--run) + 114px + ${columns.reduce((sum, one) => sum + widthOf(one), 0)}px + ${hasTags ? 250 : 130}px)`;
  return (
    <div
      ref={box} className="runs-scroll" tabIndex={0} role="region" aria-label="Runs, a line each" onKeyDown={onKeyDown}
      aria-describedby="runs-keys"
    >
      <p id="runs-keys" className="visually-hidden">Arrow keys move between runs, Space chooses one, B makes it the baseline, Enter opens it.</p>
      <table className="list runs-table" style={{ minWidth: width }} aria-rowcount={all.length + 1}>
        <caption className="visually-hidden">{count(table?.ids.length ?? 0, "run")}</caption>
        <colgroup>
          <col className="col-pick" /><col className="col-run" /><col style={{ width: 114 }} />
          {columns.map((one, i) => <col key={one?.key ?? i} style={{ width: widthOf(one) }} />)}
          {hasTags && <col style={{ width: 120 }} />}<col style={{ width: 130 }} />
        </colgroup>
        <Head
          table={table} columns={columns} query={query} onQuery={onQuery} base={base} onUnpin={() => onQuery({ baseline: null })}
          chosen={chosen} onAll={(on) => onChosen(new Set(on ? table?.ids : []))}
        />
        <tbody>
          {first > 0 && <tr className="runs-space" aria-hidden="true" style={{ height: first * LINE }} />}
          {shown.map((line, i) => {
            const at = first + i;
            const common = { line: at, isActive: at === active, columns, hasTags, onFocus: () => setActive(at) };
            if ("group" in line) {
              const group = table?.groups[line.group];
              if (!group) return null;
              const members = membersOf(line.group);
              return (
                <GroupRow
                  key={`group ${group.value}`} {...common} group={group} title={titleOf(query.group, table?.columns ?? [])} isOpen={!closed.has(group.value)}
                  chosen={members.filter((id) => chosen.has(id)).length} onToggle={() => toggle(line, false)}
                  onOpen={() => setClosed((before) => { const next = new Set(before); if (!next.delete(group.value)) next.add(group.value); return next; })}
                />
              );
            }
            return (
              <Row
                key={line.id} {...common} id={line.id} row={rows.get(line.id)} base={query.baseline === line.id ? null : base} isBase={query.baseline === line.id}
                isChosen={chosen.has(line.id)} onToggle={(extend) => toggle(line, extend)} onPin={() => pin(line.id)}
              />
            );
          })}
          {first + shown.length < all.length && <tr className="runs-space" aria-hidden="true" style={{ height: (all.length - first - shown.length) * LINE }} />}
        </tbody>
      </table>
    </div>
  );
}

function widthOf(column: RunColumn | null): number {
  return column?.kind === "figure" ? 104 : 128;
}

export const FACTS: Readonly<Record<string, string>> = { name: "name", verdict: "verdict", tags: "tags" };

/** The name of what runs are grouped by. */
export function titleOf(key: string, columns: readonly RunColumn[]): string {
  return FACTS[key] ?? columns.find((one) => one.key === key)?.title ?? key;
}
