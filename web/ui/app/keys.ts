// Keys: with Ctrl they act everywhere but in terminals, single ones only in the canvas and the outline.

import { useEffect } from "react";
import { actions, offer, offerFinds, perform, type Action } from "../kit/actions";
import { go } from "../kit/route";
import { useShell } from "../kit/shell";
import { workspaceFinds } from "./finds";
import { VIEWS } from "./views";

const NAMES: Readonly<Record<string, string>> = { " ": "Space", Escape: "Escape", ArrowLeft: "Left", ArrowRight: "Right", ArrowUp: "Up", ArrowDown: "Down" };

/** The keys of an event as actions name them: `Ctrl-Shift-Z`, `H`, `?`. */
export function pressed(event: KeyboardEvent): string {
  const key = NAMES[event.key] ?? (event.key.length === 1 ? event.key.toUpperCase() : event.key);
  const shown = event.key.length === 1 && !/[a-z]/i.test(event.key) ? event.key : event.shiftKey ? `Shift-${key}` : key;
  return `${event.ctrlKey || event.metaKey ? "Ctrl-" : ""}${event.altKey ? "Alt-" : ""}${shown}`;
}

/** True where letters are text: fields, the editor of the file, terminals. */
function isText(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select, [role=textbox], .xterm *"));
}

/** True where single letters are commands. */
function isGround(target: EventTarget | null): boolean {
  if (target === document.body || target === document.getElementById("main")) return true;
  return target instanceof Element && target.closest("[data-keys]") !== null;
}

const EVERYWHERE = new Set(["Ctrl-K", "Ctrl-S", "Ctrl-Enter", "Ctrl-."]);

function act(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
  const keys = pressed(event);
  const text = isText(event.target);
  if (event.target instanceof Element && event.target.closest(".xterm")) return;
  if (text && !EVERYWHERE.has(keys)) return;
  if (!keys.startsWith("Ctrl-") && !isGround(event.target)) return;
  // A button in the canvas answers to Enter and to the space bar itself.
  if ((keys === "Enter" || keys === "Space") && event.target instanceof HTMLElement && event.target.matches("button, a, summary")) return;
  const found = actions().find((action) => action.keys?.includes(keys));
  if (found && perform(found)) event.preventDefault();
}

/** Let keys act while the component is there. */
export function usePlainKeys(): void {
  useEffect(() => {
    addEventListener("keydown", act);
    const withdraw = offer(frameActions);
    const unfind = offerFinds(workspaceFinds);
    return () => {
      unfind();
      removeEventListener("keydown", act);
      withdraw();
    };
  }, []);
}

/** Actions of the frame itself. */
export function frameActions(): Action[] {
  const { set } = useShell.getState();
  return [
    { id: "palette", title: "All commands, files, runs and nodes", group: "Help", icon: "search", keys: ["Ctrl-K"], run: () => set({ palette: true }) },
    { id: "keys", title: "All keys", group: "Help", icon: "help", keys: ["?"], run: () => set({ help: true }) },
    ...Object.entries(VIEWS).flatMap(([name, view]): Action[] => (view.listed ? [{ id: `go-${name}`, title: `Go to ${view.title.toLowerCase()}`, group: "Go", icon: view.icon, run: () => go(name) }] : [])),
  ];
}
