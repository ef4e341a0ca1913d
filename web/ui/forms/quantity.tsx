// A number with its unit. What is typed stays as it is typed; arrow keys step; a number alone takes the unit that is shown.

import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

interface QuantityProps {
  id: string;
  label: string;
  describedBy: string;
  value: unknown;
  mixed: boolean;
  units: readonly string[];
  /** Words that stand in place of a number. */
  words: readonly string[];
  placeholder: string;
  example: string;
  invalid: boolean;
  onChange: (value: string | undefined) => void;
}

const NUMBER = /^\s{0,9}\+?\s{0,9}(\d{1,99}(?:\.\d{1,99})?)\s{0,9}$/;
/** Characters of a text that may be a quantity: in a longer one, a stranger's, there are too many ways to look. */
const LONGEST = 200;

export function split(text: string, units: readonly string[]): { number: string; unit: string } | null {
  const found = text.length > LONGEST ? null : /^\s*\+?\s*(\d+(?:\.\d+)?)\s*(\S+)\s*$/.exec(text);
  return found?.[1] && found[2] && units.includes(found[2]) ? { number: found[1], unit: found[2] } : null;
}

/** One step of the second digit: 100 -> 110, 15 -> 16, 0.5 -> 0.6. */
export function step(number: string, up: boolean): string {
  const value = Number(number);
  // Down from 10, 100, ... with the steps by which one came up to it.
  const near = up ? value : value - 1e-9;
  const size = near >= 10 ? 10 ** (Math.floor(Math.log10(near)) - 1) : near >= 1 ? 1 : 0.1;
  const next = Math.max(0, value + (up ? size : -size));
  return String(Number(next.toPrecision(12)));
}

export function Quantity(props: QuantityProps): ReactNode {
  const { id, label, describedBy, value, mixed, units, words, placeholder, example, invalid, onChange } = props;
  const written = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
  const parts = split(written, units);
  const ghost = split(placeholder.replace(/\s*\(.*$/, ""), units);
  const fallback = ghost?.unit ?? split(example, units)?.unit ?? units[0] ?? "";
  const [unit, setUnit] = useState(parts?.unit ?? fallback);
  const [draft, setDraft] = useState<string | null>(null);
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setUnit(parts?.unit ?? fallback), [parts?.unit, fallback]);
  useEffect(() => setDraft(null), [written]);
  const shown = draft ?? (parts ? parts.number : written);

  const commit = (text: string, withUnit = unit): void => {
    clearTimeout(waiting.current);
    setDraft(null);
    const trimmed = text.trim();
    const next = trimmed === "" ? undefined : NUMBER.test(trimmed) ? `${trimmed} ${withUnit}` : trimmed;
    if (next !== (written || undefined) && !(parts && next === `${parts.number} ${parts.unit}`)) onChange(next);
  };
  const stepped = (event: KeyboardEvent): void => {
    const from = NUMBER.exec(shown)?.[1] ?? (shown === "" ? ghost?.number : undefined);
    if (from === undefined) return;
    event.preventDefault();
    const next = step(from, event.key === "ArrowUp");
    setDraft(next);
    clearTimeout(waiting.current);
    waiting.current = setTimeout(() => commit(next), 400);
  };
  return (
    <span className={shown === "" && !ghost ? "quantity ghost" : "quantity"}>
      <input
        id={id}
        aria-label={label}
        aria-describedby={describedBy}
        aria-invalid={invalid || undefined}
        inputMode="decimal"
        autoComplete="off"
        spellCheck={false}
        value={shown}
        placeholder={mixed ? "several" : (ghost?.number ?? placeholder)}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={() => draft !== null && commit(draft)}
        onKeyDown={(event) => {
          if (event.key === "Enter") commit(draft ?? shown);
          else if (event.key === "Escape" && draft !== null) (setDraft(null), event.stopPropagation());
          else if (event.key === "ArrowUp" || event.key === "ArrowDown") stepped(event);
        }}
      />
      <select
        aria-label={`${label}: unit`}
        value={words.includes(shown) ? shown : parts || draft !== null || written === "" ? unit : "?"}
        onChange={(event) => {
          const chosen = event.target.value;
          if (words.includes(chosen)) return commit(chosen);
          setUnit(chosen);
          if (NUMBER.test(shown)) commit(shown, chosen);
        }}
      >
        {!(parts || draft !== null || written === "" || words.includes(shown)) && <option value="?">?</option>}
        {units.map((one) => (
          <option key={one}>{one}</option>
        ))}
        {words.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </span>
  );
}
