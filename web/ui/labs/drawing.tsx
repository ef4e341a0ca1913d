// The network of a lab on the editor's canvas: its nodes and links as they are, with what they carry.

import { ConnectionMode, Controls, ReactFlow, ReactFlowProvider, useReactFlow, useStore, type EdgeChange, type NodeChange } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState, type CSSProperties, type MouseEvent, type PointerEvent, type ReactNode } from "react";
import { FlowEdgeView, LinkEdgeView } from "../network/edges";
import { edges as edgesOf, nodes as nodesOf, type AnyEdge, type AnyNode } from "../network/elements";
import { useLive, type LiveDirection } from "../network/live";
import { NetworkNodeView } from "../network/node";
import { Overview } from "../network/overview";
import { FAR, hit, MANY, nameScale, realParts } from "../network/painted";
import { LEAST_ZOOM, MOST_ZOOM, useView } from "../network/use-view";
import { forgetPlaces, places } from "../document/places";
import { linkIds, NOTHING } from "../document/selection";
import type { MenuPlace } from "../kit/menu";
import type { Document, Drawing, Layout, Point } from "../kit/messages";
import type { LabState, WhyShown } from "../kit/run-messages";
import { socket } from "../kit/socket";
import { rate } from "../runs/figures";
import { cables, drawingOf } from "./network";
import type { Lab } from "./use-lab";

export type Chosen = { kind: "node"; name: string } | { kind: "cable"; links: readonly string[] } | null;

export interface LabStage {
  show: (names: readonly string[]) => void;
}

/** What was clicked with the right button: where on the page, and where in the drawing. */
export interface Clicked {
  at: MenuPlace;
  spot: Point;
  part: Chosen;
}

interface Props {
  lab: Lab;
  why: WhyShown | null;
  chosen: Chosen;
  onChoose: (chosen: Chosen) => void;
  onOpen: (node: string) => void;
  onMenu: (clicked: Clicked) => void;
  onConnect: (from: string, to: string) => void;
  /** Set to what others may ask of the drawing. */
  stage: { current: LabStage | null };
}

const NODE_TYPES = { network: NetworkNodeView };
const EDGE_TYPES = { link: LinkEdgeView, flow: FlowEdgeView };
const ORIGIN: [number, number] = [0.5, 0.5];
const PRO = { hideAttribution: true };
const LABELS = {
  "node.a11yDescription.default": "Enter chooses the node, L links it, Delete removes it.",
  "edge.a11yDescription.default": "Enter chooses the link, Delete removes it.",
};
const isPossible = ({ source, target }: { source: string; target: string }): boolean => source !== target;
const NO_LAYOUT: Layout = { nodes: {}, annotations: [] };
const STILL: ReadonlySet<string> = new Set();
/** A link that carries less says what it could carry. */
const LEAST_BPS = 1000;

/** Where the scenario's editor has put the nodes, and its drawing; null if it is no file of the workspace. */
function useDocument(scenario: string): { layout: Layout; drawing: Drawing | null } | null {
  const [found, setFound] = useState<{ layout: Layout; drawing: Drawing | null } | null>(null);
  useEffect(() => {
    if (!scenario.endsWith(".toml")) return;
    return socket.subscribe(`document/${scenario}`, (event) => setFound(event as Document), null, () => {});
  }, [scenario]);
  return found;
}

export function LabDrawing(props: Props): ReactNode {
  return (
    <ReactFlowProvider>
      <Inside {...props} />
    </ReactFlowProvider>
  );
}

