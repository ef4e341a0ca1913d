// The drawing: pan, zoom, select, drag, link. What is dragged moves here at once; the server hears of it when it is let go.

import { Background, BackgroundVariant, ConnectionMode, Controls, ReactFlow, ReactFlowProvider, SelectionMode, applyNodeChanges, useReactFlow, useStore, type Connection, type EdgeChange, type NodeChange } from "@xyflow/react";
import { memo, useCallback, useEffect, useMemo, useRef, useState, type CSSProperties, type MouseEvent, type ReactNode } from "react";
import { addFlow, addLink, addNode, move } from "./commands";
import { FlowEdgeView, LinkEdgeView } from "../network/edges";
import { edges as edgesOf, nodes as nodesOf, type AnyEdge, type AnyNode } from "../network/elements";
import { Menu } from "./menu";
import { NetworkNodeView } from "../network/node";
import { Overview } from "../network/overview";
import { FAR, hit, MANY, nameScale, realParts } from "../network/painted";
import { LEAST_ZOOM, MOST_ZOOM, useView } from "../network/use-view";
import { NoteView } from "./note";
import type { MenuPlace } from "../kit/menu";
import type { Point } from "../kit/messages";
import { fold } from "../document/fold";
import { places } from "../document/places";
import { groupsOf } from "./folding";
import { GRID, snap } from "../layouts/arrange";
import { setStage } from "../network/stage";
import { select, state, useEditor } from "../document/store";

const NODE_TYPES = { network: NetworkNodeView, note: NoteView };
const EDGE_TYPES = { link: LinkEdgeView, flow: FlowEdgeView };
const LABELS = {
  "node.a11yDescription.default": "Enter selects the node, arrow keys move it, Delete removes it, L links it.",
  "node.a11yDescription.keyboardDisabled": "Enter selects the node, arrow keys move it, Delete removes it.",
  "edge.a11yDescription.default": "Enter selects it, Delete removes it.",
};
// React Flow draws all again that gets another object or another function: these stay the same from drawing to drawing.
const ORIGIN: [number, number] = [0.5, 0.5];
const SNAP: [number, number] = [GRID, GRID];
const MORE_KEYS = ["Control", "Meta", "Shift"];
const PRO = { hideAttribution: true };
const isPossible = ({ source, target }: { source: string; target: string }): boolean => source !== target;
/** React Flow snaps corners of nodes; what counts here is their centres. */
const onGrid = ({ x, y }: Point): Point => ({ x: snap(x), y: snap(y) });
const onNodeTwice = (_: unknown, node: AnyNode): void => edit(node.id);
const onEdgeTwice = (): void => edit(null);

export const Canvas = memo(function Canvas(): ReactNode {
  return (
    <ReactFlowProvider>
      <Inside />
    </ReactFlowProvider>
  );
});

