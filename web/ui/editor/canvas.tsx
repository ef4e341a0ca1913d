// The drawing: pan, zoom, select, drag, link. What is dragged moves here at once; the server hears of it when it is let go.

import { Background, BackgroundVariant, ConnectionMode, Controls, ReactFlow, ReactFlowProvider, SelectionMode, applyNodeChanges, useReactFlow, useStore, type Connection, type EdgeChange, type NodeChange } from "@xyflow/react";
import { memo, useCallback, useEffect, useMemo, useRef, useState, type MouseEvent, type ReactNode } from "react";
import { addFlow, addLink, addNode, move } from "./commands";
import { FlowEdgeView, LinkEdgeView } from "./edges";
import { edges as edgesOf, nodes as nodesOf, type AnyEdge, type AnyNode } from "./elements";
import { Menu, type MenuPlace } from "./menu";
import { NetworkNodeView } from "./node";
import { NoteView } from "./note";
import type { Point } from "../kit/messages";
import { GRID, snap } from "../layouts/arrange";
import { setStage } from "./stage";
import { select, state, useEditor } from "../document/store";

const NODE_TYPES = { network: NetworkNodeView, note: NoteView };
const EDGE_TYPES = { link: LinkEdgeView, flow: FlowEdgeView };
const LABELS = {
  "node.a11yDescription.default": "Enter selects the node, arrow keys move it, Delete removes it, L links it.",
  "node.a11yDescription.keyboardDisabled": "Enter selects the node, arrow keys move it, Delete removes it.",
  "edge.a11yDescription.default": "Enter selects it, Delete removes it.",
};
/** Above so many elements, small ones lose their labels. */
const MANY = 600;

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

