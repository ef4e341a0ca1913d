// Files, runs and labs of the workspace, for the palette.

import type { Action } from "../kit/actions";
import { get, post } from "../kit/api";
import type { FileEntry, Files } from "../kit/messages";
import { go } from "../kit/route";
import type { LabState, RunTable } from "../kit/run-messages";

/** Runs that the palette knows, the latest first: the table of runs searches all. */
const RUNS = 200;
/** Folders whose files the palette knows. */
const FOLDERS = 20;

async function files(): Promise<Action[]> {
  const { entries } = await get<Files>("/api/files", { dir: "" });
  const folders = entries.filter(({ kind }) => kind === "folder").slice(0, FOLDERS);
  const below = await Promise.allSettled(folders.map(({ path }) => get<Files>("/api/files", { dir: path })));
  const all = [...entries, ...below.flatMap((one) => (one.status === "fulfilled" ? one.value.entries : []))];
  return all.flatMap(({ path, title, kind }: FileEntry): Action[] => {
    if (kind === "scenario") return [{ id: `file ${path}`, title: path, group: title || "scenario", icon: "layout", run: () => go("edit", path) }];
    if (kind === "folder") return [{ id: `file ${path}`, title: path, group: "folder", icon: "folder", run: () => go("files", path) }];
    return [];
  });
}

async function runs(): Promise<Action[]> {
  const table = await post<RunTable>("/api/runs/table", { rows: RUNS });
  return table.rows.map(({ id, name, label, verdict }): Action => ({ id: `run ${id}`, title: id, group: ["run", verdict, label || name].join(" "), icon: "play", run: () => go("runs", id) }));
}

async function labs(): Promise<Action[]> {
  const up = await get<LabState[]>("/api/labs");
  return up.map(({ id }): Action => ({ id: `lab ${id}`, title: id, group: "lab", icon: "terminal", run: () => go("labs", id) }));
}

/** Everything of the workspace that has a name. */
export async function workspaceFinds(): Promise<Action[]> {
  const all = await Promise.allSettled([files(), runs(), labs()]);
  return all.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
}
