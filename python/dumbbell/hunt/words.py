"""Candidates and finds in words."""

from __future__ import annotations

from dumbbell.counts import count
from dumbbell.hunt.finds import Find
from dumbbell.hunt.space import Candidate, Gene
from dumbbell.units import Rate, Size, Time


def described(candidate: Candidate) -> str:
    """`1.2 s: UDP at 12 Mbit/s for 90 ms, each 1 s; 3 s: 4 packets lost`."""
    return "; ".join(f"{Time(gene.at)}: {_event(gene)}" for gene in candidate) or "no event"


def _event(gene: Gene) -> str:
    length = f"for {Time(gene.length)}"
    match gene.kind:
        case "rate":
            return f"rate {Rate(gene.value)}"
        case "loss":
            apart = f", {gene.step} apart" if gene.number > 1 and gene.step > 1 else ""
            return f"{count(gene.number, 'packet')} lost{apart}"
        case "delay":
            return f"delay +{Time(gene.value)} {length}"
        case "jitter":
            return f"jitter up to {Time(gene.value)} {length}"
        case "reorder":
            return f"{gene.value / 1000:g} % overtake {length}"
        case "policer":
            return f"policer {Rate(gene.value)} {length}"
        case "cross":
            return f"UDP at {Rate(gene.value)} {length}"
        case "pulse":
            return f"UDP at {Rate(gene.value)} {length}, each {Time(max(gene.every, gene.length + 10**6))}"
        case "short":
            return f"TCP transfer of {Size(gene.value)}"


def outcome(find: Find) -> str:
    """`goodput of f1: 0.21 Mbit/s, expected at least 0.52 Mbit/s`."""
    from dumbbell.statistics.metrics import get
    from dumbbell.studies.measures import show

    metric, result = get(find.metric), find.fault.result
    assert result.value is not None and result.limit is not None, "a fault has both"  # noqa: PT018
    of = f" of {result.subject}" if result.subject else ""
    bound = "at least" if result.value < result.limit else "at most"
    return f"{find.metric}{of}: {show(metric, result.value)}, expected {bound} {show(metric, result.limit)}"
