"""Progress on the console: a context that takes events."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TextIO

from dumbbell.engines.events import Event
from dumbbell.errors import InputError
from dumbbell.outputs import open_named

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

STANDARD_ERROR: Final = "-"


class Display:
    """Shows nothing, unless a subclass does."""

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End."""

    def __call__(self, event: Event) -> None:
        """Take an event."""


class Bar(Display):
    """A progress bar, wiped at the end. A subclass starts drawing it, and adds its task."""

    def __init__(self, count: str, beside: str) -> None:
        """`count` is the format of the progress; `beside` names the task's field that is shown next to it."""
        from rich.progress import BarColumn, Progress, TextColumn

        self._progress: Progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn(count),
            TextColumn(f"{{task.fields[{beside}]}}", style="cyan"),
            transient=True,
        )
        self._task: TaskID | None = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wipe the bar."""
        self._progress.stop()


def fitting(quiet: bool, lines: Callable[[], Display], bar: Callable[[], Display]) -> Display:
    """Returns the display for this output: a bar on a terminal, lines elsewhere, nothing if `quiet`."""
    if quiet:
        return Display()
    return bar() if sys.stdout.isatty() else lines()


class Written(Display):
    """A display that also writes each event as a line of JSON. The plan is left out: plan.json has it.

    A file that cannot be written any more ends the lines and not the run; that is said once, on stderr.
    """

    def __init__(self, shown: Display, file: TextIO, name: str) -> None:
        """`shown` gets all events, too; `name` is the file's."""
        from dumbbell.records.progress import line

        self._shown, self._file, self._name, self._line = shown, file, name, line
        self._is_open = True

    def __enter__(self) -> Self:
        """Begin."""
        self._shown.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End."""
        self._shown.__exit__(kind, error, trace)

    def __call__(self, event: Event) -> None:
        """Take an event."""
        self._shown(event)
        if not self._is_open:
            return
        try:
            print(self._line(event), file=self._file, flush=True)
        except OSError as error:
            self._is_open = False
            with suppress(OSError):
                why = error.strerror or str(error)
                print(f"cannot write {self._name}: {why}; further events are not written", file=sys.stderr)


@contextmanager
def with_events(shown: Display, events: str | None) -> Iterator[Display]:
    """The display, which also writes events to the file `events`, or to stderr if that is `-`. Raises `InputError`."""
    if events is None or events == STANDARD_ERROR:
        with Written(shown, sys.stderr, "stderr") if events else shown as display:
            yield display
        return
    try:
        file = TextIOWrapper(open_named(Path(events)), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {events}", error.strerror or str(error), "choose another --events") from None
    try:
        with Written(shown, file, events) as display:
            yield display
    finally:
        # The rest of its buffer could not be written, which has been said.
        with suppress(OSError):
            file.close()
