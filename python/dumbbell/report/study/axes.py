"""The axes of a study, one per varied key: numbers on a linear or logarithmic line, or categories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from math import log
from statistics import mean, stdev
from typing import Any, Final, Literal

import polars as pl

from dumbbell.cc import names
from dumbbell.cc.bundled import BUNDLED, KERNEL, SIMULATED
from dumbbell.frozen import dataclass
from dumbbell.report import words
from dumbbell.scenario.study import CASE, free
from dumbbell.units import Quantity, QuantityError, Rate, Size, Time

Kind = Literal["linear", "log", "category"]

LEFT_OUT: Final = -1
"""In place of the index of a value, for cells that a plot leaves out."""

_NUMBER: Final = re.compile(r"\s*+([0-9.eE+-]++)\s*+(\S*+)\s*+")
_QUANTITIES: Final[tuple[type[Quantity], ...]] = (Time, Rate, Size)
_BASE: Final = {Time: (1e6, "ms"), Rate: (1e6, "Mbit/s"), Size: (1e3, "kB")}
_CC: Final = ".cc"
_ALGORITHMS: Final = frozenset((*BUNDLED, *KERNEL, *SIMULATED))
_WIDE: Final = 5.0
"""Values whose largest is at least this many times the smallest can be on a logarithmic axis."""


@dataclass(frozen=True)
class Axis:
    """A varied key."""

    key: str
    label: str
    """The end of the key, as short as tells it from the others."""
    unit: str
    """The unit of numbers; empty for categories."""
    kind: Kind
    texts: tuple[str, ...]
    """The different values, in order: of numbers ascending, of categories as they came."""
    at: tuple[float, ...]
    """The place of each value: the number, or its index."""
    cells: tuple[int, ...]
    """Index of each cell's value."""
    names: tuple[str, ...] = ()
    """The values as pictures and tables print them."""
    is_algorithm: bool = False
    """True if the values are congestion controls."""

    def __post_init__(self) -> None:
        """Values without names of their own are printed as they are."""
        if not self.names:
            object.__setattr__(self, "names", self.texts)

    @property
    def title(self) -> str:
        """`buffer (bdp)`."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    def tick(self, index: int) -> str:
        """A value as written on the axis, whose title has the unit."""
        return f"{self.at[index]:,.10g}" if self.kind != "category" else self.names[index]

    def word(self, index: int) -> str:
        """`buffer 1 bdp`, or `BBRv3`: an algorithm says what it is, and so does the name of a case."""
        return self.names[index] if self.is_algorithm or self.key == CASE else f"{self.label} {self.names[index]}"


def axes(cells: pl.DataFrame, keys: Sequence[str], several: bool = False) -> list[Axis]:
    """The keys that have more than one value, the best one for a horizontal axis first: numbers, and many of those.

    Keys of `[[sweep.cases]]` are no axes: the case is one. `several`: runs have several flows, so that an algorithm's
    label says of which.
    """
    labels = _labels([key for key in free(cells.to_dicts(), keys) if cells[key].n_unique() > 1], several)
    found = [_axis(key, label, cells[key].to_list()) for key, label in labels.items()]
    return sorted(found, key=lambda axis: (axis.kind == "category", -len(axis.texts)))


def _axis(key: str, label: str, values: Sequence[Any]) -> Axis:
    texts = [_text(value) for value in values]
    unit, numbers = _numbers(values)
    if numbers is None:
        texts = _as_recorded(key, texts)
        different = tuple(dict.fromkeys(texts))
        at = tuple(map(float, range(len(different))))
        is_algorithm = key.endswith(_CC) or all(text in _ALGORITHMS for text in different)
        shown = tuple(map(names.title, different)) if is_algorithm else different
        return Axis(key, label, "", "category", different, at, _places(texts), shown, is_algorithm)
    by_number = dict(sorted(zip(numbers, texts, strict=True), reverse=True))
    ordered = sorted(by_number)
    kind: Kind = "log" if _is_log(ordered) else "linear"
    place = {number: index for index, number in enumerate(ordered)}
    places = tuple(place[number] for number in numbers)
    return Axis(key, label, unit, kind, tuple(by_number[number] for number in ordered), tuple(ordered), places)


def _as_recorded(key: str, texts: list[str]) -> list[str]:
    """The labels that records have for congestion controls, unless different ones have the same."""
    if not key.endswith(_CC):
        return texts
    labels = list(map(names.label, texts))
    return labels if len(set(labels)) == len(set(texts)) else texts


def _places(texts: Sequence[str]) -> tuple[int, ...]:
    order = {text: index for index, text in enumerate(dict.fromkeys(texts))}
    return tuple(order[text] for text in texts)


def _text(value: Any) -> str:
    if value is None:
        return words.UNKNOWN
    return f"{value:g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def _numbers(values: Sequence[Any]) -> tuple[str, list[float] | None]:
    """Their unit and the numbers; `None` if they are not all numbers, or not of one kind."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return "", [float(value) for value in values]
    matches = [_NUMBER.fullmatch(value) if isinstance(value, str) else None for value in values]
    units = {match[2] for match in matches if match}
    if None not in matches and len(units) == 1:
        try:
            return units.pop(), [float(match[1]) for match in matches if match]
        except ValueError:
            return "", None
    for quantity in _QUANTITIES:
        try:
            factor, unit = _BASE[quantity]
            return unit, [float(quantity.parse(value)) / factor for value in values]
        except QuantityError:
            continue
    return "", None


def _is_log(ordered: Sequence[float]) -> bool:
    """True if steps are more alike as ratios than as differences."""
    if len(ordered) < 3 or ordered[0] <= 0 or ordered[-1] < _WIDE * ordered[0]:
        return False
    return _unevenness([log(value) for value in ordered]) < _unevenness(ordered)


def _unevenness(ordered: Sequence[float]) -> float:
    steps = [after - before for before, after in pairwise(ordered)]
    return stdev(steps) / mean(steps)


def _labels(keys: Sequence[str], several: bool) -> dict[str, str]:
    """`topology.bottleneck.buffer` is `buffer`, unless another key ends the same way."""
    labels = {}
    algorithms = [key for key in keys if key.endswith(_CC)]
    for key in keys:
        if key in algorithms:
            labels[key] = _algorithm(key, several or len(algorithms) > 1)
            continue
        parts = key.split(".")
        n = 2 if key.startswith("flows.") and len(parts) > 2 else 1
        while n < len(parts) and any(o != key and o.split(".")[-n:] == parts[-n:] for o in keys):
            n += 1
        labels[key] = ".".join(parts[-n:]) if not key.startswith("flows.") else key
    return labels


def _algorithm(key: str, several: bool) -> str:
    """`algorithm`, or `algorithm of flow 1` if there are several flows."""
    parts = key.split(".")
    if not several:
        return "algorithm"
    return f"algorithm of flow {int(parts[1]) + 1}" if len(parts) == 3 and parts[1].isdigit() else key
