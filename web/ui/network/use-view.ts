// What part of the drawing is in sight: all of it, until the user pans or zooms.

import { getViewportForBounds, useReactFlow, type Rect } from "@xyflow/react";
import { useCallback, useEffect, useRef, type RefObject } from "react";
import type { AnyEdge, AnyNode } from "./elements";

export const LEAST_ZOOM = 0.03;
export const MOST_ZOOM = 3;
const PADDING = 0.1;
/** A small network is not drawn larger than this. */
const LARGEST = 1.25;

/** The rectangle around nodes with their names; null without nodes. */
export function boundsOf(nodes: readonly AnyNode[]): Rect | null {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { type, position: { x, y }, width = 0, height = 0, measured } of nodes) {
    const [before, above, behind, below] = type === "note" ? [0, 0, width || (measured?.width ?? 80), height || (measured?.height ?? 24)] : [40, 26, 40, 56];
    [left, top, right, bottom] = [Math.min(left, x - before), Math.min(top, y - above), Math.max(right, x + behind), Math.max(bottom, y + below)];
  }
  return nodes.length > 0 ? { x: left, y: top, width: right - left, height: bottom - top } : null;
}

export interface ViewOfAll {
  fit: () => void;
  /** Show all again, unless the view is the user's. */
  again: () => void;
  /** Bring nodes into the middle. */
  show: (names: readonly string[]) => void;
  /** The view is the user's from now on. */
  leave: () => void;
}

/** `nodes`: all that is drawn, now. All is shown as soon as there are nodes. */
export function useView(box: RefObject<HTMLDivElement | null>, nodes: () => readonly AnyNode[], isThere: boolean): ViewOfAll {
  const flow = useReactFlow<AnyNode, AnyEdge>();
  const whole = useRef(true);
  const fitted = useRef(false);
  const to = useCallback(
    (of: readonly AnyNode[], padding: number, largest: number) => {
      const [bounds, width, height] = [boundsOf(of), box.current?.clientWidth ?? 0, box.current?.clientHeight ?? 0];
      if (bounds && width > 0) void flow.setViewport(getViewportForBounds(bounds, width, height, LEAST_ZOOM, largest, padding));
    },
    [flow],
  );
  const fit = useCallback(() => {
    whole.current = true;
    to(nodes(), PADDING, LARGEST);
  }, [to]);
  useEffect(() => {
    let [width, height] = [box.current?.clientWidth ?? 0, box.current?.clientHeight ?? 0];
    const isInSight = (): boolean => {
      const { x, y, zoom } = flow.getViewport();
      const all = boundsOf(nodes());
      return !all || (all.x * zoom + x >= 0 && all.y * zoom + y >= 0 && (all.x + all.width) * zoom + x <= width && (all.y + all.height) * zoom + y <= height);
    };
    // Where a pane opens beside the drawing, all that was in sight stays so.
    const resized = new ResizeObserver(() => {
      const wasInSight = isInSight();
      [width, height] = [box.current?.clientWidth ?? 0, box.current?.clientHeight ?? 0];
      if (!fitted.current || !(whole.current || (wasInSight && !isInSight()))) return;
      requestAnimationFrame(() => to(nodes(), PADDING, LARGEST));
    });
    if (box.current) resized.observe(box.current);
    return () => resized.disconnect();
  }, [flow, to]);
  useEffect(() => {
    if (fitted.current || !isThere) return;
    fitted.current = true;
    // On an empty drawing, what one places stays where one has clicked.
    if (nodes().length === 0) whole.current = false;
    else requestAnimationFrame(fit);
  }, [isThere, fit]);
  return {
    fit,
    again: () => void (whole.current && fitted.current && requestAnimationFrame(fit)),
    show: (names) => {
      const wanted = new Set(names);
      to(nodes().filter(({ id }) => wanted.has(id)), 0.6, Math.max(1, flow.getZoom()));
    },
    leave: () => (whole.current = false),
  };
}
