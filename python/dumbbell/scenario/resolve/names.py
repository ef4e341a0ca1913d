"""Names in refusals: those that there are, and the one that was meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


def some(names: Sequence[str]) -> str:
    """The names as an expected value, without the middle if there are many."""
    return "one of " + ", ".join(names if len(names) <= 12 else [*names[:6], "...", *names[-3:]])


def nearest(name: str, known: Sequence[str]) -> str:
    """A hint; empty if no name is near."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}?" if close else ""
