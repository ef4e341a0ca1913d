"""Findings of bernardi-2020 on behaviour over time, judged by the records of each usable run."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Final

from dumbbell.published.bernardi_2020.readings import FLOW, Cells
from dumbbell.published.bernardi_2020.signals import probe_rtts, swings, timeouts
from dumbbell.published.comparing import compared
from dumbbell.published.judging import NOT_RUN, above, all_of, below, most, told, within
from dumbbell.published.model import Judged, Status
from dumbbell.published.recorded import Cut, cuts, together
from dumbbell.report import words
from dumbbell.statistics.intervals import Interval, of_mean
from dumbbell.units.mtu import MTU, frame_bytes

SLOW_START_S: Final = 3.0
"""Slow start is over by then in scenario 1, whatever the algorithm."""
BBRS: Final = ("bbr", "bbr2", "bbr3")
BDP_PACKETS: Final = 100e6 * 0.030 / 8 / frame_bytes(MTU)
"""The BDP of scenario 2."""


def reno(cells: Cells) -> Judged:
    """Each cut halves Reno's window, which then grows at an even pace."""
    return _shape(cells, "reno", lambda one: 0.45 <= one.to <= 0.55 and min(one.growth) > 0.5 * max(one.growth))


def cubic(cells: Cells) -> Judged:
    """CUBIC's window grows slowest in the middle third between two cuts."""
    return _shape(cells, "cubic", lambda one: one.growth[1] < 0.5 * min(one.growth[0], one.growth[2]))


def _shape(cells: Cells, cc: str, has_it: Callable[[Cut], bool]) -> Judged:
    """The judgement whether the windows of an algorithm's runs have a shape, from each cut to the next."""
    runs = [cuts(run, FLOW, SLOW_START_S) for run in cells.runs(cc)]
    if not runs:
        return NOT_RUN
    found = [one for one in runs if one]
    if not found:
        return Judged(Status.UNKNOWN, f"no two cuts of the window in {words.count(len(runs), 'run')}")
    status, said = most([all(map(has_it, one)) for one in found])
    times = [has_it(cut) for one in found for cut in one]
    first = "; ".join(
        f"cut to {one.to:.2f} at {one.at_s:.1f} s, then {' '.join(f'{g:.1f}' for g in one.growth)} segments/s in thirds"
        for one in found[0]
    )
    between = f"{sum(times)} of {words.count(len(times), 'time')} between two cuts"
    return Judged(status, f"always {said}; {between}; first run: {first}")


def no_timeouts(cells: Cells) -> Judged:
    """Reno repairs all its losses without a timeout."""
    found = [timeouts(run, FLOW) for run in cells.runs("reno")]
    if not found:
        return NOT_RUN
    status, said = most([times == 0 for times in found])
    return Judged(status, f"none {said}; {words.count(sum(found), 'timeout')} in all")


def oscillates(cells: Cells) -> Judged:
    """Between two probes BBRv1 fills the queue, and drains at least half of it."""
    runs = [found for run in cells.runs("bbr") if (found := swings(run, FLOW, SLOW_START_S))]
    if not runs:
        return NOT_RUN
    status, said = most([median(one.least for one in run) <= 0.5 * median(one.most for one in run) for run in runs])
    every = [one for run in runs for one in run]
    least, most_ = (median(getattr(one, name) for one in every) / frame_bytes(MTU) for name in ("least", "most"))
    seconds = median(one.seconds for one in every)
    medians = f"medians of {words.count(len(every), 'swing')}: {seconds:.2f} s, from {least:.1f} to {most_:.1f} frames"
    return Judged(status, f"the queue falls to half of its peak or less {said}; {medians}")


def moves_together(cells: Cells) -> Judged:
    """Window, RTT and queue; of BBR only RTT and queue."""
    statuses, said = [], []
    for cc in cells.algorithms:
        runs = [together(run, FLOW, SLOW_START_S, cells.before_s) for run in cells.runs(cc)]
        for what in ("cwnd", "rtt"):
            values = [one[what] for one in runs if what in one]
            if not values:
                continue
            found = of_mean(values)
            said.append(f"{cc} {what} {told(found)}, n = {found.n}")
            if what == "rtt" or cc in ("reno", "cubic"):
                statuses.append(above(found, 0.8))
    if not statuses:
        return NOT_RUN
    return Judged(all_of(statuses), f"correlation with the queue over time: {'; '.join(said)}")


def rests(cells: Cells) -> Judged:
    """PROBE_RTT of BBRv2 comes more often than BBRv1's, and is half a BDP deep."""
    entered: dict[str, Interval] = {}
    depth: dict[str, Interval] = {}
    said = []
    for cc in (one for one in BBRS if one in cells.algorithms):
        runs = [found for run in cells.runs(cc) if (found := probe_rtts(run, FLOW)) is not None]
        if not runs:
            continue
        entered[cc] = of_mean([len(one.entered_s) for one in runs])
        gaps = [one.gap_s for one in runs if one.gap_s is not None]
        depths = [one.depth_packets for one in runs if one.depth_packets is not None]
        said.append(f"{cc} {told(entered[cc])} times")
        if gaps:
            said[-1] += f", median gap {told(of_mean(gaps))} s"
        if depths:
            depth[cc] = of_mean(depths)
            said[-1] += f", {told(depth[cc])} packets in flight"
        said[-1] += f", n = {len(runs)}"
    if not said:
        return NOT_RUN
    shallower = [within(depth.get("bbr2"), 0.3 * BDP_PACKETS, 0.7 * BDP_PACKETS), below(depth.get("bbr"), 4)]
    often = compared(entered.get("bbr2"), ">", entered.get("bbr"))
    numbers = f"{'; '.join(said)} (half a BDP is {BDP_PACKETS / 2:.0f}: 0.3 to 0.7 BDP)"
    return Judged(all_of([often, *shallower]), numbers)
