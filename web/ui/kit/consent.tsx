// The question before the programs of a scenario run that came from elsewhere.

import { useSyncExternalStore, type ReactNode } from "react";
import { post, Refused } from "./api";
import type { Question } from "./messages";
import { Button, Dialog } from "./parts";
import { spelled } from "./spelled";

interface Posed {
  question: Question;
  answer: (agreed: boolean) => void;
}

let posed: Posed | null = null;
const changed = new Set<() => void>();

function put(next: Posed | null): void {
  posed = next;
  for (const redraw of changed) redraw();
}

function ask(question: Question): Promise<boolean> {
  posed?.answer(false);
  return new Promise((resolve) =>
    put({
      question,
      answer: (agreed) => {
        put(null);
        resolve(agreed);
      },
    }),
  );
}

/** Send what starts something. If it runs programs that were not agreed to, they are shown first. Null: the user said no. */
export async function withConsent<T>(start: () => Promise<T>): Promise<T | null> {
  try {
    return await start();
  } catch (thrown) {
    if (!(thrown instanceof Refused && thrown.status === 428)) throw thrown;
    const question = thrown.problem as Question;
    if (!(await ask(question))) return null;
    await post("/api/agree", { programs: question.programs });
    // What runs may have changed meanwhile: then it is asked again.
    return withConsent(start);
  }
}

export function Consent(): ReactNode {
  const shown = useSyncExternalStore(
    (redraw) => (changed.add(redraw), () => changed.delete(redraw)),
    () => posed,
  );
  if (!shown) return null;
  const { question, answer } = shown;
  return (
    <Dialog
      title="Run these programs?"
      onClose={() => answer(false)}
      actions={
        <>
          <Button onClick={() => answer(false)}>Don’t run</Button>
          <Button look="danger" onClick={() => answer(true)}>
            Agree and run
          </Button>
        </>
      }
    >
      <p>{question.what.replace(/ that you have not agreed to$/, "")} on this machine, as you. Nobody has agreed to these here:</p>
      <ul className="programs">
        {question.programs.map((program) => (
          <li key={program}>
            <code className="stranger">{spelled(program)}</code>
          </li>
        ))}
      </ul>
      <p className="soft">They are command lines, files that are compiled, loaded or configure a daemon, and ways from a lab to this machine’s network. Once you agree it is not asked again while they stay as they are.</p>
    </Dialog>
  );
}
