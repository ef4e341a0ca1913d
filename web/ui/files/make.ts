// Make a file of the workspace, and open it in the editor.

import { post, problemOf } from "../kit/api";
import { toast } from "../kit/parts";
import { go } from "../kit/route";
import type { NewFile } from "../kit/messages";

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
