// What a preset makes can't be changed one by one: what to change instead, and how to get free of it.

import type { ReactNode } from "react";
import { Button } from "../kit/parts";
import type { DrawnLink } from "../kit/messages";
import { send } from "../document/store";

export function Annotated({ links }: { links: readonly DrawnLink[] }): ReactNode {
  const [first] = links;
  return (
    <p className="made-note">
      These are the keys of <code>{first?.key.slice(0, 2).join(".")}</code>: they hold for all links that the preset makes of it.
    </p>
  );
}

/** The bar over a preset's drawing. */
export function FreeBar({ kind }: { kind: string }): ReactNode {
  return (
    <p className="free-bar">
      <span>
        Made by the preset <b>{kind}</b>: its nodes follow from its keys.
      </span>
      <Button onClick={() => void send({ do: "free" })}>Make it free</Button>
    </p>
  );
}
