"""One line of the doctor's report."""

from __future__ import annotations

from enum import StrEnum

from dumbbell.frozen import dataclass


class Level(StrEnum):
    """The state of an item, from best to worst."""

    OK = "ok"
    WARN = "warn"
    """Runs work, but less well, or only some work."""
    MISSING = "missing"
    """No run works without it."""


@dataclass(frozen=True)
class Finding:
    """The checked item, its state, and a fix."""

    name: str
    level: Level
    detail: str
    fix: str = ""
    """A command, or a change to make; empty if there is nothing to fix."""
