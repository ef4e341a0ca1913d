"""The label and the colour of each curve that a study's page, figures and tables can show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain

from dumbbell.cc.names import title
from dumbbell.frozen import dataclass
from dumbbell.report.study.axes import Axis
from dumbbell.report.study.colours import NEUTRAL, Colour, of_links, of_names, of_values
from dumbbell.report.study.model import StudyPlots


@dataclass(frozen=True)
class Curve:
    """The looks of a curve."""

    label: str
    colour: Colour | None
    """`None`: neutral, of a curve of no algorithm and no value."""


def curves(plots: StudyPlots, axis: Axis | None) -> Mapping[str, tuple[Curve, ...]]:
    """Scope -> a curve for each value of `axis`, the second key; one curve if there is no second key.

    Each of several scopes that separate flows has its colour in all plots, dashed by the second key, also where it is
    alone. So has each of several links. Curves of other scopes have the colours of the second key's values.
    """
    names = plots.of if len(plots.of) > 1 else ()
    links = tuple(
        dict.fromkeys(of for panel in plots.panels if panel.scope == "link" and panel.of[1:] for of in panel.of)
    )
    values = of_values(axis, plots.of) if axis else (None,)
    others = (
        of for of in chain(plots.of, *(panel.of for panel in plots.panels)) if of not in names and of not in links
    )
    beside = _beside(plots, (*names, *links))
    found = {
        name: tuple(Curve(_label(name, axis, i), replace(own, dash=own.dash + dash)) for i, dash in _dashes(name, axis))
        for name, own in zip((*names, *links), (*of_names(names), *of_links(len(links))), strict=True)
    } | {
        name: tuple(
            Curve(_label(name if name in beside or not axis else "", axis, i), _dashed(colour, beside.get(name, 0)))
            for i, colour in enumerate(values)
        )
        for name in dict.fromkeys(others)
    }
    labels, colours = plots.described.labels, plots.described.colours
    if not labels and not colours:
        return found
    return {
        name: tuple(_as_described(one, name, axis, i, plots) for i, one in enumerate(of)) for name, of in found.items()
    }


def _beside(plots: StudyPlots, known: tuple[str, ...]) -> dict[str, int]:
    """Scopes without a colour of their own that share a panel with others, as entries of flows do -> their place."""
    free = [[of for of in panel.of if of not in known] for panel in plots.panels]
    return {of: place for scopes in free if len(scopes) > 1 for place, of in enumerate(scopes)}


def _dashed(colour: Colour | None, dash: int) -> Colour | None:
    return replace(colour or Colour(*NEUTRAL, 0), dash=dash) if dash else colour


def _as_described(curve: Curve, name: str, axis: Axis | None, value: int, plots: StudyPlots) -> Curve:
    """The curve with the label and the colour that the description has for its scope, or else for its value."""
    labels, colours = plots.described.labels, plots.described.colours
    own = next((one for one in (name, title(name)) if one in labels), None)
    label = curve.label.replace(title(name), labels[own], 1) if own else curve.label
    names = [name, title(name), *((axis.texts[value], axis.names[value]) if axis else ())]
    colour = next((colours[one] for one in names if one in colours), None)
    dash = curve.colour.dash if curve.colour else 0
    return Curve(label, Colour(colour, colour, dash) if colour else curve.colour)


def _dashes(name: str, axis: Axis | None) -> Iterable[tuple[int, int]]:
    """Index of each value of the second key, and its dash in the curves of a scope.

    If a value is the scope itself, its curve is whole, as that of the value is in plots without scopes.
    """
    texts = list(axis.texts) if axis else [""]
    order = sorted(range(len(texts)), key=lambda i: texts[i] != name)
    return ((i, order.index(i)) for i in range(len(texts)))


def _label(name: str, axis: Axis | None, value: int) -> str:
    """`CUBIC, buffer 1 bdp`; `Reno` if the second key's value is the scope itself."""
    if axis and axis.texts[value] == name:
        return axis.names[value]
    word = "" if axis is None else axis.word(value) if not name else f"{axis.label} {axis.names[value]}"
    return ", ".join(filter(None, [title(name), word])) or "all flows"
