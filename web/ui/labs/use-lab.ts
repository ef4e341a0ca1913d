// A lab as a view follows it.

import { useEffect, useRef, useState } from "react";
import { useRedraw } from "../kit/redraw";
import type { Problem } from "../kit/messages";
import type { LabEnded, LabProgress, LabState } from "../kit/run-messages";
import { FlowLive, LinkLive } from "../runs/live";
import { socket } from "../kit/socket";

export interface Lab {
  state: LabState | null;
  links: Map<string, LinkLive>;
  /** Those that go on and those that went, by their ends. */
  flows: Map<string, FlowLive>;
  /** Seconds since the lab was up. */
  time: number;
  ended: boolean;
  problem: Problem | null;
  version: number;
}

/** Follow a lab. Drawn again when its state changes, and a few times a second for its numbers. */
export function useLab(id: string): Lab {
  const soon = useRedraw();
  const [problem, setProblem] = useState<Problem | null>(null);
  const lab = useRef<Lab>({ state: null, links: new Map(), flows: new Map(), time: 0, ended: false, problem: null, version: 0 });
  useEffect(() => {
    lab.current = { state: null, links: new Map(), flows: new Map(), time: 0, ended: false, problem: null, version: 0 };
    setProblem(null);
    return socket.subscribe(
      `lab/${id}`,
      (event) => {
        const now = lab.current;
        now.version++;
        const told = event as LabState | LabProgress | LabEnded;
        if (told.event === "state") {
          now.state = told;
          soon(0);
        } else if (told.event === "ended") {
          now.ended = true;
          soon(0);
        } else {
          now.time = told.time_ns / 1e9;
          for (const link of told.links) {
            let known = now.links.get(link.name);
            if (!known) now.links.set(link.name, (known = new LinkLive()));
            known.add(now.time, link);
          }
          for (const flow of told.flows) {
            let known = now.flows.get(flow.id);
            if (!known) now.flows.set(flow.id, (known = new FlowLive()));
            known.add(now.time, flow);
          }
          for (const [id, flow] of now.flows) if (!told.flows.some((one) => one.id === id)) flow.rest(now.time);
          soon(250);
        }
      },
      null,
      setProblem,
    );
  }, [id]);
  return { ...lab.current, problem };
}
