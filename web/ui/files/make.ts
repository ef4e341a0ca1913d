// Make a file of the workspace, and open it in the editor.

import { post, problemOf } from "../kit/api";
import { toast } from "../kit/parts";
import { go } from "../kit/route";
import type { NewFile } from "../kit/messages";
import type { Started } from "../kit/run-messages";
import { keepStarted } from "../kit/started";

/** Calls `done` and opens the file; what refuses it is shown. */
export async function makeAndOpen(file: NewFile, done: () => void): Promise<void> {
  try {
    await post("/api/files", file);
    done();
    go("edit", file.path);
  } catch (thrown) {
    toast(problemOf(thrown));
  }
}

/** Makes a small network with two flows in a folder, simulates it, which needs nothing of the machine, and shows both. */
export async function runSample(dir: string): Promise<void> {
  const path = dir ? `${dir}/sample.toml` : "sample.toml";
  try {
    await post("/api/files", { do: "new", path, template: "shared-bottleneck" });
    const started = await post<Started>("/api/runs", { path, engine: "simulate", repeat: null });
    keepStarted(path, started.id);
    go("edit", path);
  } catch (thrown) {
    toast(problemOf(thrown));
  }
}
