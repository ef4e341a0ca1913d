"""Colours of a study's curves, each with one meaning on the whole page: an algorithm, or a value of a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dumbbell.frozen import dataclass
from dumbbell.report.groups import HUE_OF, HUES
from dumbbell.report.study.axes import Axis

# Shades for ordered values beside any hue: from dark to light on white, from light to dark on black.
_SHADES: Final = (
    ("#25303b", "#eef2f6"),
    ("#43505d", "#cfd7df"),
    ("#5f6e7d", "#b0bbc6"),
    ("#7b8b9b", "#93a0ad"),
    ("#97a6b5", "#778593"),
    ("#b1bdc9", "#5e6b78"),
)

NEUTRAL: Final = ("#4d5866", "#b4bdc8")
"""The colour of a curve of no algorithm and no value: that of all flows, or of a link."""


@dataclass(frozen=True)
class Colour:
    """The colour of a curve."""

    light: str
    """The colour on white, `#rrggbb`."""
    dark: str
    """The colour on black."""
    dash: int
    """0: a whole line; others tell curves of one colour apart."""


def of_names(names: Sequence[str]) -> tuple[Colour, ...]:
    """Colours of algorithms, or of entries of the scenario's `flows`.

    A known algorithm has the same colour in every study; others have the hues that are left.
    """
    found = {name: Colour(*HUES[HUE_OF[name]], 0) for name in names if name in HUE_OF}
    used = set(found.values())
    every = (Colour(*hue, dash) for dash in range(len(names) + 1) for hue in HUES)
    free = (colour for colour in every if colour not in used)
    return tuple(found[name] if name in found else next(free) for name in names)


def of_links(count: int) -> tuple[Colour, ...]:
    """Colours of several links: shades of grey, since flows have the hues."""
    # Neighbours differ by half of the range.
    apart = (*_SHADES[::3], *_SHADES[1::3], *_SHADES[2::3])
    return tuple(Colour(*apart[i % len(apart)], i // len(apart)) for i in range(count))


def of_values(axis: Axis, names: Sequence[str]) -> tuple[Colour, ...]:
    """Colours of a key's values, in curves that are of no algorithm.

    A value that is an algorithm has its colour. Other values are shades of grey where algorithms have the hues; each
    has the dash that it has in the curves of algorithms.
    """
    known = dict(zip(names, of_names(names), strict=True))
    if any(text in known for text in axis.texts):
        every = (*names, *(text for text in axis.texts if text not in known))
        known = dict(zip(every, of_names(every), strict=True))
        return tuple(known[text] for text in axis.texts)
    hues = _SHADES if len(names) > 1 else HUES
    return tuple(Colour(*hues[i % len(hues)], i) for i in range(len(axis.texts)))
