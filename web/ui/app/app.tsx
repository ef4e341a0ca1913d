// The frame around all views: where one is, where one can go, whether the server is there.

import { Component, lazy, Suspense, useEffect, useState, type ComponentType, type ReactNode } from "react";
import { get, Refused } from "../kit/api";
import type { About } from "../kit/messages";
import { socket, type Link } from "../kit/socket";
import { Consent } from "../kit/consent";
import { Help } from "./help";
import { Icon } from "../kit/icons";
import { usePlainKeys } from "./keys";
import { Missing } from "../kit/missing";
import { Palette } from "../kit/palette";
import { Button, Toasts } from "../kit/parts";
import { href, useRoute, type ViewProps } from "../kit/route";
import { useShell } from "../kit/shell";
import { VIEWS } from "./views";

const loaded = new Map<string, ComponentType<ViewProps>>();

function component(name: string): ComponentType<ViewProps> | null {
  const view = VIEWS[name];
  if (!view) return null;
  const known = loaded.get(name) ?? lazy(view.load);
  loaded.set(name, known);
  return known;
}

/** One view's fault must not take the bar away by which one leaves it. */
class Guard extends Component<{ children: ReactNode; of: string }, { thrown: unknown }> {
  override state = { thrown: null as unknown };
  static getDerivedStateFromError(thrown: unknown): { thrown: unknown } {
    return { thrown };
  }
  override componentDidUpdate(before: { of: string }): void {
    if (before.of !== this.props.of && this.state.thrown) this.setState({ thrown: null });
  }
  override render(): ReactNode {
    if (!this.state.thrown) return this.props.children;
    return (
      <div className="view-fault">
        <h1>This view has failed</h1>
        <p>{String(this.state.thrown)}</p>
        <Button look="main" onClick={() => location.reload()}>
          Load the page again
        </Button>
      </div>
    );
  }
}

/** How often it is asked whether the server knows this page still, ms. */
const ASK_MS = 2000;

function Connection(): ReactNode {
  const [link, setLink] = useState<Link>(socket.link);
  const [stranger, setStranger] = useState(false);
  useEffect(() => socket.watch(setLink), []);
  useEffect(() => {
    if (link !== "lost") return setStranger(false);
    const asking = setInterval(() => {
      get("/api/about").catch((thrown) => setStranger(thrown instanceof Refused && (thrown.status === 401 || thrown.status === 403)));
    }, ASK_MS);
    return () => clearInterval(asking);
  }, [link]);
  if (link !== "lost") return null;
  return (
    <p className="connection" role="alert">
      <Icon name="warning" />
      {stranger ? (
        <span>
          The server was started again: open the address that it printed, or that <code>dumbbell ui --list</code> shows. All that it had acknowledged is there.
        </span>
      ) : (
        <span>The server does not answer; trying again. Nothing is lost.</span>
      )}
    </p>
  );
}

export function App({ about }: { about: About }): ReactNode {
  const { view, rest } = useRoute();
  const { bar, palette, help, set } = useShell();
  usePlainKeys();
  const Shown = component(view);
  useEffect(() => {
    const of = VIEWS[view];
    document.title = `${view === "edit" ? rest.at(-1) : of?.title ?? "?"} · dumbbell`;
  }, [view, rest.join("/")]);
  return (
    <div className="app">
      <a className="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}>
        Skip to the content
      </a>
      <header className="bar">
        <a className="brand" href={href("files")} aria-label="dumbbell: files">
          <svg width="26" height="16" viewBox="0 0 26 16" aria-hidden="true">
            <path d="M6 8h14" />
            <circle cx="5" cy="8" r="4.5" />
            <circle cx="21" cy="8" r="4.5" />
          </svg>
          <span>dumbbell</span>
        </a>
        <nav aria-label="Views">
          {Object.entries(VIEWS).map(([name, of]) =>
            of.listed ? (
              <a key={name} href={href(name)} aria-current={name === (VIEWS[view]?.within ?? view) ? "page" : undefined}>
                <Icon name={of.icon} />
                <span>{of.title}</span>
              </a>
            ) : null,
          )}
        </nav>
        <div className="bar-view">{bar}</div>
        <Button look="quiet" icon="search" title="Commands (Ctrl-K)" onClick={() => set({ palette: true })} />
        <Button look="quiet" icon="help" title="Keys (?)" onClick={() => set({ help: true })} />
      </header>
      <Connection />
      <main id="main" tabIndex={-1} className={`view view-${view}`}>
        <Guard of={`${view}/${rest.join("/")}`}>
          <Suspense fallback={<p className="loading">Loading…</p>}>
            {Shown ? <Shown key={view === "edit" || view === "whatif" ? rest.join("/") : view} rest={rest} /> : <Missing title="There is no such view" to="files">All files</Missing>}
          </Suspense>
        </Guard>
      </main>
      {palette && <Palette onClose={() => set({ palette: false })} />}
      {help && <Help about={about} onClose={() => set({ help: false })} />}
      <Consent />
      <Toasts />
    </div>
  );
}
