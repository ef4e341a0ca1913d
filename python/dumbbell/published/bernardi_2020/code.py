"""Code of bernardi-2020: judges of behaviour over time, from the records of each usable run.

Its scenarios on one CPU are judged by the checks of their runs. Sentences below its parts are those of `evidence`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from dumbbell.published.bernardi_2020.evidence import (  # noqa: F401  `study.toml` names them
    CC,
    CPUS,
    FLOW,
    KERNEL,
    bursts,
    delay_line,
    first_cut,
    losses,
    one_cpu,
    peaks,
    probe_rtt_times,
    sent,
    side_by_side,
)
from dumbbell.published.bernardi_2020.flows import (
    fillings,
    median_window,
    probe_rtts,
    rates_bps,
    sent_bytes,
    swings,
    thresholds,
    timeouts,
)
from dumbbell.published.comparing import compared, listed
from dumbbell.published.figures import Figures
from dumbbell.published.judging import NOT_RUN, above, all_of, below, interval_text, most, within
from dumbbell.published.model import Judged, Status
from dumbbell.published.ratios import ratio
from dumbbell.published.recorded import FALL_S, Cut, cuts, every, together
from dumbbell.records.run import Run
from dumbbell.report import words
from dumbbell.statistics.intervals import Interval, of_mean
from dumbbell.units.mtu import MTU, frame_bytes

if TYPE_CHECKING:
    from dumbbell.studies import Study


def _runs(study: Study, cc: str, where: Mapping[str, Any] | None = None) -> Iterator[Run]:
    """The usable runs of an algorithm, with all their records."""
    return every(study, {CC: cc, **(where or {})})


SLOW_START_S: Final = 3.0
"""Slow start is over by then in scenario 1, whatever the algorithm."""
RATE_BPS: Final = 10e6
"""The rate of scenario 1."""
THEIRS: Final = ("reno", "cubic", "bbr", "bbr2")
BBRS: Final = ("bbr", "bbr2", "bbr3")
BDP_PACKETS: Final = 100e6 * 0.030 / 8 / frame_bytes(MTU)
"""The BDP of scenario 2."""


def saw_tooth(study: Study) -> Judged:
    """Judges whether each cut halves Reno's window, which then grows at an even pace."""
    return _shape(study, "reno", lambda one: 0.45 <= one.to <= 0.55 and min(one.growth) > 0.5 * max(one.growth))


def flattens(study: Study) -> Judged:
    """Judges whether CUBIC's window slows down to half the pace of the first third between two cuts."""
    return _shape(study, "cubic", lambda one: min(one.growth[1:]) < 0.5 * one.growth[0])


def lower_threshold(study: Study) -> Judged:
    """Judges whether CUBIC's slow-start threshold is lower after each loss at a smaller window than the loss before."""
    found, said = [], ""
    for run in _runs(study, "cubic"):
        pairs = [(one, two) for one, two in itertools.pairwise(thresholds(run, FLOW)) if two[0] < one[0]]
        if pairs:
            found.append(all(two[1] < one[1] for one, two in pairs))
            one, two = pairs[0]
            said = said or (
                f"first run: cut from {one[0]:.0f} and then from {two[0]:.0f} packets, with thresholds of {one[1]:.0f} "
                f"and {two[1]:.0f}"
            )
    if not found:
        return NOT_RUN
    status, often = most(found)
    return Judged(status, f"always {often}; {said}")


def _shape(study: Study, cc: str, has_it: Callable[[Cut], bool]) -> Judged:
    """The judgement whether the windows of an algorithm's runs have a shape, from each cut to the next."""
    runs = [cuts(run, FLOW, SLOW_START_S) for run in _runs(study, cc)]
    if not runs:
        return NOT_RUN
    found = [one for one in runs if one]
    if not found:
        return _without_cuts(len(runs))
    status, said = most([all(map(has_it, one)) for one in found])
    times = [has_it(cut) for one in found for cut in one]
    first = "; ".join(
        f"cut to {one.to:.2f} at {one.at_s:.1f} s, then {' '.join(f'{g:.1f}' for g in one.growth)} segments/s in thirds"
        for one in found[0]
    )
    between = f"{sum(times)} of {words.count(len(times), 'time')} between two cuts"
    return Judged(status, f"always {said}; {between}; first run: {first}")


