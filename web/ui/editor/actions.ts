// All that can be done in the editor, with its keys.

import type { Action } from "../kit/actions";
import { copy, duplicate, paste } from "./clipboard";
import { addNode, annotate, hasPlaces, layOut, nudge, removeSelected, selectAll } from "./commands";
import { canFold, foldHosts, foldSelected } from "./folding";
import { go } from "../kit/route";
import { download, exportAs } from "./export";
import { ask } from "./questions";
import { GRID, type Arrangement } from "../layouts/arrange";
import { stage } from "../network/stage";
import { select, send, state, toggle, useEditor } from "../document/store";

const some = (): boolean => {
  const { nodes, links, flows } = state().selection;
  return nodes.length + links.length + flows.length > 0;
};
const nodes = (): boolean => state().selection.nodes.length > 0;

const ARRANGEMENTS: readonly { how: Arrangement; title: string }[] = [
  { how: "tree", title: "as a tree" },
  { how: "ring", title: "as a ring" },
  { how: "layers", title: "in layers" },
  { how: "geography", title: "as on a map" },
  { how: "force", title: "with neighbours near each other" },
];

/** Show the form and put the focus into it. */
export function editSelected(): void {
  toggle("form", true);
  useEditor.setState({ pane: "form" });
  setTimeout(() => document.querySelector<HTMLElement>(".form-pane input, .form-pane select")?.focus(), 30);
}

