"""Ways to search: each proposes candidates, and learns from their results. All are functions of their seed.

A search proposes a batch, and learns its results before the next one. The size of a batch is constant, so that
candidates do not depend on the number of cores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final, Protocol

from dumbbell.hunt.evaluating import Result
from dumbbell.hunt.space import Candidate, Space

BATCH: Final = 64
"""Candidates that are proposed at a time."""
ELITE: Final = 16
"""Best candidates that have children."""
FRESH: Final = 0.15
"""Share of an evolution's candidates that are drawn anew."""
CROSSED: Final = 0.25
"""Share of children that have two parents."""


class Search(Protocol):
    """A way to search."""

    def propose(self, count: int) -> list[Candidate]:
        """The next candidates."""
        ...

    def learn(self, results: Sequence[tuple[Candidate, Result]]) -> None:
        """Take the results of the candidates proposed last, in their order."""
        ...


class RandomSearch:
    """Draws each candidate anew."""

    def __init__(self, space: Space, seed: int) -> None:
        self._space, self._rng = space, Random(f"random/{seed}")

    def propose(self, count: int) -> list[Candidate]:
        """The next candidates."""
        return [self._space.draw(self._rng) for _ in range(count)]

    def learn(self, results: Sequence[tuple[Candidate, Result]]) -> None:
        """Learn nothing."""


class Bandit:
    """Draws candidates of one kind of events, and prefers kinds that came near a fault (UCB1)."""

    def __init__(self, space: Space, seed: int) -> None:
        self._space, self._rng = space, Random(f"bandit/{seed}")
        self._tried = dict.fromkeys(space.fields, 0)
        self._gained = dict.fromkeys(space.fields, 0.0)

    def propose(self, count: int) -> list[Candidate]:
        """The next candidates."""
        found, tried = [], dict(self._tried)
        for _ in range(count):
            total = sum(tried.values())
            kind = max(tried, key=lambda one: self._upper(one, tried[one], total))
            tried[kind] += 1
            found.append(self._space.draw(self._rng, kind))
        return found

    def _upper(self, kind: str, tried: int, total: int) -> float:
        """Upper bound of the mean gain."""
        known = self._tried[kind]  # type: ignore[index]
        mean = self._gained[kind] / known if known else 0.0  # type: ignore[index]
        return mean + math.sqrt(2 * math.log(total) / tried) if tried else math.inf

    def learn(self, results: Sequence[tuple[Candidate, Result]]) -> None:
        """Count what each kind has gained."""
        for candidate, result in results:
            kind = candidate[0].kind
            self._tried[kind] += 1
            self._gained[kind] += 1 / (1 + _score(result))


class Evolution:
    """Changes and crosses candidates: those nearest to a fault, and the best of each behaviour seen (MAP-Elites).

    J.-B. Mouret, J. Clune: Illuminating search spaces by mapping elites, arXiv 1504.04909, 2015.
    """

    def __init__(self, space: Space, seed: int) -> None:
        self._space, self._rng = space, Random(f"evolution/{seed}")
        self._archive: dict[Behaviour, tuple[float, Candidate]] = {}
        self._best: list[tuple[float, Candidate]] = []

    def propose(self, count: int) -> list[Candidate]:
        """The next candidates."""
        return [self._child() for _ in range(count)]

    def _child(self) -> Candidate:
        rng = self._rng
        if not self._best or rng.random() < FRESH:
            return self._space.draw(rng)
        parent = self._parent()
        if rng.random() < CROSSED:
            parent = self._space.crossed(parent, self._parent(), rng)
        return self._space.changed(parent, rng)

    def _parent(self) -> Candidate:
        """One of the best, or the best of a behaviour."""
        if self._rng.random() < 0.5:
            return min(self._rng.choices(self._best, k=2))[1]
        return self._archive[self._rng.choice(list(self._archive))][1]

    def learn(self, results: Sequence[tuple[Candidate, Result]]) -> None:
        """Keep the best, and the best of each behaviour."""
        for candidate, result in results:
            if result.score is None:
                continue
            one = (result.score, candidate)
            kept = self._archive.setdefault(behaviour(candidate, result), one)
            if one < kept:
                self._archive[behaviour(candidate, result)] = one
            self._best.append(one)
        self._best = sorted(set(self._best))[:ELITE]


Behaviour = tuple[object, ...]


def behaviour(candidate: Candidate, result: Result) -> Behaviour:
    """The kinds of a candidate's events, and coarse figures of its run."""
    kinds = tuple(sorted({gene.kind for gene in candidate}))
    facts = result.facts
    lost = _level(facts.get("retransmitted", 0.0), (0.001, 0.01, 0.05))
    return (
        kinds,
        lost,
        _level(facts.get("rtt", 1.0), (1.5, 3, 6)),
        _level(facts.get("utilisation", 1.0), (0.2, 0.5, 0.8)),
    )


def _level(value: float, borders: Sequence[float]) -> int:
    return sum(value >= border for border in borders)


def _score(result: Result) -> float:
    return math.inf if result.score is None else result.score


SEARCHES: Final[Mapping[str, type[RandomSearch] | type[Bandit] | type[Evolution]]] = {
    "evolution": Evolution,
    "bandit": Bandit,
    "random": RandomSearch,
}
"""The ways to search; the first is the default."""
