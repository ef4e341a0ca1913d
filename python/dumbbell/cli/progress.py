"""Progress of a run on the console."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Self

from dumbbell.cli import display
from dumbbell.cli.display import Display, fitting
from dumbbell.cli.output import say
from dumbbell.counts import by_number, count
from dumbbell.engines.events import Event, LinkProgress
from dumbbell.engines.registry import DEFAULT, capabilities
from dumbbell.engines.stages import STAGES
from dumbbell.plan.parts import cc
from dumbbell.plan.types import Plan
from dumbbell.units.spans import span

if TYPE_CHECKING:
    from rich.progress import Task

LINE_EVERY_NS: Final = 2_000_000_000
SILENT_S: Final = 10.0
LEAST_S: Final = 5.0
"""The least time, so far and to come, for which the end of a run is estimated."""
LINES_OF_A_SIMULATION: Final = 10
"""The most lines for a simulation, in which many seconds may pass within one second."""
GOODPUT_OVER_NS: Final = 1_000_000_000
SHOWN_FLOWS: Final = 4
"""More would not fit a line."""


class Figures:
    """Goodput of each flow over the last second, from the receivers' byte counts, and the longest queue."""

    def __init__(self) -> None:
        self._labels: dict[str, str] = {}
        self._history: deque[tuple[int, dict[str, int]]] = deque()
        self._links: Sequence[LinkProgress] = ()

    def plan(self, plan: Plan) -> None:
        """Take the flows' names."""
        self._labels = {flow.id: f"{flow.id} {cc(flow) or flow.workload.kind}" for flow in plan.flows}

    def add(self, event: Event) -> None:
        """Take the figures of a progress event."""
        self._links = event.get("links", ())
        counts = {flow["id"]: flow["received_bytes"] for flow in event["flows"]}
        self._history.append((event["time_ns"], counts))
        while len(self._history) > 2 and event["time_ns"] - self._history[1][0] >= GOODPUT_OVER_NS:
            self._history.popleft()

    def __str__(self) -> str:
        """`f1 cubic 47.5   f2 bbr 48.1 Mbit/s   bottleneck: 120 packets wait`."""
        if len(self._history) < 2:
            return ""
        (then, before), (now, after) = self._history[0], self._history[-1]
        if now <= then:
            return ""
        rates = {flow: 8e3 * (count - before.get(flow, 0)) / (now - then) for flow, count in after.items()}
        shown = [f"{self._labels.get(flow, flow)} {rate:.1f}" for flow, rate in rates.items()][:SHOWN_FLOWS]
        if len(rates) > SHOWN_FLOWS:
            shown.append(f"all {len(rates)} flows {sum(rates.values()):.1f}")
        return "   ".join([*shown[:-1], f"{shown[-1]} Mbit/s", *self._queue()])

    def _queue(self) -> Iterator[str]:
        longest = max(self._links, key=lambda link: link["queue_packets"], default=None)
        if longest is not None:
            waiting = longest["queue_packets"]
            yield f"{longest['name']}: {count(waiting, 'packet')} {by_number(waiting, 'waits', 'wait')}"


class Left:
    """The time until the end of a run that does not go by the machine's clock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._duration_ns = 0
        self._began: tuple[float, int] | None = None

    def plan(self, plan: Plan, real_time: bool) -> None:
        """Take the run's duration."""
        self._duration_ns = 0 if real_time else plan.duration_ns

    def at(self, time_ns: int) -> str:
        """`   3 min 5 s left` at a time of the run; empty while nothing can be said, and shortly before the end."""
        now = self._clock()
        if self._began is None:
            self._began = now, time_ns
        since_s, since_ns = self._began
        if time_ns <= since_ns or now - since_s < LEAST_S:
            return ""
        left_s = (now - since_s) * (self._duration_ns - time_ns) / (time_ns - since_ns)
        return f"   {span(left_s)} left" if left_s >= LEAST_S else ""


class Lines(Display):
    """Plain lines: each stage once, and the figures every two seconds of the run; of a simulation ten times, or every
    10 s that it takes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._figures, self._left = Figures(), Left(clock)
        self._stage = ""
        self._every_ns = self._next_ns = LINE_EVERY_NS
        self._clock, self._said_s = clock, clock()

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if event["event"] == "planned":
            self._figures.plan(event["plan"])
            real_time = capabilities(event.get("engine", DEFAULT)).real_time
            self._left.plan(event["plan"], real_time)
            if not real_time:
                self._every_ns = max(LINE_EVERY_NS, event["plan"].duration_ns // LINES_OF_A_SIMULATION)
                self._next_ns = self._every_ns
        elif event["event"] == "progress":
            self._figures.add(event)
            left = self._left.at(event["time_ns"])
            if event["time_ns"] >= self._next_ns or (left and self._clock() - self._said_s >= SILENT_S):
                say(f"{event['time_ns'] / 1e9:6.1f} s  {self._figures}{left}")
                self._said_s = self._clock()
                # Keeps two lines at least half of the interval apart.
                self._next_ns = ((event["time_ns"] + self._every_ns // 2) // self._every_ns + 1) * self._every_ns
        else:
            stage = STAGES.get(event["event"], self._stage)
            if stage != self._stage:
                say(stage)
                self._stage = stage


class Bar(display.Bar):
    """A progress bar with the time, and beside it each flow's goodput and the longest queue."""

    def __init__(self) -> None:
        super().__init__("{task.completed:4.1f} / {task.total:.1f} s", "goodput")
        self._figures, self._left = Figures(), Left()
        self._duration_s = 0.0

    @property
    def tasks(self) -> Sequence[Task]:
        """Bars that are shown: none before the plan is known, then one."""
        return self._progress.tasks

    def __enter__(self) -> Self:
        """Begin to draw."""
        self._progress.start()
        return self

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if event["event"] == "planned":
            self._figures.plan(event["plan"])
            self._left.plan(event["plan"], capabilities(event.get("engine", DEFAULT)).real_time)
            self._duration_s = event["plan"].duration_ns / 1e9
            self._task = self._progress.add_task("planning", total=self._duration_s, goodput="")
        if self._task is None:
            return
        if event["event"] == "progress":
            self._figures.add(event)
            completed = min(event["time_ns"] / 1e9, self._duration_s)
            said = f"{self._figures}{self._left.at(event['time_ns'])}"
            self._progress.update(self._task, completed=completed, goodput=said)
        elif event["event"] in STAGES:
            self._progress.update(self._task, description=STAGES[event["event"]])


def progress(quiet: bool) -> Display:
    """Returns the display for this output."""
    return fitting(quiet, Lines, Bar)