function Inside(): ReactNode {
  const drawing = useEditor((editor) => editor.document?.drawing ?? null);
  const layout = useEditor((editor) => editor.document?.layout ?? null);
  const selection = useEditor((editor) => editor.selection);
  const tool = useEditor((editor) => editor.tool);
  const flowsShown = useEditor((editor) => editor.flowsShown);
  const folded = useEditor((editor) => editor.folded);
  const flow = useReactFlow<AnyNode, AnyEdge>();
  const far = useStore(({ transform }) => transform[2] < FAR);
  const scale = useStore(({ transform }) => nameScale(transform[2]));
  const [nodes, setNodes] = useState<AnyNode[]>([]);
  const [edges, setEdges] = useState<AnyEdge[]>([]);
  const [menu, setMenu] = useState<MenuPlace | null>(null);
  const dragged = useRef(new Set<string>());
  const pointer = useRef<{ x: number; y: number } | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const shield = useRef<HTMLDivElement>(null);
  const now = useRef<AnyNode[]>([]);
  now.current = nodes;
  const isMany = nodes.length + edges.length > MANY;
  /** What is painted under the pointer, or null. */
  const [at, setAt] = useState<string | null>(null);
  const isPainted = isMany && far;
  /** Nodes that are being dragged: the same set meanwhile. */
  const moving = dragged.current;
  const shown = useMemo(() => (isPainted ? realParts(nodes, edges, at, dragged.current) : { nodes, edges }), [isPainted, nodes, edges, at]);
  const paintedAt = useCallback((event: { clientX: number; clientY: number }) => hit(now.current, links.current, flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }, { snapToGrid: false }), flow.getZoom()), [flow]);
  const links = useRef<AnyEdge[]>([]);
  links.current = edges;
  /** A few selected nodes are elements; of many, those that are only painted move along. */
  const painted = (): AnyNode[] => (isPainted ? now.current.filter((node) => node.selected && !shown.nodes.includes(node)) : []);

  useEffect(() => {
    if (!drawing || !layout) return;
    const where = places(drawing, layout);
    const shown = fold(drawing, groupsOf(drawing, layout, folded));
    setNodes((before) => nodesOf(shown.drawing, layout, where, selection, before, dragged.current, shown.within));
    setEdges((before) => edgesOf(shown.drawing, where, selection, flowsShown, before));
  }, [drawing, layout, selection, flowsShown, folded]);

  const { fit, show, leave } = useView(box, () => now.current, drawing !== null && (nodes.length > 0 || drawing.nodes.length === 0));
  useEffect(() => {
    setStage({
      spot: () => {
        const of = box.current?.getBoundingClientRect();
        const at = pointer.current ?? { x: (of?.left ?? 0) + (of?.width ?? 0) / 2, y: (of?.top ?? 0) + (of?.height ?? 0) / 2 };
        return flow.screenToFlowPosition(at);
      },
      fit,
      zoom: (factor) => void flow.zoomTo(flow.getZoom() * factor),
      show,
      positions: () => ({ ...(drawing && layout ? places(drawing, layout) : {}), ...Object.fromEntries(now.current.map((node) => [node.id, { x: Math.round(node.position.x), y: Math.round(node.position.y) }])) }),
      focus: () => box.current?.querySelector<HTMLElement>(".react-flow__node.selected, .react-flow__node, .react-flow")?.focus(),
    });
    return () => setStage(null);
  }, [flow, fit, drawing, layout]);

  const along = useRef<AnyNode[]>([]);
  const paintedNow = useRef(painted);
  paintedNow.current = painted;
  /** Positions as React Flow changes them, and of selected nodes that it does not draw as far. */
  const alongside = useCallback((changes: NodeChange<AnyNode>[], before: AnyNode[]): AnyNode[] => {
    const after = applyNodeChanges(changes, before);
    const first = changes.find((change) => change.type === "position" && change.position);
    if (along.current.length === 0 || first?.type !== "position" || !first.position) return after;
    const from = before.find(({ id }) => id === first.id)?.position ?? first.position;
    const [dx, dy] = [first.position.x - from.x, first.position.y - from.y];
    const too = new Set(along.current.map(({ id }) => id));
    return after.map((node) => (too.has(node.id) ? { ...node, position: { x: node.position.x + dx, y: node.position.y + dy } } : node));
  }, []);

  // Arrow keys move what is selected; several presses are one step of undo.
  const steps = useRef<ReturnType<typeof setTimeout> | null>(null);
  const stepped = useCallback((ids: readonly string[]) => {
    if (steps.current) clearTimeout(steps.current);
    dragged.current = new Set(ids);
    steps.current = setTimeout(() => {
      steps.current = null;
      dragged.current = new Set();
      move(Object.fromEntries(now.current.filter((node) => ids.includes(node.id)).map((node) => [node.id, onGrid(node.position)])));
    }, 400);
  }, []);
  const onNodesChange = useCallback((changes: NodeChange<AnyNode>[]) => {
    const moved = changes.filter((change) => change.type !== "select" && change.type !== "remove");
    if (moved.length > 0) setNodes((before) => alongside(moved, before));
    const byKeys = moved.filter((change) => change.type === "position" && change.dragging === false && (steps.current || dragged.current.size === 0));
    if (byKeys.length > 0) stepped(byKeys.map((change) => (change as { id: string }).id));
    chosen(changes, "nodes");
  }, []);
  const onEdgesChange = useCallback((changes: EdgeChange<AnyEdge>[]) => chosen(changes, "edges"), []);

  /** While something is dragged, what lies beneath the pointer is of no interest, and finding it in a large drawing costs a quarter of a step. */
  const shielded = useCallback((is: boolean) => {
    if (shield.current) shield.current.hidden = !is;
  }, []);
  const dragStart = useCallback((_: unknown, node: AnyNode, all: AnyNode[]) => {
    along.current = node.selected ? paintedNow.current() : [];
    dragged.current = new Set([...all, ...along.current].map(({ id }) => id));
    shielded(true);
  }, []);
  const dragStop = useCallback((_: unknown, one: AnyNode, all: AnyNode[]) => {
    const before = state().document?.layout.nodes ?? {};
    const too = new Set(along.current.map(({ id }) => id));
    const last = now.current.find(({ id }) => id === one.id)?.position ?? one.position;
    const [dx, dy] = [one.position.x - last.x, one.position.y - last.y];
    const painted = now.current.filter(({ id }) => too.has(id)).map(({ id, position }) => [id, onGrid({ x: position.x + dx, y: position.y + dy })] as const);
    const to = Object.fromEntries([...all.map((node) => [node.id, onGrid(node.position)] as const), ...painted]);
    along.current = [];
    const isMoved = Object.entries(to).some(([name, at]) => before[name]?.x !== at.x || before[name]?.y !== at.y);
    dragged.current = new Set();
    shielded(false);
    if (isMoved) move(to);
  }, []);

  const groupStart = useCallback((event: unknown, all: AnyNode[]) => all[0] && dragStart(event, all[0], all), [dragStart]);
  const groupStop = useCallback((event: unknown, all: AnyNode[]) => all[0] && dragStop(event, all[0], all), [dragStop]);
  const connect = useCallback(({ source, target }: Connection) => void (state().tool === "flow" ? addFlow(source, target) : addLink(source, target)), []);
  const onPane = useCallback(
    (event: MouseEvent) => {
      setMenu(null);
      const { tool: one } = state();
      // Fingers touch without hovering first.
      const under = one === "select" && isPainted ? paintedAt(event) : null;
      if (under) return under.includes("~") ? selectEdge(under) : select({ nodes: [under] });
      if (one === "host" || one === "switch" || one === "router") void addNode(one, flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }));
    },
    [flow, isPainted, paintedAt],
  );
  const onMenu = useCallback((event: MouseEvent | globalThis.MouseEvent) => {
    event.preventDefault();
    setMenu({ x: event.clientX, y: event.clientY });
  }, []);
  const onGroundMenu = useCallback(
    (event: MouseEvent | globalThis.MouseEvent) => {
      select({});
      onMenu(event);
    },
    [onMenu],
  );
  const onNodeMenu = useCallback(
    (event: MouseEvent, node: AnyNode) => {
      if (!state().selection.nodes.includes(node.id)) select({ nodes: [node.id] });
      onMenu(event);
    },
    [onMenu],
  );
  const onEdgeMenu = useCallback(
    (event: MouseEvent, edge: AnyEdge) => {
      selectEdge(edge.id);
      onMenu(event);
    },
    [onMenu],
  );
  const onPointer = useCallback(
    (event: { clientX: number; clientY: number; buttons: number }) => {
      pointer.current = { x: event.clientX, y: event.clientY };
      if (isPainted && event.buttons === 0) setAt(paintedAt(event));
    },
    [isPainted, paintedAt],
  );
  // React Flow selects what it draws; what is painted is found here.
  const areaFrom = useRef<Point | null>(null);
  const areaStart = useCallback((event: MouseEvent) => (areaFrom.current = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }, { snapToGrid: false })), [flow]);
  const areaEnd = useCallback(
    (event: MouseEvent) => {
      const [from, to] = [areaFrom.current, flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }, { snapToGrid: false })];
      if (!isPainted || !from) return;
      const inside = ({ x, y }: Point): boolean => x >= Math.min(from.x, to.x) && x <= Math.max(from.x, to.x) && y >= Math.min(from.y, to.y) && y <= Math.max(from.y, to.y);
      select({ nodes: now.current.filter((node) => node.type === "network" && inside(node.position)).map(({ id }) => id) });
    },
    [flow, isPainted],
  );
  const onMoveStart = useCallback((event: unknown) => {
    if (event) leave();
  }, []);
  // Not before the ground has moved, or a click would not reach it; nor by the wheel, which is turned over the drawing.
  const onMove = useCallback((event: globalThis.MouseEvent | TouchEvent | null) => event?.type === "mousemove" && shielded(true), []);
  const onMoveEnd = useCallback(() => shielded(false), []);
  const kinds = useMemo(() => ["canvas", `tool-${tool}`, far ? "far" : "", isMany ? "many" : "", isPainted ? "painted" : ""].join(" "), [tool, far, isMany, isPainted]);

  return (
    <div ref={box} className={kinds} style={{ "--names": scale } as CSSProperties} data-keys onPointerMove={onPointer} onPointerLeave={() => (pointer.current = null)}>
      <ReactFlow<AnyNode, AnyEdge>
        nodes={shown.nodes}
        edges={shown.edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        nodeOrigin={ORIGIN}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onNodeDragStart={dragStart}
        onNodeDragStop={dragStop}
        onSelectionDragStart={groupStart}
        onSelectionDragStop={groupStop}
        onConnect={connect}
        onMoveStart={onMoveStart}
        onMove={onMove}
        onMoveEnd={onMoveEnd}
        onPaneClick={onPane}
        onNodeDoubleClick={onNodeTwice}
        onEdgeDoubleClick={onEdgeTwice}
        onPaneContextMenu={onGroundMenu}
        onNodeContextMenu={onNodeMenu}
        onEdgeContextMenu={onEdgeMenu}
        onSelectionContextMenu={onMenu}
        onSelectionStart={areaStart}
        onSelectionEnd={areaEnd}
        connectionMode={ConnectionMode.Loose}
        isValidConnection={isPossible}
        connectionRadius={34}
        nodesConnectable={tool === "link" || tool === "flow" || tool === "select"}
        nodesDraggable={tool === "select"}
        selectionOnDrag={false}
        selectionMode={SelectionMode.Partial}
        selectionKeyCode="Shift"
        multiSelectionKeyCode={MORE_KEYS}
        deleteKeyCode={null}
        snapToGrid
        snapGrid={SNAP}
        minZoom={LEAST_ZOOM}
        maxZoom={MOST_ZOOM}
        elevateNodesOnSelect={false}
        elevateEdgesOnSelect={false}
        onlyRenderVisibleElements={isMany}
        zoomOnDoubleClick={false}
        ariaLabelConfig={LABELS}
        proOptions={PRO}
      >
        <Background variant={BackgroundVariant.Dots} gap={GRID * 2} size={1} />
        {isPainted && <Overview nodes={nodes} edges={edges} moving={moving} />}
        <Controls showInteractive={false} position="bottom-left" onFitView={fit} />
      </ReactFlow>
      <div ref={shield} className="shield" hidden onPointerMove={(event) => event.buttons === 0 && shielded(false)} />
      {menu && <Menu at={menu} onClose={() => setMenu(null)} />}
    </div>
  );
}

