"""Texts for the refusal of an unknown name: the known names, and the nearest one as a hint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


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
    import difflib

    close = difflib.get_close_matches(name, list(known), n=1, cutoff=likeness)
    return f"did you mean {close[0]}?" if close else otherwise
