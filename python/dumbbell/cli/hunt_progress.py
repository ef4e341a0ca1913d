"""Progress of a hunt on the console. This module is not a verb."""

from __future__ import annotations

import time
from typing import Final

from dumbbell.cli import display
from dumbbell.cli.display import Display, fitting
from dumbbell.cli.output import say
from dumbbell.counts import count
from dumbbell.engines.events import Event

EVERY_S: Final = 2.0
"""Time between two lines."""


def best(event: Event) -> str:
    """`best 1.23 x the limit: 2 s: 4 lost packets`, from an event `hunting`; a fault has less than 1."""
    from dumbbell.hunt.words import described

    if event["score"] is None:
        return "nothing measured yet"
    return f"best {event['score']:.2f} x the limit: {described(event['best'])}"


class Lines(Display):
    """A line every two seconds."""

    def __init__(self) -> None:
        self._next_s = time.monotonic() + EVERY_S

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if event["event"] == "shrinking":
            say(f"shrinking fault {event['number']} of {event['of']}")
        elif time.monotonic() >= self._next_s:
            say(f"{event['runs']:,} of {count(event['of'], 'run')}, {count(event['faults'], 'fault')}, {best(event)}")
            self._next_s = time.monotonic() + EVERY_S


class Bar(display.Bar):
    """A bar with the best candidate beside it."""

    def __init__(self) -> None:
        super().__init__("{task.completed:,.0f} / {task.total:,.0f}", "best")

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if self._task is None:
            self._progress.start()
            self._task = self._progress.add_task("hunting", total=event.get("of", 0), best="")
        if event["event"] == "shrinking":
            self._progress.update(
                self._task, description="shrinking", completed=event["number"] - 1, total=event["of"], best=""
            )
        else:
            said = f"{count(event['faults'], 'fault')}, {best(event)}"
            self._progress.update(self._task, completed=event["runs"], total=event["of"], best=said)


def progress(quiet: bool) -> Display:
    """Returns the display for this output."""
    return fitting(quiet, Lines, Bar)
