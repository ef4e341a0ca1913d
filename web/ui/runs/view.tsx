// Runs: the list of all, or one of them.

import type { ReactNode } from "react";
import type { ViewProps } from "../kit/route";
import { ResultsList } from "./list";
import { RunView } from "./run";

export default function View({ rest }: ViewProps): ReactNode {
  const [id] = rest;
  return id ? <RunView id={id} /> : <ResultsList />;
}
