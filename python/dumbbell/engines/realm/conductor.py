"""A run that a helper process carries out: its events, orders to it, and how long each phase may be silent."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from dumbbell.engines.events import Event
from dumbbell.engines.orders import ChangeLink, Order, Stop, StopNow
from dumbbell.engines.protocol import Outcome
from dumbbell.engines.realm.process import Helper, Ordered, Silent, Wake
from dumbbell.engines.signals import ENDED_AT_ONCE
from dumbbell.errors import Interrupted, RunFailed
from dumbbell.frozen import dataclass


@dataclass(frozen=True)
class Bounds:
    """The longest times that a run may take."""

    silence_s: Mapping[str, float]
    """Time without an event, by phase."""
    longest_s: float
    """Time from its start to the end of its traffic."""
    stopping_s: float
    """Time from the order to stop to its end, if it has not begun."""


class Conductor:
    """A `LiveRun` whose work is done by a helper."""

    def __init__(
        self,
        helper: Sequence[str],
        directory: Path,
        lock: int,
        bounds: Bounds,
        before: Callable[[], None] = lambda: None,
        fixed_links: str = "",
    ) -> None:
        """A run that is not started yet.

        Args:
            helper: the command of the helper, which gets the directory as its last argument.
            directory: the run directory.
            lock: descriptor of its lock.
            bounds: how long the run may take.
            before: called as the run is started, before its helper.
            fixed_links: why no order can change a link; empty if one can.
        """
        self._command, self._directory, self._lock = helper, directory, lock
        self._bounds, self._before, self._fixed_links = bounds, before, fixed_links
        self._orders: deque[Order] = deque()
        self._wake: Wake | None = None
        self._phase, self._deadline = "setting up", float("inf")
        self._interrupted = self._started = self._complete = self._over = False
        self._failure: Event | None = None

    def __enter__(self) -> Self:
        """Start the helper."""
        self._before()
        with ExitStack() as stack:
            self._wake = stack.enter_context(Wake())
            command = [*self._command, str(self._directory)]
            stderr = self._directory / "logs" / "helper.stderr"
            self._helper = stack.enter_context(Helper(command, stderr, self._lock))
            self._stack = stack.pop_all()
        for _ in self._orders:
            self._wake.up()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the helper, and with it the lab."""
        self._wake = None
        self._stack.__exit__(kind, error, trace)

    def order(self, order: Order) -> None:
        """Give an order; see `LiveRun`."""
        self._orders.append(order)
        if self._wake is not None:
            self._wake.up()

    def events(self) -> Iterator[Event]:
        """The helper's events, and its process id first."""
        if self._over:
            return
        yield {"event": "helper", "pid": self._helper.pid}
        while (event := self._next()) is not None:
            yield event
            if event["event"] == "end":
                break
        self._over = True

    def wait(self) -> Outcome:
        """The run's outcome, once it has ended."""
        for _ in self.events():
            pass
        if self._interrupted and not self._started:
            raise Interrupted("the run was interrupted before it started")
        if self._failure is not None:
            raise RunFailed(self._failure["what"], self._failure["why"], self._failure["hint"])
        if self._phase != "ended":
            why = self._helper.ending()
            raise RunFailed(
                f"the lab ended while {self._phase}", why, "`dumbbell doctor` tests everything that the lab needs"
            )
        return Outcome(self._interrupted)

    def _next(self) -> Event | None:
        """The next event; `None` if there is none any more."""
        assert self._wake is not None, "the run was entered"
        while True:
            bound = min(self._bounds.silence_s[self._phase], self._deadline - time.monotonic())
            try:
                event = self._helper.next_event(self._wake, bound)
            except Ordered:
                if (answer := self._obey(self._orders.popleft())) is not None:
                    return answer
                continue
            except Silent:
                self._fail_silent()
            if event is not None:
                self._note(event)
            return event

    def _obey(self, order: Order) -> Event | None:
        """Pass an order on; the event that answers it, if the helper does not."""
        match order:
            case StopNow():
                self._helper.order(order)
                raise Interrupted(ENDED_AT_ONCE)
            case ChangeLink(link) if self._fixed_links:
                what, hint = f"changing link {link.name}", "write the change as [[events]] of the scenario"
                return {"event": "refused", "what": what, "why": self._fixed_links, "hint": hint}
            case ChangeLink():
                self._helper.order(order)
            # Traffic that is over is complete: there is nothing to stop.
            case Stop() if not (self._interrupted or self._complete):
                self._interrupted = True
                if not self._started:
                    self._deadline = time.monotonic() + self._bounds.stopping_s
                self._helper.order(order)
                return {"event": "stopping"}
        return None

    def _note(self, event: Event) -> None:
        match event["event"]:
            case "started":
                self._started = True
                self._phase, self._deadline = "running", time.monotonic() + self._bounds.longest_s
            case "done":
                self._complete = self._complete or event["process"] == "traffic"
                self._phase, self._deadline = "writing the records", float("inf")
            case "failed" if self._failure is None:
                self._failure = event
            case "end":
                self._phase = "ended"

    def _fail_silent(self) -> None:
        if self._interrupted and not self._started:
            raise Interrupted("the run was interrupted before it started; its lab did not end by itself") from None
        silence = f"no event came for {self._bounds.silence_s[self._phase]:.0f} s"
        raise RunFailed(
            f"the lab sent no events while {self._phase}",
            "\n".join(filter(None, [silence, self._helper.last_words()])),
            "check whether the machine is overloaded or out of memory; `dumbbell doctor` tests the lab",
        ) from None
