// All runs of the workspace as a table: search, order, groups, a baseline, tags; choose some to compare.

import { useState, type ReactNode } from "react";
import { count } from "../../charts/counts";
import { Button } from "../kit/parts";
import { ChooseColumns } from "./choose-columns";
import { Chosen, Remove } from "./chosen";
import { PLAIN, useQuery } from "./query";
import { FACTS, RunsTable } from "./run-table";
import { Tabs } from "./tabs";
import { useTable } from "./use-table";

const VERDICTS = ["valid", "suspect", "invalid", "failed", "interrupted", "running", "killed", "damaged"];
/** Columns by which runs can be grouped: more make no menu. */
const MOST_GROUPS = 60;

export function ResultsList(): ReactNode {
  const [query, change] = useQuery();
  const of = useTable(query);
  const { table } = of;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [asking, setAsking] = useState<"columns" | "remove" | null>(null);
  const isFiltered = Boolean(query.search || query.tag || query.verdict);
  const groups = table?.columns.filter((one) => one.kind === "setting" && (one.differs || one.key === query.group)).slice(0, MOST_GROUPS) ?? [];

  return (
    <div className="runs-page">
      <header className="results-head">
        <Tabs at="runs" />
        <input
          type="search" aria-label="Search runs" placeholder="Search names, settings, tags: rate=10 bbr"
          value={query.search} onChange={(event) => change({ search: event.target.value })}
        />
        <select aria-label="Verdict" value={query.verdict} onChange={(event) => change({ verdict: event.target.value })}>
          <option value="">every verdict</option>
          {VERDICTS.map((one) => <option key={one}>{one}</option>)}
        </select>
        {((table?.tags.length ?? 0) > 0 || query.tag) && (
          <select aria-label="Tag" value={query.tag} onChange={(event) => change({ tag: event.target.value })}>
            <option value="">every tag</option>
            {[...new Set([...(table?.tags ?? []), ...(query.tag ? [query.tag] : [])])].map((one) => <option key={one}>{one}</option>)}
          </select>
        )}
        <select aria-label="Group by" value={query.group} onChange={(event) => change({ group: event.target.value })}>
          <option value="">no groups</option>
          {Object.entries(FACTS).map(([key, title]) => <option key={key} value={key}>by {title}</option>)}
          {groups.map(({ key, title }) => <option key={key} value={key} title={key}>by {title}</option>)}
        </select>
        <Button icon="settings" onClick={() => setAsking("columns")} disabled={!table}>Columns</Button>
        {table && table.total > 0 && (
          <span className="soft" role="status">
            {table.unread > 0 && `Reading ${count(table.unread, "more run")}… `}
            {isFiltered ? `${table.ids.length.toLocaleString("en")} of ${count(table.total, "run")}` : count(table.total, "run")}
          </span>
        )}
      </header>
      {chosen.size > 0 && table && (
        <Chosen
          ids={table.ids.filter((id) => chosen.has(id))} hidden={[...chosen].filter((id) => !table.ids.includes(id))} baseline={query.baseline} rows={of.rows} tags={table.tags}
          onClear={() => setChosen(new Set())} onRemove={() => setAsking("remove")} onChange={of.refresh}
        />
      )}
      {!table && <p className="loading">Loading…</p>}
      {table && table.ids.length === 0 ? (
        <p className="nothing">
          {isFiltered ? "No run matches." : "No runs yet. Open a scenario and press Run."}
          {isFiltered && <> <Button onClick={() => change({ search: PLAIN.search, tag: PLAIN.tag, verdict: PLAIN.verdict })}>Show all</Button></>}
        </p>
      ) : (
        table && <RunsTable of={of} query={query} onQuery={change} chosen={chosen} onChosen={setChosen} />
      )}
      {asking === "columns" && table && (
        <ChooseColumns table={table} columns={query.columns} onChange={(columns) => change({ columns })} onClose={() => setAsking(null)} />
      )}
      {asking === "remove" && (
        <Remove ids={[...chosen]} onClose={() => setAsking(null)} onDone={() => (setAsking(null), setChosen(new Set()), of.refresh())} />
      )}
    </div>
  );
}
