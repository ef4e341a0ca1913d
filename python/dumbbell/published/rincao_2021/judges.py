"""How the findings of rincao-2021 are judged under a reading of its text."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log
from statistics import mean
from typing import Final

from dumbbell.published.comparing import compared
from dumbbell.published.figures import Figures
from dumbbell.published.judging import NOT_RUN, above, all_of, any_of, below, told, within
from dumbbell.published.model import Judged, Status, Studies
from dumbbell.published.ratios import ratio
from dumbbell.published.rincao_2021 import printed
from dumbbell.published.rincao_2021.grid import ALL, PRINTED, SHARES, Mix
from dumbbell.published.rincao_2021.readings import Reading
from dumbbell.published.sides import scaled
from dumbbell.report import words
from dumbbell.statistics.intervals import Interval, of_mean

CONFIDENCE: Final = 0.90
RATE: Final = "application_rate"
"""iperf's throughput at the sender counts no repetitions."""
RETRANSMITTED: Final = "retransmitted_segments"
LEAST, MOST = SHARES[0], SHARES[-1]
TAKEN: Final = 1 - 0.7 / 0.9
"""Share of the rest of the rate that 30 instead of 10 % UDP take: connections that share the rest lose as much."""
PRINTED_LOSS: Final = 0.585
"""They print 59 %, which is 58.9 % of their own numbers."""
FULL: Final = 0.95
STARVED: Final = 1 / 2
"""BBR has taken more from a CUBIC connection than it has left to it."""


def percent(share: float) -> str:
    """`-37.7 %`."""
    return f"{100 * share:.1f} %"


def _figures(studies: Studies, mix: Mix, reading: Reading) -> Figures | None:
    name = reading.part(mix)
    return Figures(studies[name]) if name in studies and studies[name].has_runs else None


def changes_of(figures: Figures, mix: Mix, reading: Reading, cc: str) -> dict[int, dict[int, float]]:
    """Connections of the tables -> seed -> relative change of throughput from 10 to 30 % UDP, of the two runs with that
    seed."""
    found = {}
    for n in PRINTED:
        before, after = (
            {seed: value for (_, seed), value in figures.samples(RATE, cc, reading.where(mix, n, udp)).items()}
            for udp in (LEAST, MOST)
        )
        if changes := {seed: after[seed] / before[seed] - 1 for seed in before if seed in after}:
            found[n] = changes
    return found


def beside_printed(figures: Figures, mix: Mix, reading: Reading, cc: str, called: str | None = None) -> str:
    """Our mean change, and theirs over the same numbers of connections; empty if nothing was run. `called`: what stands
    in for the algorithm."""
    own = called or cc
    found = mean_change(figures, mix, reading, own)
    if found is None:
        return ""
    connections = list(changes_of(figures, mix, reading, own))
    which = "" if len(connections) == len(PRINTED) else f" with {words.listed(list(map(str, connections)))} connections"
    theirs = printed.mean_change(mix, cc, connections)
    return f"{own.upper()} {told(found, 0.01)} %, n = {found.n}, printed {percent(theirs)}{which}"


def mean_change(figures: Figures, mix: Mix, reading: Reading, cc: str) -> Interval | None:
    """Mean over the numbers of connections of the tables that were run. The values of one seed are averaged first: they
    are not independent.

    Only seeds that all numbers of connections have count: if a run is missing, the rest of its seed would give another
    mean.
    """
    changes = list(changes_of(figures, mix, reading, cc).values())
    if not changes:
        return None
    seeds = sorted(set.intersection(*map(set, changes)))
    return of_mean([mean(one[seed] for one in changes) for seed in seeds], CONFIDENCE) if seeds else None


def loses(studies: Studies, reading: Reading, mix: Mix, cc: str, low: float, high: float) -> Judged:
    """Whether the mean change lies between the bounds."""
    figures = _figures(studies, mix, reading)
    found = None if figures is None else mean_change(figures, mix, reading, cc)
    if found is None:
        return NOT_RUN
    assert figures is not None
    return Judged(within(found, low, high), beside_printed(figures, mix, reading, cc))


def loses_less(studies: Studies, reading: Reading, mbit: int) -> Judged:
    """Whether BBR alone loses less than CUBIC alone."""
    found, said = {}, []
    for mix in (Mix(mbit, 0), Mix(mbit, 100)):
        figures = _figures(studies, mix, reading)
        found[mix.cubic] = None if figures is None else mean_change(figures, mix, reading, mix.first)
        said += [] if figures is None else [beside_printed(figures, mix, reading, mix.first)]
    bbr, cubic = found[0], found[100]
    if bbr is None or cubic is None:
        return NOT_RUN
    gap = None
    if None not in (bbr.low, bbr.high, cubic.low, cubic.high):
        # Both have the same seeds but different connections, and count as independent.
        half = ((bbr.half_width or 0) ** 2 + (cubic.half_width or 0) ** 2) ** 0.5
        centre = bbr.value - cubic.value
        gap = Interval(centre, centre - half, centre + half, bbr.n)
    return Judged(above(gap, 0), "; ".join(said))


def _cubics(studies: Studies, reading: Reading) -> Iterator[tuple[Mix, Figures]]:
    for mix in ALL:
        figures = _figures(studies, mix, reading) if mix.cubic else None
        if figures is not None:
            yield mix, figures


