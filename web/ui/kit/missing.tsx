// The text in place of a view whose subject is not there: why, and a way on.

import type { ReactNode } from "react";
import type { Problem } from "./messages";
import { ProblemText } from "./parts";
import { href } from "./route";

interface Props {
  title: string;
  problem?: Problem;
  /** The view to go on with, and the words of the link to it. */
  to: string;
  children: ReactNode;
}

export function Missing({ title, problem, to, children }: Props): ReactNode {
  return (
    <div className="view-fault">
      <h1>{title}</h1>
      {problem && <ProblemText problem={problem} />}
      <a href={href(to)}>{children}</a>
    </div>
  );
}
