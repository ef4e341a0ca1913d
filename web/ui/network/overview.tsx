// A large network from far: painted as a whole. Only what the pointer is at, and what is selected, are elements of the page.

import { useStore, useStoreApi } from "@xyflow/react";
import { memo, useEffect, useRef, type ReactNode } from "react";
import type { AnyEdge, AnyNode, LinkEdge, NetworkNode } from "./elements";
import { shownNames, sideOf, type View } from "./painted";
import { useLive } from "./live";

interface Colours {
  ink: string; ground: string; accent: string; queue: string; soft: string; invalid: string; valid: string; drop: string;
}

function colours(of: Element): Colours {
  const style = getComputedStyle(of);
  const read = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return { ink: read("ink"), ground: read("ground"), accent: read("accent"), queue: read("queue"), soft: read("soft"), invalid: read("invalid"), valid: read("valid"), drop: read("drop") };
}

/** How a link is painted: colour, width, opacity. */
function style(edge: LinkEdge, colour: Colours, dense: boolean): readonly [string, number, number] {
  const { drawn, marked } = edge.data ?? {};
  if (edge.selected) return [colour.accent, 3, 1];
  if (marked?.includes("faulty") || marked?.includes("down") || (drawn?.problems ?? 0) > 0) return [colour.invalid, 2, 1];
  if (marked?.includes("on-way")) return [colour.accent, 3, 1];
  const { links } = useLive.getState();
  const shares = [drawn?.forward, drawn?.back].flatMap((way) => (way && links[way.name] ? [links[way.name]?.share ?? 0] : []));
  const share = Math.max(-1, ...shares);
  if (share > 0) return [share > 0.95 ? colour.drop : share > 0.6 ? colour.accent : colour.valid, 1 + 2 * share, 1];
  return [colour.queue, dense ? 0.8 : 1.1, dense ? 0.4 : 0.55];
}

/** Nodes and links of a drawing, and which of them move. */
interface Painted {
  nodes: readonly AnyNode[];
  edges: readonly AnyEdge[];
  moving: ReadonlySet<string>;
}

/** Pixels around what is in sight that are painted, too, so that they are there while one pans. */
const MARGIN = 120;

/** Paints what stands still, or what moves: that is little, and the rest need not be painted again at each step. */
function paint(canvas: HTMLCanvasElement, { nodes, edges, moving }: Painted, [x0, y0, zoom]: View, isMoving: boolean): void {
  const context = canvas.getContext("2d");
  const [width, height, ratio] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio || 1];
  if (!context || width === 0) return;
  const [left, top] = [x0 + MARGIN, y0 + MARGIN];
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  if (isMoving && moving.size === 0) return;
  const colour = colours(canvas);
  const all = nodes.filter((node): node is NetworkNode => node.type === "network");
  const at = new Map(all.map(({ id, position }) => [id, { x: position.x * zoom + left, y: position.y * zoom + top }]));
  const network = moving.size === 0 ? all : all.filter(({ id }) => moving.has(id) === isMoving);
  const degree = new Map<string, number>();
  // One stroke for all links that look alike.
  const strokes = new Map<string, { look: readonly [string, number, number]; path: Path2D }>();
  for (const edge of edges) {
    if (edge.type !== "link" || (moving.has(edge.source) || moving.has(edge.target)) !== isMoving) continue;
    const [a, b] = [at.get(edge.source), at.get(edge.target)];
    if (!a || !b) continue;
    degree.set(edge.source, (degree.get(edge.source) ?? 0) + 1);
    degree.set(edge.target, (degree.get(edge.target) ?? 0) + 1);
    const look = style(edge, colour, edges.length > 1000);
    const key = look.join();
    let stroke = strokes.get(key);
    if (!stroke) strokes.set(key, (stroke = { look, path: new Path2D() }));
    stroke.path.moveTo(a.x, a.y);
    stroke.path.lineTo(b.x, b.y);
  }
  for (const { look: [stroke, lineWidth, opacity], path } of [...strokes.values()].sort((a, b) => a.look[1] - b.look[1])) {
    context.strokeStyle = stroke;
    context.lineWidth = lineWidth;
    context.globalAlpha = opacity;
    context.stroke(path);
  }
  context.globalAlpha = 1;
  const side = sideOf(zoom);
  const isSmall = side < 9;
  const shapes = new Map<string, { fill: string; line: string; wide: number; path: Path2D }>();
  for (const { id, selected, data: { drawn, marked = "" } } of network) {
    const { x, y } = at.get(id) ?? { x: 0, y: 0 };
    if (x < -side || y < -side || x > width + side || y > height + side) continue;
    const line = drawn.problems > 0 || marked.includes("faulty") ? colour.invalid : selected || marked.includes("on-way") || drawn.kind === "host" ? colour.accent : colour.queue;
    const [fill, wide] = [isSmall || selected ? line : colour.ground, selected ? 3 : isSmall ? 0.4 : 1.2];
    const key = `${fill} ${line} ${wide}`;
    let shape = shapes.get(key);
    if (!shape) shapes.set(key, (shape = { fill, line, wide, path: new Path2D() }));
    const high = drawn.kind === "switch" ? side / 1.5 : side;
    if (drawn.kind === "router") {
      shape.path.moveTo(x + side / 2, y);
      shape.path.arc(x, y, side / 2, 0, 2 * Math.PI);
    } else if (isSmall) shape.path.rect(x - side / 2, y - high / 2, side, high);
    else shape.path.roundRect(x - side / 2, y - high / 2, side, high, side / 5);
  }
  for (const { fill, line, wide, path } of shapes.values()) {
    context.fillStyle = fill;
    context.fill(path);
    context.strokeStyle = line;
    context.lineWidth = wide;
    context.stroke(path);
  }
  context.font = "600 11px system-ui, sans-serif";
  context.textAlign = "center";
  const names = shownNames(network, degree, [left, top, zoom], width, height);
  context.globalAlpha = 0.75;
  context.fillStyle = colour.ground;
  for (const box of names.values()) context.fillRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  context.globalAlpha = 1;
  context.fillStyle = colour.ink;
  const within = new Map(network.map(({ id, data }) => [id, data.within === undefined ? id : `${id} +${data.within}`]));
  for (const [id, box] of names) context.fillText(within.get(id) ?? id, (box.left + box.right) / 2, box.bottom - 3);
}

