"""Effect on a run of Ctrl-C and of other signals that end a command."""

from __future__ import annotations

import signal
from contextlib import AbstractContextManager

from dumbbell.engines import signals
from dumbbell.engines.orders import Stop, StopNow
from dumbbell.engines.protocol import LiveRun


class Interrupts:
    """Signals to a run: the first stops its traffic early, the second ends the run at once.

    Once the traffic is over, there is nothing to stop early: the first signal lets the run be judged, as it would be.
    """

    def __init__(self) -> None:
        """The run has not begun: until then, and once more, a signal does what Ctrl-C did before."""
        former = signal.getsignal(signal.SIGINT)
        self._interrupt = former if callable(former) else signal.default_int_handler
        self._count = 0
        self._live: LiveRun | None = None
        self._is_over = False

    def taken_over(self) -> AbstractContextManager[None]:
        """Within, signals come here, as `engines.signals.taken_over` says. It may be entered again within."""
        return signals.taken_over(self._take)

    def begin(self, live: LiveRun) -> None:
        """From here on, signals are orders to `live`."""
        self._live = live

    def end(self) -> None:
        """The traffic is over, and its records are written."""
        self._is_over, self._live = True, None

    def _take(self) -> None:
        self._count += 1
        if self._live is not None:
            self._live.order(Stop() if self._count == 1 else StopNow())
        elif self._count > 1 or not self._is_over:
            self._interrupt(signal.SIGINT, None)
