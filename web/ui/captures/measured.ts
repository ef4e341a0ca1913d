// What was measured of a captured transfer, as curves to lay under those of its fitted path.

import type { Legend } from "../kit/run-messages";
import type { Kept } from "../whatif/bench";
import { FlowCurves } from "../whatif/curves";
import type { Course } from "./messages";

/** The measured curves. The first flow of a fitted path is the transfer. */
export function keptOf(course: Course, legend: Legend): Kept {
  const flows = legend.flows.slice(0, 1);
  return {
    words: "measured",
    overrides: [],
    curves: {
      legend: { ...legend, flows, links: [], changes: [] },
      flows: new Map(flows.map(({ id }) => [id, FlowCurves.measured(course)])),
      links: new Map(),
    },
  };
}
