// Keys and fingers on a plot. The mouse is uPlot's.

import type uPlot from "uplot";
import type { TimeAxis } from "./time-axis";

export function bindInput(u: uPlot, axis: TimeAxis, host: HTMLElement): void {
  host.addEventListener("keydown", (event) => {
    if (handleKey(event, u, axis)) event.preventDefault();
  });
  bindFingers(u, axis);
}

function handleKey(event: KeyboardEvent, u: uPlot, axis: TimeAxis): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const left = u.cursor.left ?? -1;
  const center = left >= 0 ? u.posToVal(left, "x") : undefined;
  const direction = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
  if (direction && event.shiftKey) axis.pan(0.2 * direction);
  else if (direction) moveCrosshair(u, (left >= 0 ? left : widthOf(u) / 2) + direction * 4);
  else if (event.key === "+" || event.key === "=") axis.zoom(0.5, center);
  else if (event.key === "-") axis.zoom(2, center);
  else if (event.key === "0" || event.key === "Escape") axis.reset();
  else return false;
  return true;
}

function moveCrosshair(u: uPlot, left: number): void {
  const within = Math.min(Math.max(0, left), widthOf(u) - 1);
  u.setCursor({ left: within, top: u.bbox.height / devicePixelRatio / 2 });
}

/** The width of the plot within its axes. */
function widthOf(u: uPlot): number {
  return u.bbox.width / devicePixelRatio;
}

/** One finger moves the crosshair (up and down scrolls the page), two fingers pinch and pan. */
function bindFingers(u: uPlot, axis: TimeAxis): void {
  const fingers = new Map<number, { now: number; time: number }>();
  let edge = 0;
  const position = (event: PointerEvent) => event.clientX - edge;
  u.over.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse") return;
    if (event.target === u.over) edge = event.clientX - event.offsetX;
    const now = position(event);
    fingers.set(event.pointerId, { now, time: u.posToVal(now, "x") });
    moveCrosshair(u, now);
  });
  u.over.addEventListener("pointermove", (event) => {
    const finger = fingers.get(event.pointerId);
    if (!finger) return;
    finger.now = position(event);
    const [a, b] = [...fingers.values()];
    if (a && b) pinch(u, axis, a, b);
    else moveCrosshair(u, finger.now);
  });
  const end = (event: PointerEvent) => fingers.delete(event.pointerId);
  u.over.addEventListener("pointerup", end);
  u.over.addEventListener("pointercancel", end);
}

/** Keep under each finger the time that was there when it touched. */
function pinch(u: uPlot, axis: TimeAxis, a: { now: number; time: number }, b: { now: number; time: number }): void {
  if (Math.abs(a.now - b.now) < 8 || a.time === b.time) return;
  const perPixel = (b.time - a.time) / (b.now - a.now);
  if (perPixel <= 0) return;
  const min = a.time - a.now * perPixel;
  axis.show(min, min + perPixel * widthOf(u));
}