def no_timeouts(study: Study) -> Judged:
    """Judges whether Reno repairs all its losses without a timeout."""
    found = [timeouts(run, FLOW) for run in _runs(study, "reno")]
    if not found:
        return NOT_RUN
    status, said = most([times == 0 for times in found])
    return Judged(status, f"none {said}; {words.count(sum(found), 'timeout')} in all")


def oscillates(study: Study) -> Judged:
    """Judges whether BBRv1 fills the queue between two probes, and drains at least half of it."""
    runs = [found for run in _runs(study, "bbr") if (found := swings(run, FLOW, SLOW_START_S))]
    if not runs:
        return NOT_RUN
    status, said = most([median(one.least for one in run) <= 0.5 * median(one.most for one in run) for run in runs])
    every = [one for run in runs for one in run]
    least, most_ = (median(getattr(one, name) for one in every) / frame_bytes(MTU) for name in ("least", "most"))
    seconds = median(one.seconds for one in every)
    medians = f"medians of {words.count(len(every), 'swing')}: {seconds:.2f} s, from {least:.1f} to {most_:.1f} frames"
    return Judged(status, f"the queue falls to half of its peak or less {said}; {medians}")


def throughput_oscillates(study: Study) -> Judged:
    """Judges whether BBRv1 sends, in 0.1 s each, a tenth more than the link's rate at times, and a tenth less at
    others."""
    ends = []
    for run in _runs(study, "bbr"):
        rates = rates_bps(run, FLOW, SLOW_START_S)
        ends.append((rates.quantile(0.05) or 0.0, rates.quantile(0.95) or 0.0))
    if not ends:
        return NOT_RUN
    status, often = most([low < 0.9 * RATE_BPS and high > 1.1 * RATE_BPS for low, high in ends])
    low, high = (median(one[i] for one in ends) / 1e6 for i in (0, 1))
    return Judged(status, f"both {often}; 5th and 95th percentile of 0.1 s: {low:.1f} and {high:.1f} Mbit/s")


def _without_cuts(runs: int) -> Judged:
    found = words.count(runs, "run")
    return Judged(Status.UNKNOWN, f"no two cuts of the window after {SLOW_START_S:g} s in {found}")


def halves_and_falls(study: Study) -> Judged:
    """Judges whether each cut halves Reno's window, and whether it sends less in the second after than in that
    before."""
    runs = []
    for run in _runs(study, "reno"):
        found = cuts(run, FLOW, SLOW_START_S)
        rates = [[sent_bytes(run, FLOW, start_s, 1) for start_s in (one.at_s, one.at_s - FALL_S - 1)] for one in found]
        runs.append([(one.to, after / before) for one, (after, before) in zip(found, rates, strict=True)])
    if not runs:
        return NOT_RUN
    known = [one for one in runs if one]
    if not known:
        return _without_cuts(len(runs))
    status, often = most([all(0.45 <= to <= 0.55 and less <= 0.9 for to, less in one) for one in known])
    to, less = (median(pair[i] for one in known for pair in one) for i in (0, 1))
    return Judged(status, f"always {often}; medians: the window to {to:.2f}, the rate to {less:.2f}")


def fills_again(study: Study, buffer: int) -> Judged:
    """Judges whether BBRv1 fills a buffer of so many bytes to nine tenths more than ten times in a minute."""
    runs = list(_runs(study, "bbr"))
    minutes = [(run.plan.duration_ns / 1e9 - SLOW_START_S) / 60 for run in runs]
    counts = [fillings(run, 0.9 * buffer, SLOW_START_S) / counted for run, counted in zip(runs, minutes, strict=True)]
    if not counts:
        return NOT_RUN
    found = of_mean(counts)
    return Judged(above(found, 10), f"{interval_text(found)} times a minute after {SLOW_START_S:g} s, n = {found.n}")


def hardly_touched(study: Study, others: Sequence[Study], bound: float) -> Judged:
    """Judges whether the median of BBRv1's window is above `bound` times that of the other study, which hardly loses a
    packet."""
    without, after_s = others[0], SLOW_START_S
    found = {}
    for cc in ("bbr", "bbr2", "reno", "cubic"):
        here, there = (
            {(0, i): middle for i, run in enumerate(_runs(one, cc)) if (middle := median_window(run, FLOW, after_s))}
            for one in (study, without)
        )
        if here and there:
            found[cc] = ratio(here, there)
    if "bbr" not in found:
        return NOT_RUN
    said = ", ".join(f"{cc} {interval_text(one)}" for cc, one in found.items() if one is not None)
    return Judged(above(found["bbr"], bound), f"median window, times that without loss: {said}")


