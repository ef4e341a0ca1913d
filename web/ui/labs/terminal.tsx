// A terminal of a node: what its program writes, drawn by xterm.js, with flow control and a screen that is there again after a reload.

import { FitAddon } from "@xterm/addon-fit";
import { Terminal as Xterm, type ITheme } from "@xterm/xterm";
import { useEffect, useRef, useState, type ReactNode } from "react";

/** Drawn bytes are told to the server in parts of this size, or when nothing more comes. */
const TELL_BYTES = 64 * 1024;
const TELL_MS = 50;
const RETRY_MS = 1000;
/** The server knows no such terminal. */
const GONE = 4404;

/** The program went with its lab. */
const NO_CODE = -1;

type Link = "connecting" | "open" | "lost" | "gone";

interface Props {
  id: string;
  label: string;
  shown: boolean;
  onExit: (code: number) => void;
}

export default function Terminal({ id, label, shown, onExit }: Props): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const term = useRef<{ x: Xterm; fit: FitAddon } | null>(null);
  const [link, setLink] = useState<Link>("connecting");
  const exit = useRef(onExit);
  exit.current = onExit;

  useEffect(() => {
    if (!host.current) return;
    const x = new Xterm({ fontFamily: font(), fontSize: 13, lineHeight: 1.15, scrollback: 5000, theme: theme(), cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches, screenReaderMode: true });
    const fit = new FitAddon();
    x.loadAddon(fit);
    x.open(host.current);
    term.current = { x, fit };
    const end = connect(id, x, setLink, (code) => exit.current(code));
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const recolour = (): void => void (x.options.theme = theme());
    dark.addEventListener("change", recolour);
    const observer = new ResizeObserver(() => host.current?.clientWidth && fit.fit());
    observer.observe(host.current);
    return () => {
      observer.disconnect();
      dark.removeEventListener("change", recolour);
      end();
      x.dispose();
      term.current = null;
    };
  }, [id]);

  useEffect(() => {
    if (!shown) return;
    term.current?.fit.fit();
    term.current?.x.focus();
  }, [shown]);

  return (
    <div className={`terminal-box ${link}`} hidden={!shown} role="group" aria-label={`Terminal of ${label}`}>
      {link === "lost" && <p role="alert">The connection is lost; trying again.</p>}
      {link === "gone" && <p>This terminal has ended.</p>}
      <div className="terminal-screen" ref={host} />
    </div>
  );
}

/** Connect a terminal with its program, and again whenever the connection is lost. Returns what ends that. */
function connect(id: string, x: Xterm, tell: (link: Link) => void, ended: (code: number) => void): () => void {
  let socket: WebSocket | null = null;
  let over = false;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let drawn = 0;
  let due: ReturnType<typeof setTimeout> | undefined;
  const encoder = new TextEncoder();
  const say = (message: object): void => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };
  const acknowledge = (): void => {
    clearTimeout(due);
    due = undefined;
    if (drawn) say({ do: "ack", bytes: drawn });
    drawn = 0;
  };
  const open = (): void => {
    const own = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/terminals/${id}`);
    own.binaryType = "arraybuffer";
    socket = own;
    own.onopen = () => {
      x.reset();
      drawn = 0;
      tell("open");
      say({ do: "resize", rows: x.rows, columns: x.cols });
    };
    own.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data === "string") {
        const said = JSON.parse(data) as { do: string; code: number };
        if (said.do === "exit") {
          const how = said.code === NO_CODE ? "the lab has ended" : `ended with exit code ${said.code}`;
          x.write(`\r\n\x1b[2m[${how}]\x1b[0m\r\n`);
          ended(said.code);
        }
        return;
      }
      const bytes = new Uint8Array(data);
      x.write(bytes, () => {
        if (socket !== own) return;
        drawn += bytes.length;
        if (drawn >= TELL_BYTES) acknowledge();
        else due ??= setTimeout(acknowledge, TELL_MS);
      });
    };
    own.onclose = ({ code }) => {
      if (over || socket !== own) return;
      if (code === GONE || code === 1000) return tell("gone");
      tell("lost");
      retry = setTimeout(open, RETRY_MS);
    };
  };
  const type = (text: string): void => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(encoder.encode(text));
  };
  x.onData(type);
  x.onResize(({ rows, cols }) => say({ do: "resize", rows, columns: cols }));
  x.textarea?.addEventListener("focus", () => say({ do: "resize", rows: x.rows, columns: x.cols }));
  keys(x);
  open();
  return () => {
    over = true;
    clearTimeout(retry);
    clearTimeout(due);
    socket?.close();
  };
}

/** Ctrl-C copies what is selected, and else interrupts; Ctrl-Shift-C and -V copy and paste; several lines are asked about. */
function keys(x: Xterm): void {
  x.attachCustomKeyEventHandler((event) => {
    if (event.type !== "keydown" || !event.ctrlKey) return true;
    const key = event.key.toLowerCase();
    if (key === "c" && x.hasSelection()) {
      void navigator.clipboard?.writeText(x.getSelection());
      x.clearSelection();
      event.preventDefault();
      return false;
    }
    // The browser pastes: that gives an event, and asks for no permission.
    if (key === "v" && event.shiftKey) return false;
    return !(key === "c" && event.shiftKey);
  });
  x.element?.addEventListener(
    "paste",
    (event) => {
      const text = event.clipboardData?.getData("text") ?? "";
      const lines = text.trimEnd().split("\n").length;
      if (lines > 1 && !x.modes.bracketedPasteMode && !confirm(`Paste ${lines} lines? Each is carried out at once.`)) {
        event.preventDefault();
        event.stopPropagation();
      }
    },
    true,
  );
}

function font(): string {
  return getComputedStyle(document.documentElement).getPropertyValue("--mono").trim() || "monospace";
}

function theme(): ITheme {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  return {
    background: of("field"), foreground: of("ink"), cursor: of("accent"), cursorAccent: of("field"),
    selectionBackground: dark ? "#2c4a63" : "#bcdcf2",
    ...(dark
      ? { black: "#3a3f45", red: "#ff7b66", green: "#58d3a2", yellow: "#f0be5c", blue: "#6cb6ec", magenta: "#c79bf0", cyan: "#6fd0d8", white: "#e7e7e3", brightBlack: "#9ba1a8" }
      : { black: "#1a1c1f", red: "#a01c17", green: "#0a6b4a", yellow: "#7a4f00", blue: "#0b5a91", magenta: "#6a35a0", cyan: "#0b6470", white: "#5f656c", brightBlack: "#5f656c", brightWhite: "#1a1c1f" }),
  };
}
