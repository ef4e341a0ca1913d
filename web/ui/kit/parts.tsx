// Small parts that all views are made of.

import { useEffect, useRef, useSyncExternalStore, type ButtonHTMLAttributes, type ReactNode } from "react";
import type { Problem } from "./messages";
import { Icon, type IconName } from "./icons";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon?: IconName;
  /** The look: `main` for the one thing to do, `quiet` without a border, else an ordinary button. */
  look?: "main" | "quiet" | "danger" | "plain";
}

/** A button with a text, an icon, or both. A button with an icon alone needs a `title`. */
export function Button({ icon, look = "plain", children, className = "", title, ...rest }: ButtonProps): ReactNode {
  const bare = icon && !children;
  return (
    <button type="button" className={`button ${look} ${bare ? "bare" : ""} ${className}`} title={title} aria-label={bare ? title : undefined} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** Buttons at the end. */
  actions?: ReactNode;
  wide?: boolean;
}

/** A modal dialog: Escape and a click beside it close it, and the focus returns to where it was. */
export function Dialog({ title, onClose, children, actions, wide = false }: DialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    // Where one goes on: not the button that closes it, which stands first.
    dialog.current?.querySelector<HTMLElement>(".dialog-body input:not([type=file]), .dialog-body select, footer .main, .dialog-body button")?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={wide ? "dialog wide-dialog" : "dialog"}
      aria-label={title}
      onCancel={(event) => (event.preventDefault(), onClose())}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className="dialog-inside">
        <header>
          <h2>{title}</h2>
          <Button look="quiet" icon="close" title="Close" onClick={onClose} />
        </header>
        <div className="dialog-body">{children}</div>
        {actions && <footer>{actions}</footer>}
      </div>
    </dialog>
  );
}

/** A problem in the words of the command line. */
export function ProblemText({ problem }: { problem: Problem }): ReactNode {
  return (
    <div className="problem-text">
      <p className="what">{problem.what}</p>
      {problem.why && <p className="why">{problem.why}</p>}
      {problem.hint && <p className="hint">{problem.hint}</p>}
    </div>
  );
}

interface Toast {
  id: number;
  text: string;
  problem: Problem | null;
}

let toasts: readonly Toast[] = [];
let made = 0;
const changed = new Set<() => void>();

function put(next: readonly Toast[]): void {
  toasts = next;
  for (const redraw of changed) redraw();
}

/** Take problems away that are over: another view is shown, or a retry has worked. */
export function forgetProblems(): void {
  if (toasts.some(({ problem }) => problem)) put(toasts.filter(({ problem }) => !problem));
}

/** Say something in passing, or show a problem until it is closed, or over. */
export function toast(said: string | Problem): void {
  const id = ++made;
  const problem = typeof said === "string" ? null : said;
  const text = typeof said === "string" ? said : said.what;
  put([...toasts.filter((one) => one.text !== text), { id, text, problem }].slice(-4));
  if (!problem) setTimeout(() => dismiss(id), 4500);
}

function dismiss(id: number): void {
  put(toasts.filter((one) => one.id !== id));
}

/** What was said in passing. */
export function Toasts(): ReactNode {
  const shown = useSyncExternalStore(
    (redraw) => (changed.add(redraw), () => changed.delete(redraw)),
    () => toasts,
  );
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    addEventListener("hashchange", forgetProblems);
    return () => removeEventListener("hashchange", forgetProblems);
  }, []);
  // On top of all, also of a dialog that was open before.
  useEffect(() => {
    if (host.current?.matches(":popover-open")) host.current.hidePopover();
    if (shown.length > 0) host.current?.showPopover();
  }, [shown]);
  return (
    <div ref={host} popover="manual" className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, problem }) => (
        <div key={id} className={problem ? "toast problem" : "toast"}>
          {problem ? <ProblemText problem={problem} /> : <p>{text}</p>}
          <Button look="quiet" icon="close" title="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}

/** A key as it is printed on a keyboard. */
export function Keys({ of }: { of: string }): ReactNode {
  return (
    <span className="keys">
      {of.split(/-(?=.)/).map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}
