// What is asked of the table of runs, kept while the tab is open: who comes back from a run finds the table as it was.

import { useState } from "react";
import { post } from "../kit/api";
import type { RunColumn, RunRow, RunTable } from "../kit/run-messages";

export interface Query {
  search: string;
  verdict: string;
  tag: string;
  sort: string;
  descending: boolean;
  group: string;
  /** Keys of columns; null: those that the server chooses. */
  columns: string[] | null;
  /** Id of the run that all others are compared with. */
  baseline: string | null;
}

export const PLAIN: Query = { search: "", verdict: "", tag: "", sort: "", descending: false, group: "", columns: null, baseline: null };
const KEPT = "dumbbell-runs-table";

function read(): Query {
  try {
    return { ...PLAIN, ...(JSON.parse(sessionStorage.getItem(KEPT) ?? "{}") as Partial<Query>) };
  } catch {
    return PLAIN;
  }
}

export function useQuery(): [Query, (change: Partial<Query>) => void] {
  const [query, setQuery] = useState(read);
  const change = (by: Partial<Query>): void =>
    setQuery((before) => {
      const next = { ...before, ...by };
      try {
        sessionStorage.setItem(KEPT, JSON.stringify(next));
      } catch {
        // It is full or forbidden: the table is plain again when one comes back.
      }
      return next;
    });
  return [query, change];
}

/** The first click on a column sorts it, the second turns it round, the third undoes it. */
export function sorted({ sort, descending }: Query, key: string): Partial<Query> {
  if (sort !== key) return { sort: key, descending: false };
  return descending ? { sort: "", descending: false } : { descending: true };
}

export function ask({ baseline: _, ...query }: Query, rows: number): Promise<RunTable> {
  return post<RunTable>("/api/runs/table", { ...query, rows });
}

/** A line of the table: the head of a group, or a run. */
export type Line = { group: number } | { id: string; at: number };

/** The lines, without those of closed groups. `at` counts runs, from 0. */
export function lines(table: Pick<RunTable, "ids" | "groups">, closed: ReadonlySet<string>): Line[] {
  if (!table.groups.length) return table.ids.map((id, at) => ({ id, at }));
  const found: Line[] = [];
  let at = 0;
  table.groups.forEach(({ value, runs }, group) => {
    found.push({ group });
    if (!closed.has(value)) for (let i = at; i < at + runs; i++) found.push({ id: table.ids[i] as string, at: i });
    at += runs;
  });
  return found;
}

/** Columns that are shown, in their order. */
export function shownColumns(table: Pick<RunTable, "columns" | "shown">): (RunColumn | null)[] {
  const known = new Map(table.columns.map((one) => [one.key, one]));
  return table.shown.map((key) => known.get(key) ?? null);
}

/** A difference to the baseline, as a share of it: `+8.9 %`; empty if there is nothing to tell. */
export function difference(value: RunRow["cells"][number] | undefined, base: RunRow["cells"][number] | undefined): string {
  if (typeof value !== "number" || typeof base !== "number") return "";
  if (value === base) return "same";
  if (base === 0) return "";
  const share = (100 * (value - base)) / Math.abs(base);
  const size = Math.abs(share);
  if (size < 0.05) return "±0.0 %";
  const text = size >= 1000 ? `${(1 + size / 100).toPrecision(2)} times` : `${size.toFixed(size < 99.95 ? 1 : 0)} %`;
  return size >= 1000 && share > 0 ? text : `${share > 0 ? "+" : "−"}${text}`;
}
