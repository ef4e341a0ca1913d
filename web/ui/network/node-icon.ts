// Icons of nodes.

import type { IconName } from "../kit/icons";
import type { DrawnNode } from "../kit/messages";

/** The icon of a node: a router whose table names protocols of FRRouting has one of its own. */
export function iconOf({ kind, written }: Pick<DrawnNode, "kind" | "written">): IconName {
  const { routing, frr } = written;
  return kind === "router" && (frr !== undefined || (Array.isArray(routing) && routing.length > 0)) ? "daemons" : kind;
}
