"""A live run whose work is a function of this process."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Final, Self

from dumbbell.engines.events import Event
from dumbbell.engines.orders import ChangeLink, Order, StopNow
from dumbbell.engines.protocol import Outcome
from dumbbell.engines.signals import ENDED_AT_ONCE
from dumbbell.errors import Interrupted

Tell = Callable[[Event], bool]
"""Tells an event; returns whether to go on, once somebody has taken the event."""
Work = Callable[[Tell], Outcome]

LOOK_S: Final = 0.1
"""The interval of looks for orders."""


class Worker:
    """Works in a separate thread, which waits until each of its events is taken."""

    def __init__(self, work: Work, changes_links: str) -> None:
        """`changes_links`: why it doesn't."""
        self._work, self._changes_links = work, changes_links
        self._orders: deque[Order] = deque()
        """Orders that came and were not looked at yet: a signal handler may append, so there is no lock."""
        self._stopping = False
        self._turn = threading.Condition()
        self._told: Event | None = None
        self._ended = self._closed = False
        self._outcome: Outcome | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="dumbbell-run", daemon=True)

    def __enter__(self) -> Self:
        """Start."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop at the next event, and wait for the end: nobody may write to the run's directory any more."""
        with self._turn:
            self._closed = True
            self._turn.notify_all()
        self._thread.join()

    def order(self, order: Order) -> None:
        """Give an order; see `LiveRun`."""
        self._orders.append(order)

    def events(self) -> Iterator[Event]:
        """Its events, and what becomes of orders."""
        while True:
            with self._turn:
                if self._told is None and not self._ended and not self._orders:
                    # Orders wake nobody.
                    self._turn.wait(LOOK_S)
                event, ended = self._told, self._ended
            if event is not None:
                yield event
            yield from self._obey()
            if event is not None:
                with self._turn:
                    self._told = None
                    self._turn.notify_all()
            elif ended:
                break
        if self._error is not None:
            raise self._error

    def _obey(self) -> Iterator[Event]:
        while self._orders:
            order = self._orders.popleft()
            if isinstance(order, StopNow):
                raise Interrupted(ENDED_AT_ONCE)
            if isinstance(order, ChangeLink):
                what = f"changing link {order.link.name}"
                yield {"event": "refused", "what": what, "why": self._changes_links, "hint": ""}
            elif not self._stopping:
                self._stopping = True
                yield {"event": "stopping"}

    def wait(self) -> Outcome:
        """Wait for the end; returns the outcome."""
        for _ in self.events():
            pass
        assert self._outcome is not None, "work without an error has an outcome"
        return self._outcome

    def _run(self) -> None:
        try:
            self._outcome = self._work(self._tell)
        except BaseException as error:
            self._error = error
        with self._turn:
            self._ended = True
            self._turn.notify_all()

    def _tell(self, event: Event) -> bool:
        with self._turn:
            self._told = event
            self._turn.notify_all()
            self._turn.wait_for(lambda: self._told is None or self._closed)
            return not (self._stopping or self._closed)