/** Milliseconds from one painting to the next while the view moves: what is painted is moved and scaled meanwhile. */
const REPAINT_MS = 140;

/** The painted drawing, beneath the elements of React Flow. */
export const Overview = memo(function Overview({ nodes, edges, moving }: Painted): ReactNode {
  const still = useRef<HTMLCanvasElement>(null);
  const moved = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const width = useStore((store) => store.width);
  const height = useStore((store) => store.height);
  const store = useStoreApi();
  const latest = useRef<Painted>({ nodes, edges, moving });
  const before = latest.current;
  latest.current = { nodes, edges, moving };
  const painter = useRef(
    (() => {
      let view: View = [0, 0, 1];
      let [frame, later] = [0, undefined as ReturnType<typeof setTimeout> | undefined];
      /** Moves what is painted to where it stands now. */
      const place = (): void => {
        const [x, y, zoom] = store.getState().transform;
        const scale = zoom / view[2];
        if (box.current) box.current.style.transform = `translate(${x - view[0] * scale + MARGIN * (1 - scale)}px, ${y - view[1] * scale + MARGIN * (1 - scale)}px) scale(${scale})`;
      };
      const all = (): void => {
        later = undefined;
        view = store.getState().transform;
        if (still.current) paint(still.current, latest.current, view, false);
        if (moved.current) paint(moved.current, latest.current, view, true);
        place();
      };
      return {
        soon: (): void => {
          cancelAnimationFrame(frame);
          frame = requestAnimationFrame(all);
        },
        step: (): void => {
          cancelAnimationFrame(frame);
          frame = requestAnimationFrame(() => moved.current && paint(moved.current, latest.current, view, true));
        },
        panned: (): void => {
          place();
          later ??= setTimeout(all, REPAINT_MS);
        },
        stop: (): void => {
          cancelAnimationFrame(frame);
          clearTimeout(later);
        },
      };
    })(),
  ).current;
  useEffect(() => {
    const isStep = moving.size > 0 && before.moving === moving && before.edges === edges;
    if (isStep) painter.step();
    else painter.soon();
  }, [nodes, edges, moving, width, height]);
  useEffect(() => {
    let transform = store.getState().transform;
    const stops = [
      store.subscribe((now) => {
        if (now.transform !== transform) painter.panned();
        transform = now.transform;
      }),
      useLive.subscribe(painter.soon),
    ];
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", painter.soon);
    return () => {
      for (const stop of stops) stop();
      scheme.removeEventListener("change", painter.soon);
      painter.stop();
    };
  }, []);
  return (
    <div ref={box} className="overview" aria-hidden="true" style={{ inset: -MARGIN }}>
      <canvas ref={still} />
      <canvas ref={moved} />
    </div>
  );
});
