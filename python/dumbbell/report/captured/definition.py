"""The declaration of a panel of a capture's report. `panels` has a module for each."""

from __future__ import annotations

from collections.abc import Callable

from dumbbell.frozen import dataclass
from dumbbell.report.captured.source import Source
from dumbbell.report.model import Panel


@dataclass(frozen=True)
class Definition:
    """A panel, free of the capture."""

    place: int
    """Panels are in ascending order of their place."""
    draw: Callable[[Source], Panel | None]
    """The panel; `None` if there is nothing to draw."""
