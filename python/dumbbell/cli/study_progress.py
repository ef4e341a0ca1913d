"""Progress of a study on the console."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from dumbbell.cli import display
from dumbbell.cli.display import Display, fitting
from dumbbell.cli.output import say
from dumbbell.counts import by_number, count
from dumbbell.engines.events import Event
from dumbbell.studies.status import left
from dumbbell.units.spans import span

LINE_EVERY_S: Final = 2.0
LARGE: Final = 1000
"""Cells from which on planning takes so long that the size is told first."""


def size(event: Event) -> str:
    """`9 cells x 5 repetitions x 30 s = 22 min 30 s of traffic; 4 at a time: about 6 min`, from the event `planned`.

    For later rounds: `2 of 9 cells are not precise enough: 6 more runs, 3 min of traffic`.
    """
    cells, runs = event["cells"], event["runs"]
    if event.get("known"):
        said = f"{cells:,} of {count(event['of'], 'cell')} {by_number(cells, 'is', 'are')} not precise enough: "
        said += f"{count(runs, 'more run')}, {span(event['traffic_s'], exact=True)} of traffic"
        return said + _forecast(event)
    more = "at least " if event["until"] else ""
    alike = abs(event["longest_s"] * runs - event["traffic_s"]) < 1e-6 * runs
    each = f"{'' if alike else 'up to '}{span(event['longest_s'], exact=True)}"
    said = f"{count(cells, 'cell')} x {more}{count(event['least'], 'repetition')} x {each}"
    said += f" = {count(runs, 'run')}, {span(event['traffic_s'], exact=True)} of traffic"
    return said + _forecast(event)


def _forecast(event: Event) -> str:
    if event.get("forecast_s", 0.0) < 1:
        return ""
    return f"; {event['at_once']:.0f} at a time: about {span(event['forecast_s'])}"


def speed(event: Event) -> str:
    """`412 runs/s, 1 min 5 s left`, from a progress event; for slow runs, also until when."""
    finished, wall_s = event["runs"] - event["found"], event["wall_s"]
    seconds = left(event)
    if not seconds or not finished or not wall_s:
        return ""
    if event.get("left_s") is not None:
        return f"{span(seconds)} left, until about {datetime.now() + timedelta(seconds=seconds):%H:%M}"
    return f"{finished / wall_s:,.0f} runs/s, {span(seconds)} left"


def troubles(event: Event) -> str:
    """`, 2 repeated, 3 done again, 1 given up`."""
    said = f", {event['repeated']:,} repeated" if event.get("repeated") else ""
    said += f", {event['redone']:,} done again" if event.get("redone") else ""
    return said + (f", {event['failed']:,} failed" if event["failed"] else "")


def announced(event: Event) -> str:
    """`250,000 cells x 4 repetitions = 1,000,000 runs: planning`, from the first event `planning` of a large study;
    empty for others, which are planned before it could be read."""
    cells, least = event["of"], event.get("least", 0)
    if event["cells"] or cells < LARGE:
        return ""
    return f"{count(cells, 'cell')} x {count(least, 'repetition')} = {count(cells * least, 'run')}: planning"


class Lines(Display):
    """Plain lines: the size of the study, and its progress every two seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._next_s = LINE_EVERY_S
        self._clock, self._began_s = clock, clock()
        self._plan_s = LINE_EVERY_S

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if event["event"] == "planning":
            self._planning(event)
        elif event["event"] == "planned":
            say(size(event))
        elif event["event"] == "progress" and event["wall_s"] >= self._next_s:
            told = filter(None, [f"{event['runs']:,} of {count(event['of'], 'run')}{troubles(event)}", speed(event)])
            say(", ".join(told))
            self._next_s = event["wall_s"] + (LINE_EVERY_S if event["wall_s"] < 60 else 10 * LINE_EVERY_S)

    def _planning(self, event: Event) -> None:
        if said := announced(event):
            say(said)
        took_s = self._clock() - self._began_s
        if took_s >= self._plan_s and event["cells"] < event["of"]:
            left_s = took_s * (event["of"] - event["cells"]) / max(event["cells"], 1)
            say(f"planned {event['cells']:,} of {event['of']:,} cells, {span(left_s)} left")
            self._plan_s = took_s + (LINE_EVERY_S if took_s < 60 else 10 * LINE_EVERY_S)


class Bar(display.Bar):
    """A progress bar with the speed beside it.

    Drawing begins with the first event, because it starts a thread, and planning could not fork beside a thread.
    """

    def __init__(self) -> None:
        super().__init__("{task.completed:,.0f} / {task.total:,.0f}", "speed")

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if event["event"] == "planning" and not event["cells"]:
            if said := announced(event):
                say(said)
            return
        if self._task is None:
            self._progress.start()
            self._task = self._progress.add_task("planning", total=event.get("of", 0), speed="")
        if event["event"] == "planning":
            self._progress.update(self._task, completed=event["cells"], total=event["of"])
        elif event["event"] == "planned":
            self._progress.console.print(size(event), highlight=False)
        elif event["event"] == "progress":
            self._progress.update(
                self._task,
                description="runs",
                completed=event["runs"],
                total=event["of"],
                speed=(speed(event) + troubles(event)).removeprefix(", "),
            )
        elif event["event"] == "reporting":
            self._progress.update(self._task, description="writing the report", speed="")


def progress(quiet: bool) -> Display:
    """Returns the display for this output."""
    return fitting(quiet, Lines, Bar)
