// A metric over two varied keys.

import { digits } from "../../charts/numbers";
import { told, type Drawing } from "./chart";
import { type Entry, entryKey, type Panel, type Study } from "./data";
import type { Cells, Layout } from "./layout";
import type { Spot } from "./spots";
import { frame, readable, svg } from "./svg";

// Cividis (J. R. Nuñez, C. R. Anderton, R. S. Renslow, PLOS ONE 13:e0199239, 2018): the same order to all eyes, and in grey.
const RAMP = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];
const ROOM = 34;

/** Which keys are drawn: indices of axes, and of the others' values. */
export interface Keys {
  x: number;
  y: number;
  fixed: number[];
}

export function heat(
  study: Study, cells: Cells, { x, y, fixed }: Keys, panel: Panel, known: Map<string, Entry>, of: string, width: number,
): Drawing {
  const [across, up] = [study.axes[x], study.axes[y]];
  if (!across || !up) return { node: svg("svg"), spots: [], columns: [] };
  const left = 22 + 7 * Math.max(...up.ticks.map((text) => text.length));
  const height = Math.min(46, Math.max(22, 420 / up.texts.length)) * up.texts.length;
  const box = { left, right: width - 14, top: 18, bottom: 18 + height };
  const [w, h] = [(box.right - box.left) / across.texts.length, height / up.texts.length];
  const shown: { entry: Entry; i: number; j: number }[] = [];
  const there: Layout = { x, lines: y, fixed };
  across.texts.forEach((_, i) =>
    up.texts.forEach((_, j) => {
      const cell = cells.at(there, i, j);
      const entry = cell === undefined ? undefined : known.get(entryKey(cell, of));
      if (entry) shown.push({ entry, i, j });
    }),
  );
  const means = shown.map(({ entry }) => entry.mean);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const node = svg("svg", { width, height: box.bottom + 44, role: "img", tabindex: 0, "aria-label": `${panel.title}: arrow keys go from square to square` });
  const xs = across.ticks.map((text, i) => ({ at: box.left + w * (i + 0.5), text }));
  const ys = up.ticks.map((text, j) => ({ at: box.bottom - h * (j + 0.5), text }));
  node.append(frame(box, readable(xs), ys, across.title, false), svg("text", { x: 0, y: 10, class: "title" }, up.title));
  const spots: Spot[] = shown.map(({ entry, i, j }) => {
    const share = high > low ? (entry.mean - low) / (high - low) : 0.5;
    const at = { x: box.left + w * i, y: box.bottom - h * (j + 1) };
    node.append(svg("rect", { ...at, width: w - 1, height: h - 1, fill: ramp(share) }));
    const [cx, cy] = [at.x + w / 2, at.y + h / 2];
    if (w > ROOM) node.append(svg("text", { x: cx, y: cy, dy: "0.35em", "text-anchor": "middle", fill: share > 0.5 ? "#111" : "#fff", class: "value" }, digits(entry.mean)));
    return { x: cx, y: cy, row: -j, words: [cells.words(entry.cell), of, ...told(entry, panel, study)].filter(Boolean), cell: entry.cell, of };
  });
  return { node, spots, columns: [] };
}

function ramp(share: number): string {
  const at = share * (RAMP.length - 1);
  const [from, to] = [rgb(RAMP[Math.floor(at)] ?? ""), rgb(RAMP[Math.ceil(at)] ?? "")];
  return `rgb(${from.map((value, i) => Math.round(value + ((to[i] ?? 0) - value) * (at % 1))).join()})`;
}

function rgb(hex: string): number[] {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}
