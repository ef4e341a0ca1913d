// Single runs, or studies.

import type { ReactNode } from "react";
import { href } from "../kit/route";

export function Tabs({ at }: { at: "runs" | "studies" }): ReactNode {
  return (
    <>
      <h1 className="visually-hidden">{at === "runs" ? "Runs" : "Studies"}</h1>
      <nav className="results-tabs" aria-label="Results">
        <a href={href("runs")} aria-current={at === "runs" ? "page" : undefined}>Runs</a>
        <a href={href("studies")} aria-current={at === "studies" ? "page" : undefined}>Studies</a>
      </nav>
    </>
  );
}
