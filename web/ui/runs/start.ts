// Start runs, studies and labs; stop them.

import { withConsent } from "../kit/consent";
import { forgetProblems, toast } from "../kit/parts";
import { go } from "../kit/route";
import { post, problemOf, remove } from "../kit/api";
import type { LabState, Started } from "../kit/run-messages";

/** Start a scenario of the workspace. Null if it was refused, which the page says. */
export async function startRun(path: string, engine: string | null = null, repeat: number | null = null): Promise<Started | null> {
  try {
    const started = await withConsent(() => post<Started>("/api/runs", { path, engine, repeat }));
    if (started) forgetProblems();
    if (started && started.beside > 0) {
      const others = started.beside === 1 ? "another run goes on" : `${started.beside} other runs go on`;
      toast(`${others} in real time: they disturb each other`);
    }
    return started;
  } catch (thrown) {
    toast(problemOf(thrown));
    return null;
  }
}

/** Show what was started. */
export function show({ kind, id }: Started): void {
  go(kind === "study" ? "studies" : "runs", id);
}

/** Stop a run or a study. */
export async function stop(kind: "runs" | "studies", id: string, how: "early" | "now"): Promise<void> {
  try {
    await post(`/api/${kind}/${encodeURIComponent(id)}/stop`, { how });
  } catch (thrown) {
    toast(problemOf(thrown));
  }
}

/** Start the network of a scenario as a lab, and show it. */
export async function startLab(path: string): Promise<void> {
  try {
    const lab = await withConsent(() => post<LabState>("/api/labs", { path }));
    if (lab) go("labs", lab.id);
  } catch (thrown) {
    toast(problemOf(thrown));
  }
}

/** End a lab. */
export async function endLab(id: string): Promise<boolean> {
  try {
    await remove(`/api/labs/${encodeURIComponent(id)}`);
    return true;
  } catch (thrown) {
    toast(problemOf(thrown));
    return false;
  }
}
