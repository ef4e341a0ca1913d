"""Signals that end a command, while an engine works."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

ENDED_AT_ONCE: Final = "the run was ended at once by a second interrupt; its records are cut short"


@contextmanager
def taken_over(note: Callable[[], None]) -> Iterator[None]:
    """Within, SIGINT, SIGTERM and SIGHUP call `note` in place of what they do elsewhere.

    SIGHUP does nothing if it is ignored, as under nohup. Does nothing outside the main thread, where Python delivers no
    signals.
    """
    former = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                former[number] = signal.signal(number, lambda number, frame: note())
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
