"""The colour of each curve: an algorithm has one colour on every page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dumbbell.cc.names import title
from dumbbell.report.groups import HUE_OF, HUES
from dumbbell.report.study.colours import Colour, of_links

_WRITTEN: Final = {name.lower(): cc for cc in HUE_OF for name in (cc, title(cc))}
"""Names of algorithms as studies write them, in small letters -> algorithm."""


def algorithm_of(label: str) -> str | None:
    """The algorithm that a label names: `bbr2, long` is of BBRv2; `None` if it names none, or two."""
    found = _algorithms(label)
    return found.pop() if len(found) == 1 else None


def _algorithms(label: str) -> set[str]:
    return {_WRITTEN[part] for part in (one.strip().lower() for one in label.split(",")) if part in _WRITTEN}


def looks(labels: Sequence[str]) -> list[Colour]:
    """A colour for each label. Curves of one algorithm are told apart by their dashes. Others are grey where a label
    names algorithms, and have all hues otherwise."""
    if not any(_algorithms(label) for label in labels):
        return [Colour(*HUES[place % len(HUES)], place // len(HUES)) for place in range(len(labels))]
    greys, seen, found = iter(of_links(len(labels))), dict[str, int](), []
    for algorithm in map(algorithm_of, labels):
        if algorithm is None:
            found.append(next(greys))
            continue
        dash = seen[algorithm] = seen.get(algorithm, -1) + 1
        found.append(Colour(*HUES[HUE_OF[algorithm]], dash))
    return found


def named(label: str) -> str:
    """The label with algorithms as papers write them: `BBRv2, long`."""
    return ", ".join(title(part) for part in label.split(", "))
