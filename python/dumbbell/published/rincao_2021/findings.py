"""The findings of rincao-2021."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean
from typing import Final

from dumbbell.published.comparing import compared
from dumbbell.published.figures import Figures
from dumbbell.published.judging import NOT_RUN, above, all_of, any_of, below, told, within
from dumbbell.published.model import Finding, Judged, Status, Studies
from dumbbell.published.ratios import ratio
from dumbbell.published.sides import scaled
from dumbbell.report import words
from dumbbell.statistics.intervals import Interval, of_mean

CONFIDENCE: Final = 0.90
CONNECTIONS: Final = "flows.0.connections"
UDP: Final = "flows.1.rate"
RATE: Final = "application_rate"
"""iperf's throughput at the sender counts no repetitions."""
LEAST, MOST = "10 %", "30 %"
PRINTED_LOSS: Final = 0.59
FULL: Final = 0.95
STARVED: Final = 1 / 3


def _changes(figures: Figures, cc: str) -> dict[int, dict[int, float]]:
    """Connections -> seed -> relative change of throughput from 10 to 30 % UDP, of the two runs with that seed."""
    found = {}
    for n in figures.along(CONNECTIONS):
        before, after = (
            {seed: value for (_, seed), value in figures.samples(RATE, cc, {CONNECTIONS: n, UDP: udp}).items()}
            for udp in (LEAST, MOST)
        )
        if changes := {seed: after[seed] / before[seed] - 1 for seed in before if seed in after}:
            found[n] = changes
    return found


def _mean_change(figures: Figures, cc: str) -> Interval | None:
    """Mean over numbers of connections. The values of one seed are averaged first: they are not independent.

    Only seeds that all numbers of connections have count: if a run is missing, the rest of its seed would give another
    mean.
    """
    changes = list(_changes(figures, cc).values())
    if not changes:
        return None
    seeds = sorted(set.intersection(*map(set, changes)))
    return of_mean([mean(one[seed] for one in changes) for seed in seeds], CONFIDENCE) if seeds else None


def _keeps_throughput(studies: Studies) -> Judged:
    statuses, numbers = [], []
    for mbit in (100, 300):
        if not {f"{mbit}-bbr", f"{mbit}-cubic"} <= studies.keys():
            continue
        bbr, cubic = (_mean_change(Figures(studies[f"{mbit}-{cc}"]), cc) for cc in ("bbr", "cubic"))
        if bbr is None or cubic is None:
            continue
        gap = None
        if None not in (bbr.low, bbr.high, cubic.low, cubic.high):
            # Both have the same seeds but different connections, and count as independent.
            half = ((bbr.half_width or 0) ** 2 + (cubic.half_width or 0) ** 2) ** 0.5
            centre = bbr.value - cubic.value
            gap = Interval(centre, centre - half, centre + half, bbr.n)
        statuses.append(above(gap, 0))
        numbers.append(f"{mbit} Mbit/s: BBR {told(bbr, 0.01)} %, CUBIC {told(cubic, 0.01)} %, n = {bbr.n}")
    return Judged(all_of(statuses), "; ".join(numbers)) if statuses else NOT_RUN


def _cubics(studies: Studies) -> Iterator[tuple[str, Figures]]:
    for mbit in (100, 300):
        for mix in ("cubic", "cubic-75", "cubic-50", "cubic-25"):
            if f"{mbit}-{mix}" in studies:
                yield f"{mbit}-{mix}", Figures(studies[f"{mbit}-{mix}"])


def _cubic_loses(studies: Studies) -> Judged:
    worst: tuple[Interval, str] | None = None
    statuses = []
    for part, figures in _cubics(studies):
        for n, changes in _changes(figures, "cubic").items():
            found = of_mean(list(changes.values()), CONFIDENCE)
            statuses.append(below(found, -PRINTED_LOSS))
            if worst is None or found.value < worst[0].value:
                worst = found, f"{part}, {n} connections"
    if worst is None:
        return NOT_RUN
    numbers = f"most in {worst[1]}: {told(worst[0], 0.01)} %, n = {worst[0].n}; printed: -59 %"
    return Judged(any_of(statuses), numbers)


