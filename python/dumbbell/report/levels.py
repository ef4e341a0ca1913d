"""Reference levels of curves: drawn where they help, given as text where they would press the curves flat."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dumbbell.report.model import Reference

_FAR_ABOVE: Final = 4
"""A level this many times above the highest value takes too much room to leave the curves legible."""


def split(levels: Iterable[Reference], highest: float) -> tuple[tuple[Reference, ...], str]:
    """The levels to draw over values up to `highest`, and a sentence for each of the others."""
    near: list[Reference] = []
    said = ""
    for level in levels:
        if level.value <= _FAR_ABOVE * highest:
            near.append(level)
        else:
            said += f" Far above: {level.label}."
    return tuple(near), said
