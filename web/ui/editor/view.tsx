// The editor: drawing, outline, form and text of one document, around the server's state.

import { lazy, Suspense, useEffect, type ReactNode } from "react";
import { drawnFinds } from "./questions";
import { offer, offerFinds } from "../kit/actions";
import { Icon } from "../kit/icons";
import { Missing } from "../kit/missing";
import { Button, ProblemText } from "../kit/parts";
import { href, type ViewProps } from "../kit/route";
import { useShell } from "../kit/shell";
import { RunButton, RunDock } from "./run";
import { editorActions } from "./actions";
import { Canvas } from "./canvas";
import { Inspector } from "./inspector";
import { LockBar } from "./lock-bar";
import { FreeBar } from "./made";
import { Outline } from "./outline";
import { openDocument, send, toggle, useEditor, type Pane } from "../document/store";
import { Questions, Toolbar } from "./toolbar";
import { count } from "../../charts/counts";

const TextPane = lazy(() => import("./text/pane"));
const PANES: readonly { pane: Pane; title: string; icon: "layout" | "outline" | "settings" | "text" }[] = [
  { pane: "draw", title: "Drawing", icon: "layout" },
  { pane: "outline", title: "Outline", icon: "outline" },
  { pane: "form", title: "Form", icon: "settings" },
  { pane: "text", title: "Text", icon: "text" },
];

export default function View({ rest }: ViewProps): ReactNode {
  const path = rest.join("/");
  const document = useEditor((editor) => editor.document);
  const refused = useEditor((editor) => editor.refused);
  const outline = useEditor((editor) => editor.outline);
  const form = useEditor((editor) => editor.form);
  const text = useEditor((editor) => editor.text);
  const pane = useEditor((editor) => editor.pane);
  useEffect(() => openDocument(path), [path]);
  useEffect(() => offer(editorActions), []);
  useEffect(() => offerFinds(drawnFinds), []);
  useEffect(() => {
    useShell.getState().set({ bar: <Bar /> });
    return () => useShell.getState().set({ bar: null });
  }, []);
  if (refused) {
    return <Missing title={`${path} can’t be opened`} problem={refused} to="files">All files</Missing>;
  }
  if (!document) return <p className="loading">Opening {path} …</p>;
  const { drawing } = document;
  return (
    <div className={`editor pane-${pane} ${outline ? "has-outline" : ""} ${form ? "has-form" : ""} ${text ? "has-text" : ""}`}>
      <nav className="panes" aria-label="Parts of the editor">
        {PANES.map(({ pane: one, title, icon }) => (
          <button key={one} type="button" aria-pressed={pane === one} onClick={() => (useEditor.setState({ pane: one }), one !== "draw" && toggle(one, true))}>
            <Icon name={icon} />
            {title}
            {one === "form" && document.problems.length > 0 && (
              <span className="badge wrong" role="img" aria-label={count(document.problems.length, "problem")}>
                {document.problems.length}
              </span>
            )}
          </button>
        ))}
      </nav>
      {outline && (
        <aside className="outline-pane" aria-label="Outline">
          <Outline />
        </aside>
      )}
      <section className="middle">
        <Toolbar />
        <Clash />
        <LockBar />
        <div className="stage">
          <div className="drawing">
            {drawing ? <Canvas /> : <p className="loading">The text has problems, so there is no drawing yet: they are listed beside it.</p>}
            {drawing && !drawing.free && <FreeBar kind={drawing.topology} />}
            {drawing && drawing.free && drawing.nodes.length === 0 && (
              <div className="empty">
                <h2>Draw a network</h2>
                <p>
                  Press <kbd>H</kbd> for a host, <kbd>S</kbd> for a switch, <kbd>R</kbd> for a router, or take a tool above and click. <kbd>L</kbd> links, <kbd>F</kbd> adds a flow, <kbd>?</kbd> shows all keys.
                </p>
              </div>
            )}
          </div>
          {text && (
            <Suspense fallback={<p className="loading text-pane">Loading the text …</p>}>
              <TextPane />
            </Suspense>
          )}
        </div>
        <RunDock document={document} />
      </section>
      {form && (
        <aside className="form-pane" aria-label="Form">
          <Inspector />
        </aside>
      )}
      <Questions />
    </div>
  );
}

/** The file's name, whether it is saved, what is shown, and the button that runs it. */
function Bar(): ReactNode {
  const document = useEditor((editor) => editor.document);
  const outline = useEditor((editor) => editor.outline);
  const form = useEditor((editor) => editor.form);
  const text = useEditor((editor) => editor.text);
  if (!document) return null;
  const parts = document.path.split("/");
  const wrong = document.save_problem;
  return (
    <>
      <p className="file-name">
        <Icon name="file" />
        <b title={document.path}>{parts.at(-1)}</b>
        <span className={`saved ${wrong ? "wrong" : ""}`} role="status">
          {wrong ? "not saved" : document.saved ? "saved" : "saving …"}
        </span>
      </p>
      <span className="spring" />
      <span className="shows" role="group" aria-label="Shown">
        <Button look="quiet" icon="outline" title="Outline (O)" aria-pressed={outline} onClick={() => toggle("outline")} />
        <Button look="quiet" icon="text" title="Text (E)" aria-pressed={text} onClick={() => toggle("text")} />
        <Button look="quiet" icon="settings" title="Form (P)" aria-pressed={form} onClick={() => toggle("form")} />
      </span>
      <a className="button whatif-link" href={href("whatif", document.path)} title="Simulate it in this page, with sliders">
        What if
      </a>
      <RunButton document={document} />
    </>
  );
}

/** What saving met: a full disk, or another program's change of the same file. */
function Clash(): ReactNode {
  const problem = useEditor((editor) => editor.document?.save_problem ?? null);
  const disk = useEditor((editor) => editor.document?.on_disk ?? null);
  if (disk !== null) {
    return (
      <div className="clash" role="alert">
        <p>Another program has changed this file while you had changes of your own. Whichever you take, undo brings the other back.</p>
        <Button onClick={() => void send({ do: "resolve", take: "mine" })}>Keep mine</Button>
        <Button onClick={() => void send({ do: "resolve", take: "disk" })}>Take the file’s</Button>
        <details>
          <summary>Show the file’s text</summary>
          <pre>{disk}</pre>
        </details>
      </div>
    );
  }
  if (!problem) return null;
  return (
    <div className="clash" role="alert">
      <ProblemText problem={problem} />
      <Button onClick={() => void send({ do: "save" })}>Try again</Button>
    </div>
  );
}