def moves_together(study: Study, before_s: float) -> Judged:
    """Judges whether window, RTT and queue of each of their algorithms move together; BBRv3's are told beside them.

    `before_s`: the delay between the sender and the queue.
    """
    statuses, said = [], []
    for cc in Figures(study).along(CC):
        runs = [together(run, FLOW, SLOW_START_S, before_s) for run in _runs(study, cc)]
        for what in ("cwnd", "rtt"):
            values = [one[what] for one in runs if what in one]
            if not values:
                continue
            found = of_mean(values)
            said.append(f"{cc} {what} {interval_text(found)}, n = {found.n}")
            if cc in THEIRS:
                statuses.append(above(found, 0.8))
    if not statuses:
        return NOT_RUN
    return Judged(all_of(statuses), f"correlation with the queue over time: {'; '.join(said)}")


def rests(study: Study, kernel: int | None = None) -> Judged:
    """Judges whether PROBE_RTT of BBRv2 comes more often than BBRv1's, and is half a BDP deep.

    `kernel`: its index among the kernels of the study, which have the names that the user gave them.
    """
    figures = Figures(study)
    where = {} if kernel is None else {KERNEL: figures.along(KERNEL)[kernel]}
    entered: dict[str, Interval] = {}
    depth: dict[str, Interval] = {}
    said = []
    for cc in (one for one in BBRS if one in figures.along(CC, where)):
        runs = [found for run in _runs(study, cc, where) if (found := probe_rtts(run, FLOW)) is not None]
        if not runs:
            continue
        entered[cc] = of_mean([len(one.entered_s) for one in runs])
        gaps = [one.gap_s for one in runs if one.gap_s is not None]
        depths = [one.depth_packets for one in runs if one.depth_packets is not None]
        said.append(f"{cc} {interval_text(entered[cc])} times")
        if gaps:
            said[-1] += f", median gap {interval_text(of_mean(gaps))} s"
        if depths:
            depth[cc] = of_mean(depths)
            said[-1] += f", {interval_text(depth[cc])} packets in flight"
        said[-1] += f", n = {len(runs)}"
    if not said:
        return NOT_RUN
    shallower = [within(depth.get("bbr2"), 0.3 * BDP_PACKETS, 0.7 * BDP_PACKETS), below(depth.get("bbr"), 4)]
    often = compared(entered.get("bbr2"), ">", entered.get("bbr"))
    numbers = f"{'; '.join(said)} (half a BDP is {BDP_PACKETS / 2:.0f}: 0.3 to 0.7 BDP)"
    return Judged(all_of([often, *shallower]), numbers)


def far_worse(study: Study, bound: float) -> Judged:
    """Judges whether BBRv1 has less than `bound` times BBRv2 on one CPU."""
    figures = Figures(study)
    one, two = (figures.samples("goodput", None, {CC: cc, CPUS: 1}) for cc in ("bbr", "bbr2"))
    alone = ratio(one, two)
    said = []
    for cpus in figures.along(CPUS):
        found = {cc: figures.interval("goodput", None, {CC: cc, CPUS: cpus}) for cc in figures.along(CC)}
        said.append(f"on {cpus}: {listed(found, 1e6, 'Mbit/s')}")
    if alone is not None:
        said.append(f"with one, BBRv1 {interval_text(alone)} times BBRv2")
    return Judged(below(alone, bound), "CPUs " + "; ".join(said))


def detected(study: Study) -> Judged:
    """Judges whether a check of what happened finds something in each run on one CPU. That of their number alone makes
    none valid."""
    rows = study.runs.filter(pl.col(CPUS) == 1, pl.col("verdict").is_not_null())
    if rows.is_empty():
        return NOT_RUN
    counts = dict(rows["verdict"].value_counts().iter_rows())
    said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    found = [bool(set(checks.split(", ")) - {"", "cpus"}) for checks in rows["reasons"].fill_null("")]
    # One without refutes it; that none is must be seen often enough.
    status, often = most(found)
    return Judged(
        status if all(found) else Status.FAILS, f"runs on one CPU: {said}; by another check than `cpus` {often}"
    )
