"""Effects and interactions of a factorial experiment: which factor matters, and how much.

A cell is a combination of one level of each factor, and every combination was run. With N cells, k levels of a factor,
and [level] = 1 if a cell has the level in question, otherwise 0, the effect of a term (a factor, or several that
interact) is a contrast of means over cells:

    effect = sum of w * mean,    w = 1 / N * product over the term's factors of (k * [level] - 1)

This is the deviation that terms of fewer factors do not explain. It sums to 0 over the levels of each factor. If all
factors of a term have two levels, one number says all, and it is twice the effect of the second levels: the change from
first to second, or for an interaction half the change of that change (D. C. Montgomery: Design and Analysis of
Experiments, 8th ed., sections 5.3 and 6.2 to 6.3).

The variance of a contrast is the sum of w^2 s^2 / n over cells, with Welch's degrees of freedom, as cells need not
spread alike (F. E. Satterthwaite, Biometrics Bulletin 2:110, 1946).

The share of a term is its sum of squares divided by the sum of squares between all cells (R. Jain: The Art of Computer
Systems Performance Analysis, section 18.4: allocation of variation). Its interval is a percentile bootstrap: the runs
of each cell are resampled, with a fixed seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from math import prod, sqrt
from statistics import mean, variance
from typing import Any, Final

from dumbbell.frozen import dataclass
from dumbbell.statistics.intervals import CONFIDENCE, Interval, student_t

DRAWS: Final = 1999
"""Resamples of the bootstrap."""
SEED: Final = 1
"""Seed of the bootstrap."""

Runs = Mapping[tuple[str, ...], Sequence[float]]
"""The runs of each cell: a level of each factor, and values."""


@dataclass(frozen=True)
class Term:
    """A factor, or several that interact."""

    factors: tuple[str, ...]
    share: Interval
    """Share of the variation between cells, 0 to 1."""
    effects: Mapping[tuple[str, ...], Interval]
    """The effect of each combination of levels; only that of the second levels, doubled, if each factor has two."""


def effects(factors: Sequence[str], runs: Runs, confidence: float = CONFIDENCE, most: int = 2) -> list[Term]:
    """Returns the terms of up to `most` factors, the largest share first.

    Args:
        factors: their names, in the order of the levels in `runs`.
        runs: at least one value of each combination of levels.

    Raises:
        ValueError: a combination is missing.
    """
    levels = [list(dict.fromkeys(cell[i] for cell in runs)) for i in range(len(factors))]
    cells = list(product(*levels))
    if missing := [cell for cell in cells if not runs.get(cell)]:
        raise ValueError(f"no run has {', '.join(missing[0])}")
    found = []
    for size in range(1, most + 1):
        for term in combinations(range(len(factors)), size):
            weights = dict(_weights(term, levels, cells))
            found.append(
                Term(tuple(factors[i] for i in term), _share(weights, runs, cells, confidence),
                     dict(_effects(term, levels, weights, runs, cells, confidence)))
            )  # fmt: skip
    return sorted(found, key=lambda term: -term.share.value)


Weights = Mapping[tuple[str, ...], Sequence[float]]
"""Levels of a term -> the weight of each cell, in the order of cells."""


def _weights(
    term: Sequence[int], levels: Sequence[Sequence[str]], cells: Sequence[tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], list[float]]]:
    for chosen in product(*(levels[i] for i in term)):
        yield (
            chosen,
            [
                prod(len(levels[i]) * (cell[i] == level) - 1 for i, level in zip(term, chosen, strict=True))
                / len(cells)
                for cell in cells
            ],
        )


def _effects(
    term: Sequence[int], levels: Sequence[Sequence[str]], weights: Weights, runs: Runs,
    cells: Sequence[tuple[str, ...]], confidence: float,
) -> Iterator[tuple[tuple[str, ...], Interval]]:  # fmt: skip
    if all(len(levels[i]) == 2 for i in term):
        second = tuple(levels[i][1] for i in term)
        yield second, _contrast([2 * weight for weight in weights[second]], runs, cells, confidence)
        return
    for chosen, own in weights.items():
        yield chosen, _contrast(own, runs, cells, confidence)


def _contrast(weights: Sequence[float], runs: Runs, cells: Sequence[tuple[str, ...]], confidence: float) -> Interval:
    values = [runs[cell] for cell in cells]
    centre, least = sum(w * mean(own) for w, own in zip(weights, values, strict=True)), min(map(len, values))
    if least < 2:
        return Interval(centre, None, None, least)
    parts = [(w**2 * variance(own) / len(own), len(own) - 1) for w, own in zip(weights, values, strict=True)]
    spread = sum(part for part, _ in parts)
    if spread == 0:
        return Interval(centre, centre, centre, least)
    freedom = spread**2 / sum(part**2 / free for part, free in parts)
    half = student_t(freedom, confidence) * sqrt(spread)
    return Interval(centre, centre - half, centre + half, least)


def _share(weights: Weights, runs: Runs, cells: Sequence[tuple[str, ...]], confidence: float) -> Interval:
    import numpy as np

    matrix = np.array(list(weights.values()))
    least = min(len(runs[cell]) for cell in cells)

    def share(means: Any) -> Any:
        """Shares of sets of means, shape (sets, cells)."""
        between = ((means - means.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        own = ((means @ matrix.T) ** 2).sum(axis=1) * len(cells) / len(matrix)
        return np.divide(own, between, out=np.zeros_like(own), where=between > 0)

    value = float(share(np.array([[mean(runs[cell]) for cell in cells]]))[0])
    if least < 2:
        return Interval(value, None, None, least)
    draw = np.random.default_rng(SEED)
    drawn = np.stack(
        [draw.choice(np.asarray(runs[cell], dtype=float), (DRAWS, len(runs[cell]))).mean(axis=1) for cell in cells], 1
    )
    low, high = np.quantile(share(drawn), [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(value, float(low), float(high), least)
