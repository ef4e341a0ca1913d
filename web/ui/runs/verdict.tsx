// The verdict of a run: so far, or at its end. Never by colour alone: the word stands there.

import type { ReactNode } from "react";
import type { Reason } from "../kit/run-messages";

const AFTER: Readonly<Record<string, string>> = {
  valid: "",
  suspect: ": read the reasons before you trust it",
  invalid: ": do not use these figures",
};

const WORDS: Readonly<Record<string, string>> = { killed: "the command was killed", damaged: "its files are damaged" };

/** `interrupted`: the verdict is that of a part. */
export function Verdict({ verdict, reasons, soFar = false }: { verdict: string; reasons: readonly Reason[]; soFar?: boolean }): ReactNode {
  return (
    <section className={`run-verdict ${verdict}`} aria-label={soFar ? "The verdict so far" : "The verdict"} aria-live={soFar ? "polite" : undefined}>
      <p>
        <Mark verdict={verdict} />
        <strong>{soFar ? `${verdict} so far` : verdict}</strong>
        <span>{AFTER[verdict] ?? ""}</span>
      </p>
      {reasons.length > 0 && (
        <ul>
          {reasons.map(({ check, measured, threshold, why }) => (
            <li key={check}>
              <b>{check}</b> {measured} <span className="soft">(allowed: {threshold}): {why}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** A mark with a shape of its own for each verdict. */
export function Mark({ verdict }: { verdict: string }): ReactNode {
  return <i className={`mark-of ${verdict}`} aria-hidden="true" />;
}

/** A verdict, or where a run stands, in a list. */
export function Pill({ verdict }: { verdict: string }): ReactNode {
  return (
    <span className={`pill ${verdict}`} title={WORDS[verdict]}>
      <Mark verdict={verdict} />
      {verdict}
    </span>
  );
}
