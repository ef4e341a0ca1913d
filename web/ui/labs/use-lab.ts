// A lab as a view follows it.

import { useEffect, useReducer, useRef, useState } from "react";
import type { Problem } from "../messages";
import type { LabEnded, LabProgress, LabState } from "../run-messages";
import { LinkLive, type LinkProgress } from "../runs/live";
import { socket } from "../socket";

export interface Lab {
  state: LabState | null;
  links: Map<string, LinkLive>;
  /** Seconds since the lab was up. */
  time: number;
  ended: boolean;
  problem: Problem | null;
  version: number;
}

/** Follow a lab. Drawn again when its state changes, and a few times a second for its numbers. */
export function useLab(id: string): Lab {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const [problem, setProblem] = useState<Problem | null>(null);
  const lab = useRef<Lab>({ state: null, links: new Map(), time: 0, ended: false, problem: null, version: 0 });
  useEffect(() => {
    lab.current = { state: null, links: new Map(), time: 0, ended: false, problem: null, version: 0 };
    setProblem(null);
    let due: ReturnType<typeof setTimeout> | undefined;
    const soon = (ms: number): void => {
      due ??= setTimeout(() => {
        due = undefined;
        redraw();
      }, ms);
    };
    const leave = socket.subscribe(
      `lab/${id}`,
      (event) => {
        const now = lab.current;
        now.version++;
        const told = event as LabState | LabProgress | LabEnded;
        if (told.event === "state") {
          now.state = told;
          redraw();
        } else if (told.event === "ended") {
          now.ended = true;
          redraw();
        } else {
          now.time = told.time_ns / 1e9;
          for (const link of told.links as unknown as LinkProgress[]) {
            let known = now.links.get(link.name);
            if (!known) now.links.set(link.name, (known = new LinkLive()));
            known.add(now.time, link);
          }
          soon(250);
        }
      },
      null,
      setProblem,
    );
    return () => {
      leave();
      clearTimeout(due);
    };
  }, [id]);
  return { ...lab.current, problem };
}
