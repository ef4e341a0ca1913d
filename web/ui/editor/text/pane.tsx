// The text beside the drawing. Typing reaches the server after a short pause; what others change comes in while one types.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorState, Transaction } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { theAbout, theSchema } from "../../kit/about";
import { Button } from "../../kit/parts";
import type { Problem } from "../../kit/messages";
import { holders, useLock } from "../../document/lock";
import { known, send, sendText, toggle, useEditor } from "../../document/store";
import { completion } from "./complete";
import { highlight, theme } from "./theme";

const PAUSE_MS = 250;
/** While the text is locked nothing can be typed; what was typed before is sent. */
const writable = new Compartment();
const theirs = Annotation.define<boolean>();

/** The one span that differs between two texts. */
function difference(before: string, after: string): { from: number; to: number; insert: string } | null {
  if (before === after) return null;
  let from = 0;
  while (from < before.length && before[from] === after[from]) from++;
  let [endBefore, endAfter] = [before.length, after.length];
  while (endBefore > from && endAfter > from && before[endBefore - 1] === after[endAfter - 1]) (endBefore--, endAfter--);
  return { from, to: endBefore, insert: after.slice(from, endAfter) };
}

function diagnostics(state: EditorState, problems: readonly Problem[]): Diagnostic[] {
  return problems.flatMap((problem): Diagnostic[] => {
    const number = problem.line ?? 1;
    if (number < 1 || number > state.doc.lines) return [];
    const line = state.doc.line(number);
    const from = Math.min(line.to, line.from + Math.max(0, (problem.column ?? 1) - 1));
    const to = problem.length ? Math.min(line.to, from + problem.length) : line.to;
    return [{ from, to: Math.max(from, to), severity: "error", message: [problem.what, problem.why, problem.hint].filter(Boolean).join("\n") }];
  });
}

export default function TextPane(): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  /** The revision on whose text the editor's stands, and that text. */
  const base = useRef({ revision: -1, text: "" });
  const sending = useRef(false);
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [clash, setClash] = useState(false);
  const clash_ = useRef(false);
  clash_.current = clash;
  const document = useEditor((editor) => editor.document);
  const target = useEditor((editor) => editor.target);

  const push = async (force = false): Promise<void> => {
    clearTimeout(pause.current);
    const editor = view.current;
    if (!editor || sending.current || (clash_.current && !force)) return;
    const text = editor.state.doc.toString();
    if (text === base.current.text) return;
    sending.current = true;
    const answer = await sendText(text, force ? known() : base.current.revision);
    sending.current = false;
    if (answer === "stale") return setClash(true);
    if (answer === null) return;
    setClash(false);
    base.current = { revision: answer, text };
    if (view.current && view.current.state.doc.toString() !== text) pause.current = setTimeout(() => void push(), PAUSE_MS);
  };
  const take = (): void => {
    const now = useEditor.getState().document;
    if (!now || !view.current) return;
    replace(view.current, now.text);
    base.current = { revision: now.revision, text: now.text };
    setClash(false);
  };

  useEffect(() => {
    if (!place.current || !document || view.current) return;
    base.current = { revision: document.revision, text: document.text };
    const typed = EditorView.updateListener.of((update) => {
      if (!update.docChanged || update.transactions.some((one) => one.annotation(theirs))) return;
      clearTimeout(pause.current);
      pause.current = setTimeout(() => void push(), PAUSE_MS);
    });
    // The history is the server's: it knows the edits of all.
    const history = keymap.of([
      { key: "Mod-z", run: () => (void push().then(() => send({ do: "undo" })), true) },
      { key: "Mod-Shift-z", run: () => (void push().then(() => send({ do: "redo" })), true) },
      { key: "Mod-y", run: () => (void push().then(() => send({ do: "redo" })), true) },
      { key: "Mod-s", run: () => (void push().then(() => send({ do: "save" })), true) },
      { key: "Escape", run: (editor) => (editor.contentDOM.blur(), globalThis.document.getElementById("main")?.focus(), true) },
    ]);
    const complete = completion(theSchema, () => theAbout().then((about) => about.algorithms), () => useEditor.getState().document?.drawing?.nodes.map((node) => node.name) ?? []);
    view.current = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: document.text,
        extensions: [
          lineNumbers(),
          EditorView.lineWrapping,
          lintGutter(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          drawSelection(),
          bracketMatching(),
          closeBrackets(),
          highlightSelectionMatches(),
          search({ top: true }),
          StreamLanguage.define(toml),
          syntaxHighlighting(highlight),
          autocompletion({ override: [complete], icons: false }),
          keymap.of([...completionKeymap]),
          history,
          keymap.of([...closeBracketsKeymap, ...searchKeymap, ...defaultKeymap, indentWithTab]),
          EditorView.contentAttributes.of({ "aria-label": `Text of ${document.path}`, spellcheck: "false" }),
          theme,
          typed,
          writable.of([]),
        ],
      }),
    });
    // What scrolls can be scrolled by the keyboard, too.
    view.current.scrollDOM.tabIndex = 0;
  }, [document !== null]);

  useEffect(
    () => () => {
      void push();
      view.current?.destroy();
      view.current = null;
    },
    [],
  );

  useEffect(() => {
    const editor = view.current;
    if (!editor || !document) return;
    const mine = editor.state.doc.toString();
    if (document.text === mine) base.current = { revision: document.revision, text: mine };
    else if (mine === base.current.text) {
      replace(editor, document.text);
      base.current = { revision: document.revision, text: document.text };
    }
    else {
      // What is typed goes on top of the text that it was typed on; if that is no longer the document's, it is refused.
      if (document.text === base.current.text) base.current.revision = document.revision;
      clearTimeout(pause.current);
      pause.current = setTimeout(() => void push(), PAUSE_MS);
    }
    editor.dispatch(setDiagnostics(editor.state, diagnostics(editor.state, document.problems)));
  }, [document]);

  const { locks } = holders(document, useLock(({ open }) => open));
  useEffect(() => {
    view.current?.dispatch({ effects: writable.reconfigure(EditorState.readOnly.of(locks)) });
  }, [locks, document !== null]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || !target?.line || target.line > editor.state.doc.lines) return;
    const line = editor.state.doc.line(target.line);
    editor.dispatch({ selection: { anchor: line.from, head: line.to }, effects: EditorView.scrollIntoView(line.from, { y: "center" }) });
  }, [target]);

  return (
    <section className="text-pane" aria-label="Text">
      <header>
        <h2>{document?.path.split("/").at(-1)}</h2>
        <Button look="quiet" icon="close" title="Hide the text (E)" onClick={() => toggle("text", false)} />
      </header>
      {clash && (
        <p className="clash" role="alert">
          The file was changed elsewhere while you typed.
          <Button onClick={() => void push(true)}>Keep what I typed</Button>
          <Button onClick={take}>Take theirs</Button>
        </p>
      )}
      <div ref={place} className="text-place" />
    </section>
  );
}

function replace(editor: EditorView, text: string): void {
  const change = difference(editor.state.doc.toString(), text);
  if (change) editor.dispatch({ changes: change, annotations: [theirs.of(true), Transaction.addToHistory.of(false)] });
}
