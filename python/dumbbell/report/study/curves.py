"""The label and the colour of each curve that a study's page, figures and tables can show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain

from dumbbell.report.study.axes import Axis
from dumbbell.report.study.colours import Colour, of_names, of_values
from dumbbell.report.study.model import StudyPlots


@dataclass(frozen=True)
class Curve:
    """The looks of a curve."""

    label: str
    colour: Colour | None
    """`None`: there is no other curve."""


@dataclass(frozen=True)
class Curves:
    """Scope -> a curve for each value of the second key; one curve if there is no second key."""

    among: Mapping[str, tuple[Curve, ...]]
    """In a plot of several scopes."""
    alone: Mapping[str, tuple[Curve, ...]]
    """In a plot of this scope only."""


def curves(plots: StudyPlots, axis: Axis | None) -> Curves:
    """The curves of a study, with the values of `axis` as the second key.

    Scopes that separate flows have their colours, dashed by the second key. A scope alone has the colours of the second
    key's values.
    """
    names = plots.of
    values = of_values(axis, names) if axis else (None,)
    among = {
        name: tuple(Curve(_label(name, axis, i), replace(own, dash=own.dash + i)) for i in range(len(values)))
        for name, own in zip(names, of_names(names), strict=True)
    }
    alone = {
        name: tuple(Curve(_label("" if axis else name, axis, i), colour) for i, colour in enumerate(values))
        for name in dict.fromkeys((*names, *chain.from_iterable(panel.of for panel in plots.panels)))
    }
    return Curves(among, alone)


def _label(name: str, axis: Axis | None, value: int) -> str:
    """`cubic, buffer 1 bdp`."""
    parts = [name, f"{axis.label} {axis.texts[value]}" if axis else ""]
    return ", ".join(filter(None, parts)) or "all flows"
