"""Progress on the console: a context that takes events."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Event = Mapping[str, Any]


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


def say(line: str) -> None:
    """Print `line` at once, also into a pipe."""
    print(line, flush=True)
