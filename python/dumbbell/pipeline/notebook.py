"""Progress in a notebook: a line beneath the cell, which is renewed in place."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Final

from dumbbell.counts import count
from dumbbell.engines.events import Event, OnEvent
from dumbbell.engines.stages import STAGES

_EVERY_S: Final = 0.2


def progress() -> OnEvent | None:
    """The display of events in the notebook whose kernel this process is; `None` if it is none."""
    # Only a kernel has imported this, and asking for it here would take long elsewhere.
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return Line(ipython.display.display) if hasattr(shell, "kernel") else None


class Line:
    """One line of text, which says how far a run or a study is."""

    def __init__(self, display: Callable[..., Any]) -> None:
        """`display` is IPython's."""
        self._display = display
        self._handle: Any = None
        self._stage = "planning"
        self._duration_s = 0.0
        self._next = 0.0

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if "plan" in event:
            self._duration_s = event["plan"].duration_ns / 1e9
        is_new = event["event"] != "progress" and (stage := STAGES.get(event["event"], "")) not in ("", self._stage)
        if is_new:
            self._stage = stage
        is_last = "of" in event and event.get("runs") == event["of"]
        if is_new or is_last or time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY_S
            self._show(self._text(event))

    def _text(self, event: Event) -> str:
        if "of" in event and "runs" in event and event["event"] == "progress":
            failed = f", {event['failed']:,} failed" if event.get("failed") else ""
            return f"{event['runs']:,} of {count(event['of'], 'run')}{failed}"
        if event["event"] == "planning":
            return f"planning: {event['cells']:,} of {count(event['of'], 'cell')}"
        if event["event"] == "progress":
            return f"{self._stage}: {event['time_ns'] / 1e9:.1f} of {self._duration_s:g} s"
        return self._stage

    def _show(self, text: str) -> None:
        shown = {"text/plain": text}
        if self._handle is None:
            self._handle = self._display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)