def _utilisation(studies: Studies) -> Judged:
    if "100-cubic" not in studies:
        return NOT_RUN
    figures = Figures(studies["100-cubic"])
    statuses, numbers = [], []
    for udp, low, high in (("10 %", FULL, 2.0), ("20 %", FULL, 2.0), ("30 %", 0.0, FULL)):
        found = figures.interval("utilisation_busy", None, {CONNECTIONS: 10, UDP: udp}, CONFIDENCE)
        if found is not None:
            statuses.append(within(found, low, high))
            numbers.append(f"{udp} UDP {told(found, 0.01)} %, n = {found.n}")
    return Judged(all_of(statuses) if len(statuses) == 3 else Status.UNKNOWN, "; ".join(numbers) or NOT_RUN.numbers)


def _retransmits_more(studies: Studies) -> Judged:
    statuses, numbers = [], []
    for mbit in (100, 300):
        if not {f"{mbit}-bbr", f"{mbit}-cubic"} <= studies.keys():
            continue
        where = {CONNECTIONS: 30, UDP: MOST}
        bbr, cubic = (
            Figures(studies[f"{mbit}-{cc}"]).interval("retransmitted_segments", cc, where, CONFIDENCE)
            for cc in ("bbr", "cubic")
        )
        if bbr is None or cubic is None:
            continue
        statuses.append(compared(bbr, ">", scaled(cubic, 10)))
        numbers.append(f"{mbit} Mbit/s: BBR {told(bbr)}, CUBIC {told(cubic)}, n = {bbr.n}")
    said = "; ".join(numbers)
    return Judged(all_of(statuses), f"30 connections, 30 % UDP, at {said}") if statuses else NOT_RUN


def _no_starvation(studies: Studies) -> Judged:
    least: tuple[Interval, str] | None = None
    statuses = []
    for part, figures in _cubics(studies):
        alone = Figures(studies[f"{part.split('-')[0]}-cubic"]) if f"{part.split('-')[0]}-cubic" in studies else None
        if alone is None or part.endswith("-cubic"):
            continue
        for n in figures.along(CONNECTIONS):
            for udp in figures.along(UDP):
                where = {CONNECTIONS: n, UDP: udp}
                mixed, reference = (one.samples(RATE, "cubic", where) for one in (figures, alone))
                found = ratio(mixed, reference, CONFIDENCE)
                if found is None:
                    continue
                statuses.append(above(found, STARVED))
                if least is None or found.value < least[0].value:
                    least = found, f"{part}, {n} connections, {udp} UDP"
    if least is None:
        return NOT_RUN
    numbers = f"least in {least[1]}: {told(least[0])} of what CUBIC has alone, n = {least[0].n}"
    held = f"more than a third in {statuses.count(Status.HOLDS)} of {words.count(len(statuses), 'cell')}"
    return Judged(all_of(statuses), f"{held}; {numbers}")


FINDINGS: Final = (
    Finding(
        "With 30 instead of 10 % UDP, connections of BBR lose less throughput than those of CUBIC, where each is alone",
        _keeps_throughput,
    ),
    Finding("CUBIC loses up to 59 % of its throughput from 10 to 30 % UDP, in some cell", _cubic_loses),
    Finding(
        "At 100 Mbit/s CUBIC alone reaches 95 % utilisation with 10 connections at 10 and 20 % UDP, but not at 30 %",
        _utilisation,
    ),
    Finding(
        "BBR alone retransmits far more than CUBIC alone, more than ten times (printed: 20,000 to 30,000 segments "
        "against hundreds)",
        _retransmits_more,
    ),
    Finding(
        "BBR does not starve CUBIC: in no mix does CUBIC have less than a third of what it has alone in the same cell",
        _no_starvation,
    ),
)