function Inside({ lab, why, chosen, onChoose, onOpen, onMenu, onConnect, stage }: Props): ReactNode {
  const state = lab.state as LabState;
  // Places of another network are not those of this one, though its nodes may have the same names.
  useState(forgetPlaces);
  const document = useDocument(state.scenario);
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<string | null>(null);
  const far = useStore(({ transform }) => transform[2] < FAR);
  const scale = useStore(({ transform }) => nameScale(transform[2]));
  const flow = useReactFlow<AnyNode, AnyEdge>();
  useCarried(lab, state);

  const drawing = useMemo(() => drawingOf(state, document?.drawing ?? null), [state, document]);
  const ids = useMemo(() => linkIds(drawing), [drawing]);
  const cable = useMemo(() => new Map(cables(state).map((links, i) => [ids[i] ?? "", links.filter((one) => one !== undefined)])), [state, ids]);
  const before = useRef<{ nodes: AnyNode[]; edges: AnyEdge[] }>({ nodes: [], edges: [] });
  const { nodes, edges } = useMemo(() => {
    const layout = document ? { ...document.layout, annotations: [] } : NO_LAYOUT;
    const where = places(drawing, layout);
    const of = chosen?.kind === "cable" ? [...cable].find(([, links]) => links[0] === chosen.links[0])?.[0] : undefined;
    const selection = { ...NOTHING, nodes: chosen?.kind === "node" ? [chosen.name] : [], links: of ? [of] : [] };
    const waiting = new Set(state.nodes.filter(({ waits }) => waits).map(({ name }) => name));
    const down = new Set(state.links.filter(({ up }) => !up).map(({ name }) => name));
    // Elements are groups, as in the editor: a button's name would have to have all words in it, and those of traffic change.
    const drawn = nodesOf(drawing, layout, where, selection, before.current.nodes, STILL).map((node): AnyNode => {
      if (node.type !== "network") return node;
      const marked = [waiting.has(node.id) ? "waiting" : "", seen([node.id], why?.nodes, why?.faulty_nodes)].filter(Boolean).join(" ");
      const className = `lab-node ${marked}`;
      const { kind, addresses } = node.data.drawn;
      return { ...node, className, ariaLabel: `${kind} ${node.id} ${waiting.has(node.id) ? "without a link" : (addresses[0] ?? "")}`, data: { ...node.data, marked } };
    });
    const links = edgesOf(drawing, where, selection, false, before.current.edges).map((edge): AnyEdge => {
      if (edge.type !== "link" || !edge.data) return edge;
      const names = cable.get(edge.id) ?? [];
      const isDown = names.some((name) => down.has(name));
      const marked = [isDown ? "down" : "", seen(names, why?.links, why?.faulty_links)].filter(Boolean).join(" ");
      const className = `lab-cable ${marked}`;
      const label = `link ${edge.data.drawn.between.join(" to ")}, ${isDown ? "down" : "up"}, ${edge.data.said.join(", ")}`;
      return { ...edge, className, ariaLabel: label, data: { ...edge.data, said: isDown ? ["down"] : edge.data.said, marked } };
    });
    return { nodes: drawn, edges: links };
  }, [drawing, document, chosen, why, cable]);
  before.current = { nodes, edges };

  const isMany = nodes.length + edges.length > MANY;
  const isPainted = isMany && far;
  const shown = useMemo(() => (isPainted ? realParts(nodes, edges, at, STILL) : { nodes, edges }), [isPainted, nodes, edges, at]);
  // A lab of a file waits for the file's layout, or its drawing would jump.
  const { fit, again, show, leave } = useView(box, () => before.current.nodes, document !== null || !state.scenario.endsWith(".toml"));
  stage.current = { show };
  const names = state.nodes.map(({ name }) => name).join(" ");
  useEffect(again, [names]);

  const part = useCallback(
    (id: string | null): Chosen => {
      const links = id === null ? undefined : cable.get(id);
      return id === null ? null : links ? { kind: "cable", links } : { kind: "node", name: id };
    },
    [cable],
  );
  const choose = useCallback((id: string | null) => onChoose(part(id)), [part, onChoose]);
  const changed = useCallback(
    (changes: readonly (NodeChange<AnyNode> | EdgeChange<AnyEdge>)[]) => {
      for (const change of changes) if (change.type === "select" && change.selected) choose(change.id);
    },
    [choose],
  );
  const menu = (id: string | null, event: MouseEvent | globalThis.MouseEvent): void => {
    event.preventDefault();
    const at = { x: event.clientX, y: event.clientY };
    choose(id);
    onMenu({ at, spot: flow.screenToFlowPosition(at), part: part(id) });
  };
  const under = (event: { clientX: number; clientY: number }): string | null => hit(before.current.nodes, before.current.edges, flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }), flow.getZoom());
  return (
    <div
      ref={box} className={`canvas lab-drawing tool-select ${far ? "far" : ""} ${isPainted ? "painted" : ""}`} role="group" aria-label="The network" style={{ "--names": scale } as CSSProperties} data-keys
      onPointerMove={(event: PointerEvent) => isPainted && event.buttons === 0 && setAt(under(event))}
    >
      <ReactFlow<AnyNode, AnyEdge>
        nodes={shown.nodes}
        edges={shown.edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        nodeOrigin={ORIGIN}
        onNodesChange={changed}
        onEdgesChange={changed}
        onNodeDoubleClick={(_, { id }) => state.nodes.some(({ name, runs_programs }) => name === id && runs_programs) && onOpen(id)}
        onPaneClick={(event) => choose(isPainted ? under(event) : null)}
        onPaneContextMenu={(event) => menu(isPainted ? under(event) : null, event)}
        onNodeContextMenu={(event, { id }) => menu(id, event)}
        onEdgeContextMenu={(event, { id }) => menu(id, event)}
        onConnect={({ source, target }) => onConnect(source, target)}
        onMoveStart={(event) => event && leave()}
        connectionMode={ConnectionMode.Loose}
        isValidConnection={isPossible}
        connectionRadius={34}
        nodesDraggable={false}
        nodesConnectable={!lab.ended}
        deleteKeyCode={null}
        selectionKeyCode={null}
        minZoom={LEAST_ZOOM}
        maxZoom={MOST_ZOOM}
        elevateNodesOnSelect={false}
        elevateEdgesOnSelect={false}
        onlyRenderVisibleElements={isMany}
        zoomOnDoubleClick={false}
        ariaLabelConfig={LABELS}
        proOptions={PRO}
      >
        {isPainted && <Overview nodes={nodes} edges={edges} moving={STILL} />}
        <Controls showInteractive={false} position="bottom-left" onFitView={fit} />
      </ReactFlow>
    </div>
  );
}

/** The class of what packets pass, and of what stops them. */
function seen(names: readonly string[], passed: readonly string[] = [], faulty: readonly string[] = []): "" | "on-way" | "faulty" {
  if (names.some((name) => faulty.includes(name))) return "faulty";
  return names.some((name) => passed.includes(name)) ? "on-way" : "";
}

/** Shows the load of links on the drawing, a few times a second. */
function useCarried(lab: Lab, state: LabState): void {
  const latest = useRef({ lab, state });
  latest.current = { lab, state };
  useEffect(() => {
    const tell = (): void => {
      const { lab: now, state: of } = latest.current;
      const links: Record<string, LiveDirection> = {};
      for (const { name, rate_bps } of of.links) {
        const bps = now.links.get(name)?.bps ?? 0;
        if (bps >= LEAST_BPS && !now.ended) links[name] = { share: rate_bps ? bps / rate_bps : null, text: rate(bps), queue: null, drops: 0 };
      }
      const shown = useLive.getState().links;
      if (Object.keys(links).length > 0 || Object.keys(shown).length > 0) useLive.setState({ path: null, links });
    };
    const timer = setInterval(tell, 250);
    return () => {
      clearInterval(timer);
      useLive.setState({ path: null, links: {} });
    };
  }, []);
}
