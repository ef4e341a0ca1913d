// An answer that takes long: it is waited for, given up, or replaced by the answer to another question.

import { useCallback, useEffect, useRef, useState } from "react";
import { problemOf } from "../kit/api";
import type { Problem } from "../kit/messages";

export interface Answering {
  isWaiting: boolean;
  /** Why there is no answer. */
  problem: Problem | null;
  /** Ask, in place of what is waited for. */
  ask: <T>(question: (signal: AbortSignal) => Promise<T>, onAnswer: (answer: T) => void) => void;
  /** Give up what is waited for. */
  cancel: () => void;
  refuse: (problem: Problem) => void;
}

/** A component that goes gives up what it waits for. */
export function useAnswer(): Answering {
  const [isWaiting, setIsWaiting] = useState(false);
  const [problem, refuse] = useState<Problem | null>(null);
  const given = useRef<AbortController | null>(null);
  useEffect(() => () => given.current?.abort(), []);
  const ask = useCallback<Answering["ask"]>((question, onAnswer) => {
    given.current?.abort();
    const now = new AbortController();
    given.current = now;
    refuse(null);
    setIsWaiting(true);
    question(now.signal)
      .then(
        (answer) => !now.signal.aborted && onAnswer(answer),
        (thrown) => !now.signal.aborted && refuse(problemOf(thrown)),
      )
      .finally(() => !now.signal.aborted && setIsWaiting(false));
  }, []);
  const cancel = useCallback(() => {
    given.current?.abort();
    setIsWaiting(false);
  }, []);
  return { isWaiting, problem, ask, cancel, refuse };
}
