"""Progress of a kernel's build on the console."""

from __future__ import annotations

from typing import Final, Self

from dumbbell.cli import display
from dumbbell.cli.display import Display, fitting
from dumbbell.cli.output import say
from dumbbell.counts import count
from dumbbell.engines.events import Event

_LINES: Final = 10
"""Lines that the compilation has, where there is no terminal."""


class Lines(Display):
    """Plain lines: each step, and the compilation by tenths."""

    def __init__(self) -> None:
        self._tenth = 0

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if event["event"] == "step":
            say(str(event["step"]))
            self._tenth = 0
        elif (tenth := _LINES * event["done"] // event["of"]) > self._tenth:
            self._tenth = tenth
            say(f"  {count(event['done'], 'file')} compiled, of about {event['of']:,}")


class Bar(display.Bar):
    """A progress bar with the number of files that are compiled."""

    def __init__(self) -> None:
        super().__init__("{task.percentage:3.0f} %", "files")

    def __enter__(self) -> Self:
        """Begin to draw."""
        self._progress.start()
        self._task = self._progress.add_task("", total=None, files="")
        return self

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if self._task is None:
            return
        if event["event"] == "step":
            self._progress.update(self._task, description=str(event["step"]), completed=0, total=None, files="")
        else:
            files = count(event["done"], "file")
            self._progress.update(self._task, completed=event["done"], total=event["of"], files=files)


def progress(quiet: bool) -> Display:
    """Returns the display for this output."""
    return fitting(quiet, Lines, Bar)
