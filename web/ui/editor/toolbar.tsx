// Tools above the canvas. A tool stays until another one is taken: many nodes are placed with as many clicks.

import { memo, useState, type ReactNode } from "react";
import { beneath, type MenuPlace } from "../kit/menu";
import { Button } from "../kit/parts";
import { Chooser } from "../kit/palette";
import { Menu } from "./menu";
import { ask, useQuestion } from "./questions";
import { stage } from "../network/stage";
import { send, toggle, useEditor, type Tool } from "../document/store";

const TOOLS: readonly { tool: Tool; title: string; hint: string }[] = [
  { tool: "select", title: "Select", hint: "Select and move (Escape)" },
  { tool: "host", title: "Host", hint: "Click to place hosts (H adds one)" },
  { tool: "switch", title: "Switch", hint: "Click to place switches (S adds one)" },
  { tool: "router", title: "Router", hint: "Click to place routers (R adds one)" },
  { tool: "link", title: "Link", hint: "Drag from node to node (L links the selected node)" },
  { tool: "flow", title: "Flow", hint: "Drag from sender to receiver (F between selected hosts)" },
];

export const Toolbar = memo(function Toolbar(): ReactNode {
  const tool = useEditor((editor) => editor.tool);
  const can_undo = useEditor((editor) => editor.document?.can_undo ?? false);
  const can_redo = useEditor((editor) => editor.document?.can_redo ?? false);
  const undo = useEditor((editor) => editor.document?.undo ?? "");
  const redo = useEditor((editor) => editor.document?.redo ?? "");
  const flowsShown = useEditor((editor) => editor.flowsShown);
  const [menu, setMenu] = useState<(MenuPlace & { of: "export" | "arrange" }) | null>(null);
  return (
    <>
      <div className="toolbar" role="toolbar" aria-label="Drawing">
        {TOOLS.map(({ tool: one, title, hint }) => (
          <Button key={one} look="quiet" icon={one} className="tool" aria-pressed={tool === one} aria-label={title} title={hint} onClick={() => useEditor.setState({ tool: one })}>
            <span className="tool-name">{title}</span>
          </Button>
        ))}
        <span className="gap" />
        <Button look="quiet" icon="undo" title={`Undo${undo ? `: ${undo}` : ""} (Ctrl-Z)`} disabled={!can_undo} onClick={() => void send({ do: "undo" })} />
        <Button look="quiet" icon="redo" title={`Redo${redo ? `: ${redo}` : ""} (Ctrl-Shift-Z)`} disabled={!can_redo} onClick={() => void send({ do: "redo" })} />
        <span className="gap" />
        <Button look="quiet" icon="template" title="Insert a group of nodes" onClick={() => ask("generate")} />
        <Button look="quiet" icon="layout" title="Arrange all nodes" aria-haspopup="menu" onClick={(event) => setMenu({ of: "arrange", ...beneath(event) })} />
        <Button look="quiet" icon="fit" title="Show all (1)" onClick={() => stage()?.fit()} />
        <Button look="quiet" icon="search" title="Find (/)" onClick={() => ask("find")} />
        <Button
          look="quiet"
          icon="export"
          title="Export"
          aria-haspopup="menu"
          onClick={(event) => setMenu({ of: "export", ...beneath(event) })}
        />
        <Button look="quiet" icon="flow" className="flows-toggle" title={flowsShown ? "Hide flows" : "Show flows"} aria-pressed={flowsShown} onClick={() => toggle("flowsShown")} />
      </div>
      {menu && <Menu at={menu} of={menu.of} onClose={() => setMenu(null)} />}
    </>
  );
});

/** What an action asks before it can act: a node to link with, something to find. */
export function Questions(): ReactNode {
  const { question, close } = useQuestion();
  if (!question) return null;
  return <Chooser key={question.label} label={question.label} choices={question.choices} onChoose={question.onChoose} onClose={close} />;
}
