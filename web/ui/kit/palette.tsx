// The palette: every command by its name, and whatever else the view offers to choose from.

import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { actions, finds, perform, type Action } from "./actions";
import { Icon, type IconName } from "./icons";
import { Keys } from "./parts";

export interface Choice {
  id: string;
  title: string;
  note?: string;
  icon?: IconName | undefined;
  keys?: string | undefined;
  disabled?: boolean;
}

interface ChooserProps {
  label: string;
  choices: readonly Choice[];
  /** Choices that are shown once something is typed. */
  found?: readonly Choice[];
  /** True until those are known. */
  isLooking?: boolean;
  onChoose: (id: string) => void;
  onClose: () => void;
}

/** Each word of the query begins a word of the title, or stands somewhere in it. */
function rank(query: string, title: string): number {
  const text = title.toLowerCase();
  let worth = 0;
  for (const word of query.toLowerCase().split(/\s+/).filter(Boolean)) {
    const at = text.indexOf(word);
    if (at < 0) return -1;
    worth += at === 0 ? 3 : /[\s-]/.test(text[at - 1] ?? "") ? 2 : 1;
  }
  return worth;
}

const NONE: readonly Choice[] = [];
/** Rows that a search shows: who wants another one types more. */
const MOST_ROWS = 100;

/** A list to choose from by typing a part of a name. */
export function Chooser({ label, choices, found: hidden = NONE, isLooking = false, onChoose, onClose }: ChooserProps): ReactNode {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const found = useMemo(() => {
    const ranked = (query.trim() ? [...choices, ...hidden] : choices).map((choice) => ({ choice, worth: rank(query, `${choice.title} ${choice.note ?? ""}`) })).filter(({ worth }) => worth >= 0);
    return ranked.sort((a, b) => b.worth - a.worth).map(({ choice }) => choice).slice(0, query.trim() ? MOST_ROWS : undefined);
  }, [choices, hidden, query]);
  const chosen = Math.min(at, found.length - 1);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const choose = (choice: Choice | undefined): void => {
    if (!choice || choice.disabled) return;
    onClose();
    onChoose(choice.id);
  };
  return (
    <dialog ref={dialog} className="chooser" aria-label={label} onCancel={(event) => (event.preventDefault(), onClose())} onClick={(event) => event.target === dialog.current && onClose()}>
      <div className="chooser-inside">
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls="choices"
          aria-activedescendant={found[chosen] ? `choice-${chosen}` : undefined}
          aria-label={label}
          placeholder={label}
          value={query}
          autoFocus
          spellCheck={false}
          onChange={(event) => (setQuery(event.target.value), setAt(0))}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, found.length - 1));
            else if (event.key === "ArrowUp") setAt(Math.max(chosen - 1, 0));
            else if (event.key === "Enter") choose(found[chosen]);
            else return;
            event.preventDefault();
          }}
        />
        <ul id="choices" role="listbox" ref={list} aria-label={label}>
          {found.map((choice, i) => (
            <li
              key={choice.id}
              id={`choice-${i}`}
              role="option"
              aria-selected={i === chosen}
              aria-disabled={choice.disabled}
              onPointerMove={() => setAt(i)}
              onClick={() => choose(choice)}
            >
              {choice.icon ? <Icon name={choice.icon} /> : <span className="icon" />}
              <span className="choice-title">{choice.title}</span>
              {choice.note && <span className="choice-note">{choice.note}</span>}
              {choice.keys && <Keys of={choice.keys} />}
            </li>
          ))}
        </ul>
        {found.length === 0 && <p className="nothing">{isLooking ? "Looking…" : "Nothing of this name."}</p>}
      </div>
    </dialog>
  );
}

/** Every command, and whatever is found by its name. */
export function Palette({ onClose }: { onClose: () => void }): ReactNode {
  const all = useMemo(() => actions().filter((action) => !action.quiet && action.id !== "palette"), []);
  const [others, setOthers] = useState<readonly Action[] | null>(null);
  useEffect(() => void finds().then(setOthers), []);
  const choices = useMemo(() => all.map(choiceOf), [all]);
  const found = useMemo(() => others?.map(choiceOf), [others]);
  const choose = (id: string): void => {
    const action = [...all, ...(others ?? [])].find((one) => one.id === id);
    // The palette gives the focus back first.
    if (action) setTimeout(() => perform(action));
  };
  return <Chooser label="Type a command, or the name of a file, a run, a node" choices={choices} found={found ?? []} isLooking={found === undefined} onChoose={choose} onClose={onClose} />;
}

function choiceOf(action: Action): Choice {
  const { id, title, group, icon, keys } = action;
  return { id, title, note: group, icon, keys: keys?.[0], disabled: action.can ? !action.can() : false };
}
