// What a page without a valid token shows.

import type { ReactNode } from "react";
import type { Problem } from "../kit/messages";
import { ProblemText } from "../kit/parts";

export function LoggedOut({ problem }: { problem: Problem }): ReactNode {
  return (
    <main className="logged-out">
      <h1>dumbbell</h1>
      <ProblemText problem={problem} />
      <p>
        Open the address that <code>dumbbell ui</code> printed; <code>dumbbell ui --list</code> shows it again. It holds a secret, so that no other
        page and no other user of this machine can run programs here.
      </p>
    </main>
  );
}
