"""The declaration of a report's panel. `panels` has a module for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from dumbbell.frozen import dataclass
from dumbbell.report.acks import Acks
from dumbbell.report.model import Panel
from dumbbell.report.source import Source


class Gatherer(Protocol):
    """A panel of one run while it is made."""

    def add(self, acks: Acks) -> None:
        """Take in the ACKs of one flow. They come flow by flow, as few fit into memory at once."""

    def panel(self) -> Panel | None:
        """The panel; `None` if there is nothing to draw. Raises `DumbbellError` if a table cannot be read."""


class Definition(Protocol):
    """A panel, free of the run: the name `PANEL` of a module of `panels`."""

    @property
    def place(self) -> int:
        """Panels are in ascending order of their place."""

    @property
    def title(self) -> str:
        """The title on the page."""

    @property
    def is_expected(self) -> bool:
        """Every TCP flow has this in its samples: a report without it says so."""

    @property
    def sample_columns(self) -> frozenset[str]:
        """Columns of `samples` that it needs."""

    @property
    def ack_columns(self) -> frozenset[str]:
        """Columns of `acks` that it needs."""

    def start(self, source: Source) -> Gatherer:
        """Begin the panel of one run."""


@dataclass(frozen=True)
class OfTables:
    """A panel that is drawn at once, without single ACKs."""

    place: int
    title: str
    draw: Callable[[Source], Panel | None]
    sample_columns: frozenset[str] = frozenset()
    ack_columns: frozenset[str] = frozenset()
    is_expected: bool = False

    def start(self, source: Source) -> Gatherer:
        """Begin the panel of one run."""
        return _Drawn(self, source)


@dataclass(frozen=True)
class _Drawn:
    of: OfTables
    source: Source

    def add(self, acks: Acks) -> None:
        """They are not needed."""

    def panel(self) -> Panel | None:
        """The panel."""
        return self.of.draw(self.source)
