"""Texts for the refusal of an unknown name: the known names, and the nearest one as a hint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

_MOST: Final = 500
_LONGEST: Final = 100
"""Names, and characters of a name, up to which likeness is measured: its time grows with their product."""


def some(names: Sequence[str]) -> str:
    """The names as an expected value, without the middle if there are many."""
    return "one of " + ", ".join(names if len(names) <= 12 else [*names[:6], "...", *names[-3:]])


def nearest(name: str, known: Iterable[str], otherwise: str = "", likeness: float = 0.6) -> str:
    """A hint that names the known one that was probably meant.

    Args:
        name: what was given.
        known: the names that there are.
        otherwise: the hint if none is near.
        likeness: the least one, from 0 to 1, as `difflib` measures it.
    """
    found = closest(name, known, likeness)
    return otherwise if found is None else f"did you mean {found}?"


def closest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """Returns the known name that was probably meant; arguments as for `nearest`."""
    import difflib

    short = (one for one in known if len(one) <= _LONGEST)
    near = difflib.get_close_matches(name, list(islice(short, _MOST)), 1, likeness) if len(name) <= _LONGEST else []
    return near[0] if near else None
