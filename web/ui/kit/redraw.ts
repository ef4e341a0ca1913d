// Drawing a component again some time after it was asked for, and once for all that was asked for meanwhile.

import { useEffect, useReducer, useRef } from "react";

/** `soon(ms)` draws the component again after so many milliseconds; at once if that is 0. */
export function useRedraw(): (ms: number) => void {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const due = useRef<ReturnType<typeof setTimeout>>(undefined);
  const soon = useRef((ms: number): void => {
    if (ms === 0) return redraw();
    due.current ??= setTimeout(() => {
      due.current = undefined;
      redraw();
    }, ms);
  });
  useEffect(
    () => () => {
      clearTimeout(due.current);
      due.current = undefined;
    },
    [],
  );
  return soon.current;
}