function selectEdge(id: string): void {
  if (id.startsWith("flow:")) select({ flows: [Number(id.slice(5))] });
  else if (!state().selection.links.includes(id)) select({ links: [id] });
}

/** Show the form of what was clicked twice. */
function edit(node: string | null): void {
  if (node !== null) {
    if (node.startsWith("note:")) return;
    select({ nodes: [node] });
  }
  useEditor.setState({ form: true });
  setTimeout(() => document.querySelector<HTMLElement>(".form-pane input, .form-pane select")?.focus(), 30);
}

/** Selecting in the canvas is selecting in the store. */
function chosen(changes: readonly (NodeChange<AnyNode> | EdgeChange<AnyEdge>)[], of: "nodes" | "edges"): void {
  const picked = changes.filter((change) => change.type === "select");
  if (picked.length === 0) return;
  const { selection } = state();
  const nodes = new Set(selection.nodes);
  const links = new Set(selection.links);
  const flows = new Set(selection.flows);
  for (const { id, selected } of picked) {
    if (of === "nodes") selected ? nodes.add(id) : nodes.delete(id);
    else if (id.startsWith("flow:")) selected ? flows.add(Number(id.slice(5))) : flows.delete(Number(id.slice(5)));
    else selected ? links.add(id) : links.delete(id);
  }
  select({ nodes: [...nodes], links: [...links], flows: [...flows] });
}
