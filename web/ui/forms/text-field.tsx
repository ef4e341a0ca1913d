// A text or a number that is written when one leaves the field or presses Enter.

import { useEffect, useId, useState, type ReactNode } from "react";

interface TextProps {
  id: string;
  label: string;
  describedBy: string;
  value: string;
  placeholder: string;
  suggestions?: readonly string[];
  numeric?: boolean;
  invalid: boolean;
  onChange: (text: string) => void;
}

export function TextField({ id, label, describedBy, value, placeholder, suggestions = [], numeric = false, invalid, onChange }: TextProps): ReactNode {
  const list = useId();
  const [draft, setDraft] = useState<string | null>(null);
  useEffect(() => setDraft(null), [value]);
  const commit = (): void => {
    if (draft !== null && draft !== value) onChange(draft.trim());
    setDraft(null);
  };
  return (
    <>
      <input
        id={id}
        aria-label={label}
        aria-describedby={describedBy}
        aria-invalid={invalid || undefined}
        autoComplete="off"
        spellCheck={false}
        inputMode={numeric ? "decimal" : undefined}
        list={suggestions.length > 0 ? list : undefined}
        value={draft ?? value}
        placeholder={placeholder}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={commit}
        onKeyDown={(event) => {
          if (event.key === "Enter") commit();
          else if (event.key === "Escape" && draft !== null) (setDraft(null), event.stopPropagation());
        }}
      />
      {suggestions.length > 0 && (
        <datalist id={list}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  );
}
