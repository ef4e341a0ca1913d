// What is said above a drawing while a run or a lab of it goes on, and the question before it is changed.

import { useEffect, type ReactNode } from "react";
import { Button, Dialog } from "../kit/parts";
import { href } from "../kit/route";
import type { Going } from "../kit/messages";
import { holders, unlock, useLock } from "../document/lock";
import { useEditor } from "../document/store";

const OF: Readonly<Record<Going["kind"], { view: string; says: string }>> = {
  run: { view: "runs", says: "A run of this scenario goes on" },
  study: { view: "studies", says: "A study of this scenario goes on" },
  lab: { view: "labs", says: "A lab of this scenario is up" },
};

const KEEPS = "It keeps the scenario that it began with; changes count from the next start.";

export function LockBar(): ReactNode {
  const document = useEditor((editor) => editor.document);
  const { open, answer } = useLock();
  const { going, locks } = holders(document, open);
  const [first] = going;
  // It ends while the question stands: then there is nothing left to ask.
  useEffect(() => void (locks || answer?.(true)), [locks, answer]);
  useEffect(() => () => useLock.getState().answer?.(false), []);
  if (!first) return null;
  const { view, says } = OF[first.kind];
  return (
    <div className="lock" role="status">
      <p>
        <a href={href(view, first.id)}>{says}</a>
        {going.length > 1 && `, and ${going.length - 1} more`}.{" "}
        {locks ? "Nodes and notes can be moved. The rest is locked, so that the drawing shows what runs." : KEEPS}
        {first.kind === "lab" && locks && " Links of the lab are changed on its page."}
      </p>
      {locks && <Button onClick={() => unlock(document)}>Edit anyway</Button>}
      {answer && (
        <Dialog
          title={`${says}. Change it?`}
          onClose={() => answer(false)}
          actions={
            <>
              <Button onClick={() => answer(false)}>Leave it</Button>
              <Button look="main" onClick={() => answer(true)}>
                Change it
              </Button>
            </>
          }
        >
          <p>{KEEPS}</p>
        </Dialog>
      )}
    </div>
  );
}
