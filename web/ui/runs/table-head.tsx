// The head of the table of runs: columns by which it is sorted, and the baseline, which stays in sight.

import { Fragment, type ReactNode } from "react";
import { Icon } from "../kit/icons";
import { Button } from "../kit/parts";
import { href } from "../kit/route";
import type { RunColumn, RunRow, RunTable } from "../kit/run-messages";
import { sorted, type Query } from "./query";
import { Spark } from "./spark";
import { cell } from "./table-row";

interface HeadProps {
  table: RunTable | null;
  columns: readonly (RunColumn | null)[];
  query: Query;
  onQuery: (change: Partial<Query>) => void;
  base: RunRow | null;
  onUnpin: () => void;
  chosen: ReadonlySet<string>;
  onAll: (on: boolean) => void;
}

export function Head({ table, columns, query, onQuery, base, onUnpin, chosen, onAll }: HeadProps): ReactNode {
  const hasTags = (table?.tags.length ?? 0) > 0;
  const every = table !== null && table.ids.length > 0 && table.ids.every((id) => chosen.has(id));
  const head = (key: string, title: string, more: { unit?: string; full?: string; className?: string } = {}): ReactNode => (
    <th scope="col" className={more.className} aria-sort={query.sort !== key ? undefined : query.descending ? "descending" : "ascending"}>
      <button type="button" title={more.full ?? title} onClick={() => onQuery(sorted(query, key))}>
        <span>{title} {more.unit && <small>{more.unit}</small>}</span>
        {query.sort === key && <span className={query.descending ? "arrow" : "arrow up"}><Icon name="down" size={12} /></span>}
      </button>
    </th>
  );
  return (
    <thead>
      <tr>
        <th scope="col" className="pick">
          <input type="checkbox" aria-label="Choose all" checked={every} onChange={(event) => onAll(event.target.checked)} />
        </th>
        {head("name", "run", { className: "run-name" })}
        <th scope="col">goodput</th>
        {columns.map((one, i) =>
          one ? <Fragment key={one.key}>{head(one.key, one.title, { unit: one.unit, full: one.kind === "setting" ? one.key : `${one.title} ${one.unit}`, className: one.kind === "figure" ? "n" : "" })}</Fragment> : <th key={i} scope="col" />,
        )}
        {hasTags && head("tags", "tags")}
        {head("started", "started", { className: "n" })}
      </tr>
      {base && (
        <tr className="runs-base">
          <td className="pick"><Button look="quiet" icon="close" title="Unpin the baseline" onClick={onUnpin} /></td>
          <th scope="row" className="run-name">
            <span className="run-main"><span className="base-word">Baseline</span> <a href={href("runs", base.id)}>{base.name}</a></span>
            <small className="soft">{base.label}</small>
          </th>
          <td><Spark id={base.id} /></td>
          {columns.map((one, i) => <td key={one?.key ?? i} className={one?.kind === "figure" ? "n" : ""}>{cell(base.cells[i])}</td>)}
          <td colSpan={hasTags ? 2 : 1} />
        </tr>
      )}
    </thead>
  );
}
