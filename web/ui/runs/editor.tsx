import type { ReactNode } from "react";
import type { Document } from "../messages";

export function RunButton(_: { document: Document }): ReactNode {
  return null;
}

export function RunDock(_: { document: Document }): ReactNode {
  return null;
}
