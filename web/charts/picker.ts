// The place that is pointed at, by mouse, finger or keys: what it says, and what opens there.

import { element } from "./dom";
import type { Spot } from "./figure";
import { svg } from "./svg";

const REACH = 60;
/** Above a spot there is room for what it says. */
const ROOM = 96;

/** Show the description of the spot under the pointer; call `open` for the one that is chosen. */
export class Picker {
  private readonly ring = svg("circle", { class: "ring", r: 6 });
  private readonly tip = element("div", { class: "tip", hidden: "" });
  private readonly over = svg("path", { class: "over" });
  private spots: Spot[] = [];
  private chosen: Spot | null = null;
  private width = 0;

  constructor(
    private readonly drawing: SVGSVGElement,
    host: HTMLElement,
    private readonly open: (spot: Spot) => void,
  ) {
    host.append(this.tip);
    this.over.addEventListener("pointermove", (event) => this.show(this.nearest(event)));
    this.over.addEventListener("pointerleave", () => this.show(null));
    this.over.addEventListener("click", (event) => {
      const spot = this.nearest(event);
      if (spot) open(spot);
    });
    drawing.addEventListener("blur", () => this.show(null));
    drawing.addEventListener("keydown", (event) => this.step(event));
  }

  /** Places on the drawing, which is so large. */
  setSpots(spots: Spot[], width: number, height: number): void {
    this.spots = spots;
    this.width = width;
    this.over.setAttribute("d", `M0,0h${width}v${height}h${-width}Z`);
    this.drawing.append(this.ring, this.over);
    this.show(null);
  }

  private show(spot: Spot | null): void {
    this.chosen = spot;
    this.tip.hidden = !spot;
    this.ring.style.display = spot ? "" : "none";
    this.over.style.cursor = spot ? "pointer" : "";
    if (!spot) return;
    this.ring.setAttribute("cx", String(spot.x));
    this.ring.setAttribute("cy", String(spot.y));
    this.tip.replaceChildren(...spot.words.map((line) => element("div", {}, line)));
    // Towards the middle, so that it stays within the drawing whatever it says.
    const share = Math.min(Math.max(spot.x / this.width, 0), 1);
    this.tip.style.left = `${spot.x}px`;
    this.tip.style.top = `${spot.y}px`;
    this.tip.style.transform = `translate(${-100 * share}%, ${spot.y > ROOM ? "calc(-100% - 12px)" : "14px"})`;
  }

  private nearest(event: MouseEvent): Spot | null {
    let best: Spot | null = null;
    let least = REACH;
    for (const spot of this.spots) {
      const distance = Math.hypot(spot.x - event.offsetX, spot.y - event.offsetY);
      if (distance < least) [best, least] = [spot, distance];
    }
    return best;
  }

  private step(event: KeyboardEvent): void {
    const along = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const across = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && this.chosen) {
      // The default action would press the first button of the opened part.
      event.preventDefault();
      return this.open(this.chosen);
    }
    if (along === undefined && across === undefined) return;
    event.preventDefault();
    const from = this.chosen;
    if (!from) return this.show(this.spots[0] ?? null);
    if (along !== undefined) {
      const row = this.spots.filter((spot) => spot.row === from.row);
      return this.show(row[row.indexOf(from) + along] ?? from);
    }
    const rows = [...new Set(this.spots.map((spot) => spot.row))];
    const row = rows[rows.indexOf(from.row) + (across ?? 0)];
    const there = this.spots.filter((spot) => spot.row === row);
    this.show(there.sort((a, b) => Math.abs(a.x - from.x) - Math.abs(b.x - from.x))[0] ?? from);
  }
}
