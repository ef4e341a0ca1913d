// What was done in a lab, as a new scenario.

import { useEffect, useState, type ReactNode } from "react";
import { Button, Dialog, toast } from "../kit/parts";
import { go } from "../kit/route";
import type { SavedLab } from "../kit/run-messages";
import { ask } from "./ask";

export function Save({ base, scenario, onClose }: { base: string; scenario: string; onClose: () => void }): ReactNode {
  const [found, setFound] = useState<SavedLab | null>(null);
  const text = found?.text ?? "";
  const [path, setPath] = useState(`${scenario.replace(/\.toml$/, "") || "lab"}-done.toml`);
  useEffect(() => {
    void ask<SavedLab>(`${base}/save`, {}).then(setFound);
  }, [base]);
  const save = async (): Promise<void> => {
    const done = await ask<SavedLab>(`${base}/save`, { path });
    if (!done) return;
    onClose();
    go("edit", path);
  };
  const copy = (): void => void navigator.clipboard.writeText(text).then(() => toast("Copied"));
  return (
    <Dialog
      title="Save what was done" onClose={onClose} wide
      actions={<><Button icon="copy" onClick={copy} disabled={!text.trim()}>Copy the events</Button><Button look="main" onClick={() => void save()}>Save as a scenario</Button></>}
    >
      <p>The changes as events. A new scenario also has the traffic that the lab has carried out, and a run repeats both.</p>
      {found?.rewired && <p>Nodes or links were added or removed: the new scenario has the network of now.</p>}
      {found && found.waiting.length > 0 && <p>Without {found.waiting.join(", ")}: a node joins the network with its first link.</p>}
      {found && found.routers.length > 0 && <p>The running {found.routers.length > 1 ? "configurations" : "configuration"} of {found.routers.join(", ")} will be saved beside it.</p>}
      <pre className="run-text">{text.trim() || (found && "No event: no link and no daemon was changed.")}</pre>
      <label className="lab-field">
        <span>New scenario</span>
        <input value={path} onChange={(event) => setPath(event.target.value)} />
      </label>
    </Dialog>
  );
}
