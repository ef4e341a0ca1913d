"""SIGINT and SIGTERM while an engine works."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

ENDED_AT_ONCE: Final = "the run was ended at once by a second interrupt; its records are cut short"


@contextmanager
def taken_over(note: Callable[[], None]) -> Iterator[None]:
    """Within, both signals call `note` in place of what they do elsewhere.

    Does nothing outside the main thread, where Python delivers no signals.
    """
    former = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            former[number] = signal.signal(number, lambda number, frame: note())
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
