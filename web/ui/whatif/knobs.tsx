// Sliders of a scenario's values.

import { useId, useState, type ReactNode } from "react";
import { Button } from "../kit/parts";
import type { Bench } from "./bench";
import { PLACES, placeOf, spelled, textOf, valueAt, valueOf } from "./knob";
import type { Knob } from "./messages";

/** Sliders that are shown at once; a search finds the others. */
const MOST = 40;

export function Knobs({ bench, anyKey }: { bench: Bench; anyKey: boolean }): ReactNode {
  const [added, setAdded] = useState<readonly string[]>([]);
  const [query, setQuery] = useState("");
  const written = bench.knobs.filter((knob) => knob.written || added.includes(knob.path) || bench.values.has(knob.path));
  const more = bench.knobs.filter((knob) => !written.includes(knob));
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = written.filter((knob) => words.every((word) => `${knob.group} ${knob.title} ${knob.path}`.toLowerCase().includes(word)));
  const groups = new Map<string, Knob[]>();
  for (const knob of found.slice(0, MOST)) groups.set(knob.group, [...(groups.get(knob.group) ?? []), knob]);
  return (
    <div className="knobs">
      {written.length > 14 && <input type="search" aria-label="Find a value" placeholder="Find a value" value={query} onChange={(event) => setQuery(event.target.value)} />}
      {[...groups].map(([group, knobs]) => (
        <fieldset key={group}>
          <legend>{group}</legend>
          {knobs.map((knob) => (knob.words.length ? <Words key={knob.path} bench={bench} knob={knob} /> : <Slider key={knob.path} bench={bench} knob={knob} />))}
        </fieldset>
      ))}
      {found.length > MOST && <p className="soft">{found.length - MOST} more values: search for them.</p>}
      {more.length > 0 && (
        <select aria-label="One more value" value="" onChange={(event) => setAdded([...added, event.target.value])}>
          <option value="">One more value …</option>
          {more.map((knob) => (
            <option key={knob.path} value={knob.path}>{`${knob.group}: ${knob.title.toLowerCase()}`}</option>
          ))}
        </select>
      )}
      {anyKey && <AnyKey bench={bench} />}
    </div>
  );
}

function Head({ bench, knob, id, children }: { bench: Bench; knob: Knob; id: string; children?: ReactNode }): ReactNode {
  const isSet = bench.values.has(knob.path);
  return (
    <div className="knob-head">
      <label htmlFor={id} title={knob.path}>
        {knob.title}
      </label>
      {isSet && <Button look="quiet" icon="undo" className="knob-reset" title={`${knob.title}: as in the scenario, ${textOf(knob, knob.value)}`} onClick={() => bench.reset(knob)} />}
      {children}
    </div>
  );
}

function Slider({ bench, knob }: { bench: Bench; knob: Knob }): ReactNode {
  const id = useId();
  const value = bench.value(knob);
  const [draft, setDraft] = useState<string | null>(null);
  const commit = (text: string): void => {
    const next = valueOf(knob, text);
    setDraft(null);
    if (next !== null && next !== value) bench.set(knob, next);
  };
  return (
    <div className="knob" data-knob={knob.path}>
      <Head bench={bench} knob={knob} id={id}>
        <span className="knob-value">
          <input
            aria-label={`${knob.title} of ${knob.group}${knob.unit ? `, in ${knob.unit}` : ""}`}
            inputMode="decimal"
            autoComplete="off"
            value={draft ?? spelled(value)}
            onChange={(event) => setDraft(event.target.value)}
            onBlur={() => draft !== null && commit(draft)}
            onKeyDown={(event) => {
              if (event.key === "Enter") commit(draft ?? spelled(value));
              else if (event.key === "Escape") setDraft(null);
            }}
          />
          <span className="soft">{knob.unit}</span>
        </span>
      </Head>
      <input
        id={id}
        type="range"
        min={0}
        max={PLACES}
        value={placeOf(knob, value)}
        aria-valuetext={textOf(knob, value)}
        onChange={(event) => bench.set(knob, valueAt(knob, Number(event.target.value)))}
      />
    </div>
  );
}

function Words({ bench, knob }: { bench: Bench; knob: Knob }): ReactNode {
  const id = useId();
  return (
    <div className="knob" data-knob={knob.path}>
      <Head bench={bench} knob={knob} id={id} />
      <select id={id} value={bench.value(knob)} onChange={(event) => bench.set(knob, Number(event.target.value))}>
        {knob.words.map((word, i) => (
          <option key={word} value={i}>
            {word}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Any other key, as after `--set`. */
function AnyKey({ bench }: { bench: Bench }): ReactNode {
  const [draft, setDraft] = useState("");
  return (
    <form
      className="any-key"
      onSubmit={(event) => {
        event.preventDefault();
        if (draft.includes("=")) (bench.setSettings([...bench.settings, draft.trim()]), setDraft(""));
      }}
    >
      {bench.settings.map((setting) => (
        <p key={setting} className="any-set">
          <code>{setting}</code>
          <Button look="quiet" icon="close" title={`Leave out ${setting}`} onClick={() => bench.setSettings(bench.settings.filter((one) => one !== setting))} />
        </p>
      ))}
      <input aria-label="Any key and its value" placeholder="any.key=value" spellCheck={false} value={draft} onChange={(event) => setDraft(event.target.value)} />
    </form>
  );
}
