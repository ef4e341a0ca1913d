// A run as a view follows it.

import { useEffect, useReducer, useRef, useState } from "react";
import { get, problemOf } from "../kit/api";
import { useRedraw } from "../kit/redraw";
import type { Problem } from "../kit/messages";
import type { RunDetail } from "../kit/run-messages";
import { socket } from "../kit/socket";
import { LiveRun, type RunEvent } from "./live";

/** The time between two looks at a run that has no plan yet, ms. */
const AGAIN_MS = 300;

export interface Followed {
  live: LiveRun;
  detail: RunDetail | null;
  problem: Problem | null;
  /** Ask for the details once more: of a run that was tagged. */
  refresh: () => void;
}

/** Follow the run `id`: the component is drawn again a few times a second at most; plots draw themselves. */
export function useRun(id: string): Followed {
  const soon = useRedraw();
  const [detail, setDetail] = useState<RunDetail | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [asked, refresh] = useReducer((n: number) => n + 1, 0);
  const known = useRef<{ id: string; live: LiveRun } | null>(null);
  // A run that ends gets another id, and the page's address with it: it is the same run still.
  if (known.current?.id !== id && known.current?.live.state?.id !== id) known.current = { id, live: new LiveRun() };
  const { live } = known.current as { id: string; live: LiveRun };

  useEffect(() => {
    setDetail(null);
    setProblem(null);
  }, [live]);

  useEffect(() => {
    if (live.state && live.state.status !== "running" && live.state.status !== "starting" && live.state.report) return;
    return socket.subscribe(
      `run/${known.current?.id ?? id}`,
      (event) => {
        const before = live.state?.status;
        live.take(event as RunEvent);
        soon(live.state?.status === before ? 200 : 0);
      },
      0,
      setProblem,
    );
    // `live` stays the same object while the same run is shown.
  }, [live]);

  const status = live.state?.status;
  const report = live.state?.report;
  const place = live.state?.id ?? id;
  useEffect(() => {
    if (!status || status === "starting") return;
    let wanted = true;
    let again: ReturnType<typeof setTimeout> | undefined;
    get<RunDetail>(`/api/runs/${encodeURIComponent(place)}`).then(
      (found) => {
        if (!wanted) return;
        // Plots are made anew for another legend, and forget what part of the time they show.
        if (JSON.stringify(live.legend) !== JSON.stringify(found.legend)) live.legend = found.legend;
        setDetail(found);
        // A run that has just begun has no plan yet, without which there are no plots.
        if (!found.legend && status === "running") again = setTimeout(refresh, AGAIN_MS);
      },
      (thrown) => wanted && setProblem(problemOf(thrown)),
    );
    return () => {
      wanted = false;
      clearTimeout(again);
    };
  }, [live, status, report, place, asked]);

  return { live, detail, problem, refresh };
}