def cubic_loses(studies: Studies, reading: Reading) -> Judged:
    """Whether CUBIC loses as much as they print in some cell."""
    worst: tuple[Interval, str] | None = None
    statuses = []
    for mix, figures in _cubics(studies, reading):
        for n, changes in changes_of(figures, mix, reading, "cubic").items():
            found = of_mean(list(changes.values()), CONFIDENCE)
            statuses.append(below(found, -PRINTED_LOSS))
            if worst is None or found.value < worst[0].value:
                worst = found, f"{mix.name}, {n} connections"
    if worst is None:
        return NOT_RUN
    said = f"most in {worst[1]}: {told(worst[0], 0.01)} %, n = {worst[0].n}, of {words.count(len(statuses), 'cell')}"
    return Judged(any_of(statuses), said)


def utilisation(studies: Studies, reading: Reading) -> Judged:
    """Whether 10 connections of CUBIC fill the link beside 10 and 20 % UDP, and not beside 30 %.

    Runs whose transfers were not all complete have no last one, and so no value.
    """
    mix = Mix(100, 100)
    figures = _figures(studies, mix, reading)
    if figures is None:
        return NOT_RUN
    statuses, numbers = [], []
    for udp, low, high in zip(SHARES, (FULL, FULL, 0.0), (2.0, 2.0, FULL), strict=True):
        where = reading.where(mix, 10, udp)
        complete = figures.samples("completed_share", mix.first, where)
        used = figures.samples("utilisation_busy", None, where)
        found = of_mean(list(used.values()), CONFIDENCE) if used else None
        missing = "in no run were all transfers complete" if complete else "not run"
        statuses.append(within(found, low, high))
        numbers.append(f"{udp} UDP {missing if found is None else f'{told(found, 0.01)} %, n = {found.n}'}")
    return Judged(all_of(statuses), "; ".join(numbers))


def _retransmitted(studies: Studies, reading: Reading, mix: Mix, share: str) -> Interval | None:
    """Retransmissions of a run of 30 connections of one algorithm."""
    figures = _figures(studies, mix, reading)
    where = reading.where(mix, PRINTED[-1], share)
    return None if figures is None else figures.interval(RETRANSMITTED, mix.first, where, CONFIDENCE)


def retransmits_more(studies: Studies, reading: Reading, mbit: int) -> Judged:
    """Whether BBR alone retransmits more than ten times what CUBIC alone does."""
    bbr, cubic = (_retransmitted(studies, reading, Mix(mbit, share), MOST) for share in (0, 100))
    if bbr is None or cubic is None:
        return NOT_RUN
    said = f"30 connections, 30 % UDP: BBR {told(bbr)}, CUBIC {told(cubic)}, n = {bbr.n}"
    return Judged(compared(bbr, ">", scaled(cubic, 10)), said)


def retransmits(studies: Studies, reading: Reading, mix: Mix, low: float, high: float) -> Judged:
    """Whether as many are retransmitted at some share of UDP: the text does not say at which."""
    found = {udp: _retransmitted(studies, reading, mix, udp) for udp in SHARES}
    known = {udp: one for udp, one in found.items() if one is not None}
    if not known:
        return NOT_RUN
    said = ", ".join(f"{udp} UDP {told(one)}" for udp, one in known.items())
    statuses = [within(one, low, high) for one in known.values()]
    return Judged(any_of(statuses), f"30 connections: {said}, n = {min(one.n for one in known.values())}")


def _cells(studies: Studies, reading: Reading) -> Iterator[tuple[Mix, Figures, int, str]]:
    for mix, figures in _cubics(studies, reading):
        if mix.cubic < 100:
            yield from ((mix, figures, n, udp) for n in PRINTED for udp in SHARES)


def bbr_above(studies: Studies, reading: Reading) -> Judged:
    """Whether connections of BBR have more than those of CUBIC beside them, everywhere."""
    found = {}
    for mix, figures, n, udp in _cells(studies, reading):
        where = reading.where(mix, n, udp)
        one = ratio(figures.samples(RATE, "bbr", where), figures.samples(RATE, "cubic", where), CONFIDENCE)
        if one is not None:
            found[f"{mix.name}, {n} connections, {udp} UDP"] = one
    return _in_cells(found, 1, "BBR has", "times CUBIC's")


def no_starvation(studies: Studies, reading: Reading) -> Judged:
    """Whether CUBIC keeps more than half of what it has alone, everywhere."""
    found = {}
    for mix, figures, n, udp in _cells(studies, reading):
        alone, like = Mix(mix.mbit, 100), reading.alone or reading
        reference = _figures(studies, alone, like)
        if reference is None:
            continue
        mixed = figures.samples(RATE, "cubic", reading.where(mix, n, udp))
        one = ratio(mixed, reference.samples(RATE, "cubic", like.where(alone, n, udp)), CONFIDENCE)
        if one is not None:
            found[f"{mix.name}, {n} connections, {udp} UDP"] = one
    return _in_cells(found, STARVED, "CUBIC keeps", "of what it has alone")


def _in_cells(found: dict[str, Interval], bound: float, subject: str, unit: str) -> Judged:
    """Whether all cells lie above the bound."""
    if not found:
        return NOT_RUN
    statuses = [above(one, bound) for one in found.values()]
    least = min(found, key=lambda cell: found[cell].value)
    middle = exp(mean(log(one.value) for one in found.values()))
    said = (
        f"above {bound:g} in {sum(one.value > bound for one in found.values())} of {words.count(len(found), 'cell')}, "
        f"surely in {statuses.count(Status.HOLDS)}, surely not in {statuses.count(Status.FAILS)}; {subject} "
        f"{middle:.2g} {unit} on average, least in {least}: {told(found[least])}, n = {found[least].n}"
    )
    return Judged(all_of(statuses), said)
