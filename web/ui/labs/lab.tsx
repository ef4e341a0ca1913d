// A lab: its network, what can be done to what is chosen, its terminals, what its links carry.

import { useCallback, useEffect, useRef, useState, type ReactNode } from "react";
import { offer, type Action } from "../kit/actions";
import { ActionMenu, beneath, type MenuPlace } from "../kit/menu";
import { Missing } from "../kit/missing";
import { Button, Dialog, toast } from "../kit/parts";
import { reveal } from "../kit/reveal";
import { go, href } from "../kit/route";
import { remove } from "../kit/api";
import type { LabAnswer, LabState, PacketList, Recorded, SavedLab, TerminalState, TrafficResult } from "../kit/run-messages";
import { endLab } from "../runs/start";
import { ask } from "./ask";
import { LabDrawing, type Chosen, type Clicked, type LabStage } from "./drawing";
import { LabOutline } from "./outline";
import { menuOf } from "./menu";
import { CablePanel, NodePanel } from "./panels";
import { Packets } from "./packets";
import { LabPlots } from "./plots";
import { additions, removal, Rewire, type Wanted } from "./rewire";
import { Save } from "./save";
import { Terminals } from "./terminals";
import { useLab } from "./use-lab";
import { count } from "../../charts/counts";

export function LabView({ id }: { id: string }): ReactNode {
  const lab = useLab(id);
  const [picked, setChosen] = useState<Chosen>(null);
  const [open, setOpen] = useState<TerminalState[]>([]);
  const [shown, setShown] = useState<string | null>(null);
  const [opened, setOpened] = useState<string | null>(null);
  const [answer, setAnswer] = useState<LabAnswer | null>(null);
  const [packets, setPackets] = useState<PacketList | null>(null);
  const [wanted, setWanted] = useState<Wanted | null>(null);
  const [menu, setMenu] = useState<{ at: MenuPlace; actions: Action[] } | null>(null);
  const [saving, setSaving] = useState(false);
  const [ending, setEnding] = useState(false);
  const [busy, setBusy] = useState("");
  const base = `/api/labs/${encodeURIComponent(id)}`;
  const began = useRef(false);
  const stage = useRef<LabStage | null>(null);

  // A removed node or link is chosen no longer.
  const chosen = isThere(picked, lab.state) ? picked : null;
  const closeMenu = useCallback(() => setMenu(null), []);

  // Terminals that were open before the page was loaded again are there again.
  const known = lab.state?.terminals;
  useEffect(() => {
    if (!known) return;
    setOpen((before) => {
      const of = new Map(known.map((one) => [one.id, one]));
      const kept = before.map((one) => of.get(one.id) ?? one);
      return [...kept, ...known.filter((one) => !before.some((other) => other.id === one.id))];
    });
    const last = known.at(-1);
    if (!began.current && last) setShown(last.id);
    began.current = true;
  }, [known]);

  const terminal = useCallback(
    async (node: string, program: "shell" | "vtysh" | "lab"): Promise<void> => {
      const made = await ask<TerminalState>("/api/terminals", { lab: id, node, program });
      if (!made) return;
      setOpen((before) => (before.some((one) => one.id === made.id) ? before : [...before, made]));
      setShown(made.id);
      setOpened(made.id);
    },
    [id],
  );
  const close = (which: string): void => {
    remove(`/api/terminals/${which}`).catch(() => {});
    setOpen((before) => before.filter((one) => one.id !== which));
    setShown((now) => (now === which ? (open.filter((one) => one.id !== which).at(-1)?.id ?? null) : now));
  };
  const listPackets = (of: string[]): void => void ask<PacketList>("/api/packets", { lab: id, of }).then((made) => made && setPackets(made));
  useEffect(
    () =>
      offer(() => [
        ...additions(setWanted, () => !lab.ended, chosen?.kind === "node" ? [chosen.name] : []),
        removal(setWanted, () => !lab.ended, chosen),
        {
          id: "lab-terminal", title: "Terminal in the chosen node", group: "Lab", icon: "terminal", keys: ["T"],
          can: () => chosen?.kind === "node", run: () => void (chosen?.kind === "node" && terminal(chosen.name, "shell")),
        },
      ]),
    [chosen, terminal, lab.ended],
  );

  if (lab.problem && !lab.state) {
    return <Missing title={`${id} is not up`} problem={lab.problem} to="labs">Labs that are up</Missing>;
  }
  const { state } = lab;
  if (!state) return <p className="loading">Loading…</p>;
  const places = state.nodes.filter((node) => node.runs_programs).map(({ name }) => name);

  const end = async (asked: boolean): Promise<void> => {
    setBusy("end");
    const unsaved = asked ? null : await ask<SavedLab>(`${base}/save`, {});
    if (unsaved && (unsaved.text.trim() || unsaved.routers.length || unsaved.rewired)) {
      setBusy("");
      setEnding(true);
      return;
    }
    if (await endLab(id)) go("labs");
    setBusy("");
  };
  const can = (): boolean => !lab.ended;
  const onMenu = (clicked: Clicked): void => {
    const doing = { base, want: setWanted, can, onTerminal: (node: string) => void terminal(node, "shell"), onPackets: listPackets };
    setMenu({ at: clicked.at, actions: menuOf(clicked, state, doing) });
  };
  const record = async (): Promise<void> => {
    setBusy("record");
    const done = await ask<Recorded>(`${base}/record`, { action: state.recording ? "stop" : "start" });
    setBusy("");
    if (done?.run) go("runs", done.run);
    else if (done) toast("Everything is recorded from now on: packets, sockets, changes");
  };
  const play = async (): Promise<void> => {
    toast("The scenario’s flows and events begin now");
    const done = await ask<TrafficResult>(`${base}/traffic`, {});
    if (done) toast(done.flows.join(" · ") || "Done");
  };

  return (
    <article className="lab">
      <header className="run-head">
        <div className="run-title">
          <h1>{id}</h1>
          <p className="soft">
            {lab.ended ? "ended" : `up for ${Math.floor(lab.time / 60)} min ${Math.floor(lab.time % 60)} s`}
            {state.outside && !lab.ended ? `; reaches this machine’s network through ${state.outside}` : ""}
            {lab.ended ? "" : state.mine ? "; ends with the server" : "; started by the command line"}
          </p>
        </div>
        <div className="run-actions">
          <Button icon="terminal" onClick={() => void terminal("", "lab")} disabled={lab.ended} title="Mininet’s words: pingall, link h1 s1 down, iperf …">
            Lab’s shell
          </Button>
          <Button icon="add" aria-haspopup="menu" disabled={lab.ended} title="Add a host, a switch, a router or a link to the network" onClick={(event) => setMenu({ at: beneath(event), actions: additions(setWanted, can, chosen?.kind === "node" ? [chosen.name] : []) })}>
            Add
          </Button>
          <Button icon="play" onClick={() => void play()} disabled={lab.ended} title="The flows and events of the scenario, from now">
            Play
          </Button>
          <Button onClick={() => void record()} aria-pressed={state.recording} disabled={lab.ended || busy === "record"} title="Keep what is done as a run with a report">
            {busy === "record" ? "Working…" : state.recording ? "End the record" : "Record"}
          </Button>
          <Button icon="save" onClick={() => setSaving(true)} disabled={lab.ended}>
            Save changes
          </Button>
          <Button look="danger" icon="stop" onClick={() => void end(false)} disabled={lab.ended || busy === "end"}>
            End
          </Button>
        </div>
      </header>
      {lab.ended && <p className="lab-over" role="status">The lab has ended, and all programs in it. <a href={href("edit", state.scenario)}>Open {state.scenario}</a></p>}
      <div className="lab-main">
        <div className="lab-left">
          <LabDrawing lab={lab} why={answer?.why ?? null} chosen={chosen} onChoose={setChosen} onOpen={(node) => void terminal(node, "shell")} onMenu={onMenu} onConnect={(from, to) => setWanted({ do: "link", ends: [from, to] })} stage={stage} />
          {packets && <Packets key={packets.id} list={packets} onClose={() => setPackets(null)} />}
          <Terminals
            open={open} shown={shown} opened={opened} onShow={setShown} onClose={close}
            onExit={(which, code) => setOpen((before) => before.map((one) => (one.id === which ? { ...one, code } : one)))}
          />
        </div>
        <aside className="lab-side" aria-label="Selection">
          <LabOutline
            state={state} chosen={chosen} onOpen={(node) => void terminal(node, "shell")}
            onChoose={(one, at) => {
              setChosen(one);
              stage.current?.show(at);
            }}
          />
          {chosen?.kind === "node" ? (
            <NodePanel base={base} lab={lab} name={chosen.name} places={places} onTerminal={terminal} onAnswer={setAnswer} onPackets={listPackets} onWant={setWanted} />
          ) : chosen?.kind === "cable" ? (
            <CablePanel base={base} lab={lab} names={chosen.links} onPackets={listPackets} onWant={setWanted} />
          ) : (
            <p className="soft">Choose a node to open a terminal or to ping, a link to change it while it is up. A double click on a node opens a terminal. <b>Add</b>, or the right button, adds nodes and links.</p>
          )}
          {answer && (
            <section key={answer.command} ref={reveal} className="lab-answer" aria-live="polite">
              <header><code>{answer.command}</code><Button look="quiet" icon="close" title="Close" onClick={() => setAnswer(null)} /></header>
              <pre tabIndex={0}>{answer.text}</pre>
            </section>
          )}
          {state.changes.length > 0 && (
            <details className="lab-changes">
              <summary>{count(state.changes.length, "change")}</summary>
              <ol>{state.changes.map(({ at_s, what }, i) => <li key={i}><span className="soft">{at_s.toFixed(1)} s</span> {what}</li>)}</ol>
            </details>
          )}
        </aside>
      </div>
      <LabPlots lab={lab} />
      {menu && <ActionMenu at={menu.at} actions={menu.actions} onClose={closeMenu} />}
      {wanted && <Rewire base={base} state={state} chosen={chosen} wanted={wanted} onDone={setChosen} onClose={() => setWanted(null)} />}
      {saving && <Save base={base} scenario={state.scenario} onClose={() => setSaving(false)} />}
      {ending && (
        <Dialog
          title="End the lab?" onClose={() => setEnding(false)}
          actions={
            <>
              <Button onClick={() => (setEnding(false), setSaving(true))}>Save first</Button>
              <Button look="danger" onClick={() => (setEnding(false), void end(true))}>End without saving</Button>
            </>
          }
        >
          <p>Nodes or links were changed, or configurations typed into routers. All of that ends with the lab.</p>
        </Dialog>
      )}
    </article>
  );
}

function isThere(chosen: Chosen, state: LabState | null): boolean {
  if (!chosen || !state) return false;
  return chosen.kind === "node" ? state.nodes.some(({ name }) => name === chosen.name) : state.links.some(({ name }) => name === chosen.links[0]);
}