export function editorActions(): Action[] {
  const document_ = state().document;
  return [
    { id: "host", title: "Add a host", group: "Add", icon: "host", keys: ["H"], run: () => void addNode("host") },
    { id: "switch", title: "Add a switch", group: "Add", icon: "switch", keys: ["S"], run: () => void addNode("switch") },
    { id: "router", title: "Add a router", group: "Add", icon: "router", keys: ["R"], run: () => void addNode("router") },
    { id: "link", title: "Link the selection with …", group: "Add", icon: "link", keys: ["L"], run: () => ask("link") },
    { id: "flow", title: "Add a flow", group: "Add", icon: "flow", keys: ["F"], run: () => ask("flow") },
    { id: "generate", title: "Insert a group of nodes", group: "Add", icon: "template", keys: ["I"], run: () => ask("generate") },
    { id: "note", title: "Add a text", group: "Add", icon: "text", keys: ["A"], run: () => annotate("text") },
    { id: "frame", title: "Add a frame around the selection", group: "Add", icon: "group", keys: ["G"], can: nodes, run: () => annotate("group") },
    { id: "edit", title: "Edit the selection", group: "Edit", icon: "settings", keys: ["Enter"], run: editSelected },
    { id: "delete", title: "Delete the selection", group: "Edit", icon: "trash", keys: ["Delete", "Backspace"], can: some, run: removeSelected },
    { id: "undo", title: `Undo${document_?.undo ? `: ${document_.undo}` : ""}`, group: "Edit", icon: "undo", keys: ["Ctrl-Z"], run: () => void send({ do: "undo" }), can: () => state().document?.can_undo ?? false },
    { id: "redo", title: `Redo${document_?.redo ? `: ${document_.redo}` : ""}`, group: "Edit", icon: "redo", keys: ["Ctrl-Shift-Z", "Ctrl-Y"], run: () => void send({ do: "redo" }), can: () => state().document?.can_redo ?? false },
    { id: "copy", title: "Copy", group: "Edit", icon: "copy", keys: ["Ctrl-C"], can: nodes, run: () => void copy() },
    { id: "cut", title: "Cut", group: "Edit", keys: ["Ctrl-X"], can: nodes, run: () => copy() && removeSelected() },
    { id: "paste", title: "Paste", group: "Edit", keys: ["Ctrl-V"], run: () => void paste() },
    { id: "duplicate", title: "Duplicate with links", group: "Edit", icon: "copy", keys: ["Ctrl-D"], can: nodes, run: () => void duplicate() },
    { id: "select-all", title: "Select all nodes", group: "Edit", keys: ["Ctrl-A"], run: selectAll },
    { id: "select-none", title: "Select nothing", group: "Edit", keys: ["Escape"], run: () => (useEditor.setState({ tool: "select" }), select({})) },
    { id: "save", title: "Save now", group: "Edit", icon: "save", keys: ["Ctrl-S"], run: () => void send({ do: "save" }) },
    { id: "free", title: "Make the preset free", group: "Edit", icon: "unlock", can: () => state().document?.drawing?.free === false, run: () => void send({ do: "free" }) },
    ...(["Left", "Right", "Up", "Down"] as const).flatMap((key): Action[] => {
      const [dx, dy] = { Left: [-1, 0], Right: [1, 0], Up: [0, -1], Down: [0, 1] }[key] as [number, number];
      return [
        { id: `move-${key}`, title: `Move the selection ${key.toLowerCase()}`, group: "Edit", keys: [key], quiet: true, can: nodes, run: () => nudge(dx * GRID, dy * GRID) },
        { id: `move-far-${key}`, title: `Move the selection far ${key.toLowerCase()}`, group: "Edit", keys: [`Shift-${key}`], quiet: true, can: nodes, run: () => nudge(dx * GRID * 5, dy * GRID * 5) },
      ];
    }),
    { id: "whatif", title: "What if: simulate it with sliders", group: "Run", icon: "settings", can: () => state().document !== null, run: () => go("whatif", state().path) },
    { id: "find", title: "Find", group: "View", icon: "search", keys: ["/", "Ctrl-F"], run: () => ask("find") },
    { id: "text", title: "Show or hide the text", group: "View", icon: "text", keys: ["E"], run: () => toggle("text") },
    { id: "outline", title: "Show or hide the outline", group: "View", icon: "outline", keys: ["O"], run: () => toggle("outline") },
    { id: "form", title: "Show or hide the form", group: "View", icon: "settings", keys: ["P"], run: () => toggle("form") },
    { id: "flows", title: "Show or hide flows", group: "View", icon: "flow", run: () => toggle("flowsShown") },
    { id: "layout", title: "Arrange all nodes as their links suggest", group: "View", icon: "layout", run: () => layOut() },
    ...ARRANGEMENTS.map(({ how, title }): Action => ({ id: `arrange-${how}`, title: `Arrange ${title}`, group: "View", icon: "layout", can: () => how !== "geography" || hasPlaces(), run: () => layOut(how) })),
    { id: "fold", title: "Fold or unfold what hangs on the selection", group: "View", icon: "group", keys: ["C"], can: canFold, run: foldSelected },
    { id: "fold-hosts", title: "Fold or unfold all hosts", group: "View", icon: "group", keys: ["Shift-C"], run: foldHosts },
    { id: "fit", title: "Show all", group: "View", icon: "fit", keys: ["1"], run: () => stage()?.fit() },
    { id: "zoom-in", title: "Zoom in", group: "View", icon: "add", keys: ["+", "="], run: () => stage()?.zoom(1.25) },
    { id: "zoom-out", title: "Zoom out", group: "View", icon: "minus", keys: ["-"], run: () => stage()?.zoom(0.8) },
    { id: "svg", title: "Save the drawing as SVG", group: "Export", icon: "export", run: () => void download("svg") },
    { id: "png", title: "Save the drawing as PNG", group: "Export", icon: "export", run: () => void download("png") },
    { id: "toml", title: "Save a copy of the scenario (TOML)", group: "Export", icon: "export", run: () => void download("toml") },
    { id: "mn", title: "Export for MiniEdit (.mn)", group: "Export", icon: "export", run: () => void exportAs("miniedit") },
    { id: "clab", title: "Export for containerlab (.clab.yml)", group: "Export", icon: "export", run: () => void exportAs("containerlab") },
    { id: "py", title: "Export as a program in Python (.py)", group: "Export", icon: "export", run: () => void exportAs("python") },
  ];
}
