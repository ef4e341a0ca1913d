// What can be done with files, for the palette.

import type { Action } from "../kit/actions";

export function fileActions(open: (kind: "new" | "import" | "folder") => void): Action[] {
  return [
    { id: "new", title: "New scenario", group: "Files", icon: "add", keys: ["N"], run: () => open("new") },
    { id: "import", title: "Import from MiniEdit, containerlab, Kathará, a trace", group: "Files", icon: "import", run: () => open("import") },
    { id: "folder", title: "New folder", group: "Files", icon: "folder", run: () => open("folder") },
  ];
}
