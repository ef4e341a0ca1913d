// A lab's state as a drawing.

import type { Drawing, DrawnDirection } from "../kit/messages";
import type { LabLink, LabState } from "../kit/run-messages";

/** Nodes and cables as the editor draws them; `of`: the scenario's drawing, which may know where nodes are on the earth. */
export function drawingOf(state: LabState, of: Drawing | null): Drawing {
  const places = new Map(of?.nodes.map(({ name, place }) => [name, place]));
  const written = new Map(of?.nodes.map((node) => [node.name, node.written]));
  const links = new Map(state.links.map((link) => [link.name, link]));
  return {
    topology: "graph",
    free: false,
    flows: [],
    current: true,
    nodes: state.nodes.map(({ name, kind, interfaces }) => ({
      name, kind, key: [], given: false, written: written.get(name) ?? {}, problems: 0,
      addresses: interfaces.flatMap(([, addresses]) => addresses), interfaces: interfaces.map(([one]) => one), place: places.get(name) ?? null,
    })),
    links: cables(state).map(([first, second]) => {
      const [there, back] = [links.get(first), links.get(second ?? "")];
      return { key: [], between: [there?.sender ?? "", there?.receiver ?? ""], given: false, forward: there ? direction(there) : null, back: back ? direction(back) : null, written: {}, name: null, problems: 0 };
    }),
  };
}

/** Names of the links of each cable. */
export function cables(state: LabState): (readonly [string, string | undefined])[] {
  const known = new Set(state.links.map(({ name }) => name));
  return state.cables.flatMap(([first = "", second]) => (known.has(first) ? [[first, second] as const] : []));
}

function direction({ name, rate, delay, rate_bps }: LabLink): DrawnDirection {
  return { name, rate: rate || "unlimited", delay, buffer: "", queue: "", loss: "", besides: [], transparent: rate_bps === null && /^0 /.test(delay) };
}
