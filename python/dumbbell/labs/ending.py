"""The end of a lab, as its owner hears of it while it waits for something else, such as a line of its terminal."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from dumbbell.labs.owner import Owner


class LabEnded(BaseException):
    """The lab has ended. As `KeyboardInterrupt` it is no error, and comes at any time."""


@contextmanager
def interrupted(owner: Owner) -> Iterator[None]:
    """Within, the end of the owner's lab raises `LabEnded` in the main thread. In another thread nothing happens.

    Raises:
        RunFailed: the lab ended, and nobody had asked it to.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waits = True

    def hear(number: int, frame: FrameType | None) -> None:
        if waits:
            raise LabEnded

    # Only a signal ends a read.
    main = threading.get_ident()
    before = signal.signal(signal.SIGUSR1, hear)
    try:
        with owner.until_end(lambda: signal.pthread_kill(main, signal.SIGUSR1)):
            yield
    except LabEnded:
        owner.wait()
        raise
    finally:
        waits = False
        signal.signal(signal.SIGUSR1, before)
