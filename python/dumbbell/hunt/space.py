"""Candidates of a search: small lists of events, drawn and changed within bounds.

Everything here is a function of its arguments and of a seeded `Random`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from dumbbell.frozen import dataclass
from dumbbell.scenario.hunt import Hunt, Kind
from dumbbell.units import Percent

MS: Final = 10**6
"""Nanoseconds in a millisecond."""
LATEST: Final = 0.8
"""Share of the run after which no event begins: its effect needs time to show."""


class Gene(NamedTuple):
    """An event of a candidate. Fields that its kind lacks are 0."""

    kind: Kind
    at: int
    """Time of the event, ns."""
    length: int = 0
    """Duration of the event, or of one burst, ns."""
    value: int = 0
    """Rate (bit/s), delay (ns), bytes, or a share in thousandths of a percent."""
    number: int = 0
    """Packets that are lost."""
    step: int = 0
    """Distance between lost packets, in packets."""
    every: int = 0
    """Time from one burst to the next, ns."""


Candidate = tuple[Gene, ...]
"""Events in the order of their times."""


@dataclass(frozen=True)
class Span:
    """The values of a field."""

    low: int
    high: int
    grain: int = 1
    """Values are multiples of it, except the bounds."""
    is_log: bool = True
    """True if values are drawn evenly on a logarithmic scale."""

    def fit(self, value: float) -> int:
        """The nearest value of the span."""
        return min(max(round(value / self.grain) * self.grain, self.low), self.high)

    def draw(self, rng: Random) -> int:
        """Draw a value."""
        if self.is_log:
            return self.fit(math.exp(rng.uniform(math.log(self.low), math.log(self.high))))
        return self.fit(rng.uniform(self.low, self.high))

    def near(self, value: int, rng: Random) -> int:
        """Draw a value near `value`."""
        if self.is_log:
            return self.fit(value * math.exp(rng.gauss(0, 0.5)))
        return self.fit(value + rng.gauss(0, 0.1) * (self.high - self.low))


@dataclass(frozen=True)
class Space:
    """Kinds of events with the bounds of their fields."""

    fields: Mapping[Kind, Mapping[str, Span]]
    most: int
    """The most events of a candidate."""

    def gene(self, rng: Random, kind: Kind | None = None) -> Gene:
        """Draw an event, of a given kind or of any."""
        chosen = rng.choice(list(self.fields)) if kind is None else kind
        drawn: dict[str, Any] = {name: span.draw(rng) for name, span in self.fields[chosen].items()}
        return Gene(chosen, **drawn)

    def draw(self, rng: Random, kind: Kind | None = None) -> Candidate:
        """Draw a candidate; all of its events are of `kind`, if one is given."""
        return ordered(self.gene(rng, kind) for _ in range(rng.randint(1, self.most)))

    def changed(self, candidate: Candidate, rng: Random) -> Candidate:
        """A copy with one change or more: an event added, removed, drawn anew, or with a field near its value."""
        genes = list(candidate)
        while True:
            choice = rng.random()
            index = rng.randrange(len(genes)) if genes else 0
            if not genes or (choice < 0.2 and len(genes) < self.most):
                genes.append(self.gene(rng))
            elif choice < 0.35 and len(genes) > 1:
                del genes[index]
            elif choice < 0.45:
                genes[index] = self.gene(rng)
            else:
                name, span = rng.choice(list(self.fields[genes[index].kind].items()))
                value: Any = span.near(getattr(genes[index], name), rng)
                genes[index] = genes[index]._replace(**{name: value})
            if rng.random() < 0.5:
                return ordered(genes)

    def crossed(self, candidate: Candidate, other: Candidate, rng: Random) -> Candidate:
        """Events of both, at most as many as a candidate may have."""
        genes = [gene for gene in (*candidate, *other) if rng.random() < 0.5] or [rng.choice((*candidate, *other))]
        return ordered(rng.sample(genes, min(len(genes), self.most)))

    def contains(self, candidate: Candidate) -> bool:
        """True if the candidate is within all bounds."""
        return len(candidate) <= self.most and all(
            gene.kind in self.fields
            and all(span.low <= getattr(gene, name) <= span.high for name, span in self.fields[gene.kind].items())
            for gene in candidate
        )


def ordered(genes: Any) -> Candidate:
    """A candidate of these events, each once."""
    return tuple(sorted(set(genes), key=lambda gene: (gene.at, gene)))


def space(hunt: Hunt, duration_ns: int, rate_bps: int, rtt_ns: int) -> Space:
    """The space of a scenario's `[hunt]`.

    Args:
        hunt: the table; bounds that it leaves out follow from the network.
        duration_ns: of the run.
        rate_bps: mean rate of the link.
        rtt_ns: base RTT of the flows under test.
    """
    at = Span(MS, max(round(LATEST * duration_ns), MS), MS, is_log=False)
    length = _span(hunt.length or (10 * MS, max(duration_ns // 5, 10 * MS)), MS)
    reorder = _span([_share(one) for one in hunt.reorder] if hunt.reorder else (1000, 50_000), 100)
    policer = _span(hunt.policer or (rate_bps // 4, rate_bps), 10_000)
    cross = _span(hunt.cross or (rate_bps // 10, 2 * rate_bps), 10_000)
    every = _span(hunt.period or (100 * MS, 3000 * MS), MS)
    fields: dict[Kind, dict[str, Span]] = {
        "rate": {"value": _span(hunt.rate or (rate_bps // 4, 2 * rate_bps), 10_000)},
        "loss": {"number": Span(1, hunt.losses), "step": Span(1, 32)},
        "delay": {"length": length, "value": _span(hunt.delay or (MS, max(2 * rtt_ns, MS)), MS)},
        "jitter": {"length": length, "value": _span(hunt.jitter or (MS, max(rtt_ns, MS)), MS)},
        "reorder": {"length": length, "value": reorder},
        "policer": {"length": length, "value": policer},
        "cross": {"length": length, "value": cross},
        "pulse": {"length": length, "value": cross, "every": every},
        "short": {"value": _span(hunt.sizes or (15_000, 1_000_000), 1000)},
    }
    return Space({kind: {"at": at, **fields[kind]} for kind in hunt.kinds}, hunt.most)


def _span(ends: Sequence[int], grain: int) -> Span:
    low, high = ends
    return Span(max(int(low), 1), max(int(high), 1), grain)


def _share(percent: Percent) -> int:
    """Thousandths of a percent."""
    return round(percent.percent * 1000)
