"""One line of the doctor's report."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """From best to worst."""

    OK = "ok"
    WARN = "warn"
    """Runs work, but less well or not all of them."""
    MISSING = "missing"
    """No run works without it."""


@dataclass(frozen=True)
class Finding:
    """What was looked at, how it stands, and how to mend it."""

    name: str
    level: Level
    detail: str
    fix: str = ""
    """A command, or what to change; empty if there is nothing to mend."""
