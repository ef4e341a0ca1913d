"""What a console shows of something that goes on: a context that is told of events."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from dumbbell.cli.output import reader_may_leave

Event = Mapping[str, Any]


class Display:
    """Nothing, unless a subclass shows something."""

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End."""

    def __call__(self, event: Event) -> None:
        """Take an event."""


def fitting(quiet: bool, lines: Callable[[], Display], bar: Callable[[], Display]) -> Display:
    """What suits where the output goes: a bar on a terminal, lines elsewhere."""
    if quiet:
        return Display()
    return bar() if sys.stdout.isatty() else lines()


def say(line: str) -> None:
    """Print `line`, unless the reader has left."""
    with reader_may_leave():
        print(line)