/** How all of a drawing is shown. */
const WHOLE = { padding: 0.18, maxZoom: 1.25, duration: 0 };

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
  const flow = useReactFlow<AnyNode, AnyEdge>();
  const far = useStore(({ transform }) => transform[2] < 0.5);
  const [nodes, setNodes] = useState<AnyNode[]>([]);
  const [edges, setEdges] = useState<AnyEdge[]>([]);
  const [menu, setMenu] = useState<MenuPlace | null>(null);
  const dragged = useRef(new Set<string>());
  const pointer = useRef<{ x: number; y: number } | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const fitted = useRef(false);
  /** True until the user pans or zooms: then the view is the user's. */
  const whole = useRef(true);
  const shield = useRef<HTMLDivElement>(null);
  const now = useRef<AnyNode[]>([]);
  now.current = nodes;

  useEffect(() => {
    if (!drawing || !layout) return;
    setNodes((before) => nodesOf(drawing, layout, selection, before, dragged.current));
    setEdges((before) => edgesOf(drawing, layout, selection, flowsShown, before));
  }, [drawing, layout, selection, flowsShown]);

  const fit = useCallback(() => {
    whole.current = true;
    void flow.fitView(WHOLE);
  }, [flow]);
  useEffect(() => {
    let [width, height] = [box.current?.clientWidth ?? 0, box.current?.clientHeight ?? 0];
    const inSight = (): boolean => {
      const { x, y, zoom } = flow.getViewport();
      const all = flow.getNodesBounds(flow.getNodes());
      return all.x * zoom + x >= 0 && all.y * zoom + y >= 0 && (all.x + all.width) * zoom + x <= width && (all.y + all.height) * zoom + y <= height;
    };
    // Where a pane opens beside the drawing, all that was in sight stays so.
    const resized = new ResizeObserver(() => {
      const wasInSight = inSight();
      [width, height] = [box.current?.clientWidth ?? 0, box.current?.clientHeight ?? 0];
      if (!fitted.current || !(whole.current || (wasInSight && !inSight()))) return;
      requestAnimationFrame(() => void flow.fitView(WHOLE));
    });
    if (box.current) resized.observe(box.current);
    return () => resized.disconnect();
  }, [flow]);
  useEffect(() => {
    if (fitted.current || !drawing) return;
    fitted.current = true;
    // On an empty drawing, what one places stays where one has clicked.
    if (drawing.nodes.length === 0) whole.current = false;
    else requestAnimationFrame(fit);
  }, [drawing, fit]);

  useEffect(() => {
    setStage({
      spot: () => {
        const of = box.current?.getBoundingClientRect();
        const at = pointer.current ?? { x: (of?.left ?? 0) + (of?.width ?? 0) / 2, y: (of?.top ?? 0) + (of?.height ?? 0) / 2 };
        return flow.screenToFlowPosition(at);
      },
      fit,
      zoom: (factor) => void flow.zoomTo(flow.getZoom() * factor),
      show: (names) => void flow.fitView({ nodes: names.map((id) => ({ id })), padding: 0.6, maxZoom: Math.max(1, flow.getZoom()), duration: 0 }),
      positions: () => Object.fromEntries(now.current.map((node) => [node.id, { x: Math.round(node.position.x), y: Math.round(node.position.y) }])),
      focus: () => box.current?.querySelector<HTMLElement>(".react-flow__node.selected, .react-flow__node, .react-flow")?.focus(),
    });
    return () => setStage(null);
  }, [flow, fit]);

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
    if (moved.length > 0) setNodes((before) => applyNodeChanges(moved, before));
    const byKeys = moved.filter((change) => change.type === "position" && change.dragging === false && (steps.current || dragged.current.size === 0));
    if (byKeys.length > 0) stepped(byKeys.map((change) => (change as { id: string }).id));
    chosen(changes, "nodes");
  }, []);
  const onEdgesChange = useCallback((changes: EdgeChange<AnyEdge>[]) => chosen(changes, "edges"), []);

  /** While something is dragged, what lies beneath the pointer is of no interest, and finding it in a large drawing costs a quarter of a step. */
  const shielded = useCallback((is: boolean) => {
    if (shield.current) shield.current.hidden = !is;
  }, []);
  const dragStart = useCallback((_: unknown, __: AnyNode, all: AnyNode[]) => {
    dragged.current = new Set(all.map((node) => node.id));
    shielded(true);
  }, []);
  const dragStop = useCallback((_: unknown, __: AnyNode, all: AnyNode[]) => {
    const before = state().document?.layout.nodes ?? {};
    const to = Object.fromEntries(all.map((node) => [node.id, onGrid(node.position)]));
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
      if (one === "host" || one === "switch" || one === "router") void addNode(one, flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }));
    },
    [flow],
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
  const onMoveStart = useCallback((event: unknown) => {
    if (event) whole.current = false;
  }, []);
  // Not before the ground has moved, or a click would not reach it; nor by the wheel, which is turned over the drawing.
  const onMove = useCallback((event: globalThis.MouseEvent | TouchEvent | null) => event?.type === "mousemove" && shielded(true), []);
  const onMoveEnd = useCallback(() => shielded(false), []);
  const kinds = useMemo(() => ["canvas", `tool-${tool}`, far ? "far" : "", nodes.length + edges.length > MANY ? "many" : ""].join(" "), [tool, far, nodes.length, edges.length]);

  return (
    <div ref={box} className={kinds} data-keys onPointerMove={(event) => (pointer.current = { x: event.clientX, y: event.clientY })} onPointerLeave={() => (pointer.current = null)}>
      <ReactFlow<AnyNode, AnyEdge>
        nodes={nodes}
        edges={edges}
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
        minZoom={0.1}
        maxZoom={3}
        elevateNodesOnSelect={false}
        elevateEdgesOnSelect={false}
        onlyRenderVisibleElements={nodes.length > MANY}
        zoomOnDoubleClick={false}
        ariaLabelConfig={LABELS}
        proOptions={PRO}
      >
        <Background variant={BackgroundVariant.Dots} gap={GRID * 2} size={1} />
        <Controls showInteractive={false} position="bottom-left" />
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
