"""Shrinks a candidate to few events with simple values that still show its fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dumbbell.hunt.space import Candidate, Gene, Space, ordered

Shows = Callable[[Sequence[Candidate]], Sequence[bool]]
"""Tells of each candidate whether it shows the fault."""


def shrink(candidate: Candidate, space: Space, shows: Shows) -> Candidate:
    """The candidate with as few events as deltas find, then with simpler values. It keeps the fault.

    A. Zeller, R. Hildebrandt: Simplifying and Isolating Failure-Inducing Input, IEEE TSE 28(2), 2002.
    """
    while True:
        smaller = _simpler(_fewer(candidate, shows), space, shows)
        if smaller == candidate:
            return candidate
        candidate = smaller


def _fewer(candidate: Candidate, shows: Shows) -> Candidate:
    """Remove parts, the largest first, until each event is needed."""
    size = max(len(candidate) // 2, 1)
    while len(candidate) > 0:
        rests = [candidate[:at] + candidate[at + size :] for at in range(0, len(candidate), size)]
        fitting = _first(rests, shows)
        if fitting is not None:
            candidate = fitting
            size = max(min(size, len(candidate) // 2), 1)
        elif size == 1:
            break
        else:
            size //= 2
    return candidate


def _simpler(candidate: Candidate, space: Space, shows: Shows) -> Candidate:
    """Give each field of each event the simplest value that keeps the fault."""
    genes = list(candidate)
    for index, gene in enumerate(candidate):
        for name, span in space.fields[gene.kind].items():
            value = getattr(genes[index], name)
            options = [
                [*genes[:index], _with(genes[index], name, one), *genes[index + 1 :]]
                for one in dict.fromkeys(_values(name, value))
                if span.low <= one <= span.high and one != value
            ]
            fitting = _first([ordered(option) for option in options], shows)
            genes = next((option for option in options if ordered(option) == fitting), genes)
    return ordered(genes)


def _with(gene: Gene, name: str, value: int) -> Gene:
    changed: dict[str, Any] = {name: value}
    return gene._replace(**changed)


def _values(name: str, value: int) -> Iterator[int]:
    """Simpler values, the simplest first."""
    if name in ("number", "step"):
        yield from (one for one in (1, 2, value // 2) if one < value)
        return
    for digits in (1, 2):
        unit = 10 ** max(len(str(value)) - digits, 0)
        if value % unit:
            yield round(value / unit) * unit


def _first(options: Sequence[Candidate], shows: Shows) -> Candidate | None:
    return next((one for one, fails in zip(options, shows(options), strict=True) if fails), None) if options else None
