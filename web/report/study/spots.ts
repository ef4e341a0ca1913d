// What can be pointed at, by mouse, finger or keys, and opened.

import { element } from "../../charts/dom";

export interface Spot {
  x: number;
  y: number;
  /** Of the line in which arrow keys go left and right. */
  row: number;
  words: string[];
  cell: number;
  of: string;
}

const REACH = 60;

/** Show what is told of the spot under the pointer; call `open` for the one that is chosen. */
export function pickable(drawing: SVGSVGElement, host: HTMLElement, spots: Spot[], open: (spot: Spot) => void): void {
  const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  ring.setAttribute("class", "ring");
  ring.setAttribute("r", "6");
  const tip = element("div", { class: "tip", hidden: "" });
  drawing.append(ring);
  host.append(tip);
  let chosen: Spot | null = null;

  const show = (spot: Spot | null): void => {
    chosen = spot;
    tip.hidden = !spot;
    ring.style.display = spot ? "" : "none";
    drawing.style.cursor = spot ? "pointer" : "";
    if (!spot) return;
    ring.setAttribute("cx", String(spot.x));
    ring.setAttribute("cy", String(spot.y));
    tip.replaceChildren(...spot.words.map((line) => element("div", {}, line)));
    const left = Math.min(Math.max(spot.x - tip.offsetWidth / 2, 0), host.clientWidth - tip.offsetWidth);
    const above = spot.y - tip.offsetHeight - 12;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > -20 ? above : spot.y + 14}px`;
  };
  const nearest = (event: PointerEvent | MouseEvent): Spot | null => {
    const at = drawing.getBoundingClientRect();
    const [x, y] = [event.clientX - at.left, event.clientY - at.top];
    let best: Spot | null = null;
    let least = REACH;
    for (const spot of spots) {
      const distance = Math.hypot(spot.x - x, spot.y - y);
      if (distance < least) [best, least] = [spot, distance];
    }
    return best;
  };
  const step = (event: KeyboardEvent): void => {
    const along = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const across = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && chosen) {
      // Or the key would press the first button of what opens.
      event.preventDefault();
      return open(chosen);
    }
    if (along === undefined && across === undefined) return;
    event.preventDefault();
    if (!chosen) return show(spots[0] ?? null);
    const from = chosen;
    if (along !== undefined) {
      const row = spots.filter((spot) => spot.row === from.row);
      return show(row[row.indexOf(from) + along] ?? from);
    }
    const rows = [...new Set(spots.map((spot) => spot.row))];
    const row = rows[rows.indexOf(from.row) + (across ?? 0)];
    const there = spots.filter((spot) => spot.row === row);
    show(there.sort((a, b) => Math.abs(a.x - from.x) - Math.abs(b.x - from.x))[0] ?? from);
  };
  show(null);
  drawing.addEventListener("pointermove", (event) => show(nearest(event)));
  drawing.addEventListener("pointerleave", () => show(null));
  drawing.addEventListener("blur", () => show(null));
  drawing.addEventListener("keydown", step);
  drawing.addEventListener("click", (event) => {
    const spot = nearest(event);
    if (spot) open(spot);
  });
}
