// The table of runs as the server gives it: the order of all, and rows where one looks.

import { useCallback, useEffect, useRef, useState } from "react";
import { post, problemOf } from "../kit/api";
import { toast } from "../kit/parts";
import type { RunRow, RunRows, RunTable } from "../kit/run-messages";
import { socket } from "../kit/socket";
import { ask, type Query } from "./query";

/** The table is asked for again this often while something runs, in milliseconds. */
const AGAIN_MS = 2000;
/** The time for which a place must stay in sight before its rows are asked for, in milliseconds. */
const STAY_MS = 40;
/** Rows that come with the table, and at a time later. */
const ROWS = 100;

export interface Table {
  table: RunTable | null;
  /** The rows that are known, by their ids. */
  rows: ReadonlyMap<string, RunRow>;
  /** Ask for rows that are looked at. */
  want: (ids: readonly string[]) => void;
  refresh: () => void;
}

export function useTable(query: Query): Table {
  const [table, setTable] = useState<RunTable | null>(null);
  const [rows, setRows] = useState<ReadonlyMap<string, RunRow>>(new Map());
  const asked = useRef(0);
  const wanted = useRef<readonly string[]>([]);
  const due = useRef<ReturnType<typeof setTimeout>>(undefined);
  const { search, verdict, tag, sort, descending, group, columns, baseline } = query;

  const read = useCallback(async (): Promise<void> => {
    const mine = ++asked.current;
    try {
      const found = await ask(query, ROWS);
      if (mine !== asked.current) return;
      const known = new Map(found.rows.map((row) => [row.id, row]));
      const others = wanted.current.filter((id) => !known.has(id));
      // Rows further down that are in sight stay there.
      const more = others.length ? await post<RunRows>("/api/runs/rows", { ids: others, columns: found.shown }) : { rows: [] };
      if (mine !== asked.current) return;
      for (const row of more.rows) known.set(row.id, row);
      setTable(found);
      setRows(known);
    } catch (thrown) {
      if (mine === asked.current) toast(problemOf(thrown));
    }
  }, [search, verdict, tag, sort, descending, group, columns?.join("\n")]);

  useEffect(() => {
    const timer = setTimeout(() => void read(), search ? 150 : 0);
    return () => clearTimeout(timer);
  }, [read, search]);
  useEffect(() => socket.subscribe("files", () => void read()), [read]);
  // Of thousands of new runs the first ones are there at once.
  useEffect(() => {
    if (table?.unread) void read();
  }, [table, read]);
  const running = (table?.running ?? 0) > 0;
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => document.hidden || void read(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [running, read]);

  const want = useCallback((ids: readonly string[]): void => {
    wanted.current = baseline ? [...ids, baseline] : ids;
    clearTimeout(due.current);
    due.current = setTimeout(() => {
      const mine = asked.current;
      const missing = wanted.current.filter((id) => !rows.has(id));
      if (!missing.length || !table) return;
      post<RunRows>("/api/runs/rows", { ids: missing, columns: table.shown }).then(
        (found) => mine === asked.current && setRows((before) => new Map([...before, ...found.rows.map((row): [string, RunRow] => [row.id, row])])),
        (thrown) => toast(problemOf(thrown)),
      );
    }, STAY_MS);
  }, [rows, table, baseline]);

  return { table, rows, want, refresh: () => void read() };
}
