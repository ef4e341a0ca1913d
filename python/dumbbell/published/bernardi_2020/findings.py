"""The findings of bernardi-2020, judged by our runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import polars as pl

from dumbbell.published.comparing import compared, listed
from dumbbell.published.figures import Figures
from dumbbell.published.judging import NOT_RUN, above, all_of, below, most, told, within
from dumbbell.published.model import Finding, Judged, Status, Studies
from dumbbell.published.ratios import ratio
from dumbbell.published.recorded import Cut, cuts, every, probe_rtt, together
from dumbbell.report import words
from dumbbell.statistics.intervals import Interval, of_mean
from dumbbell.units.mtu import MTU, frame_bytes

CC: Final = "flows.0.cc"
SLOW_START_S: Final = 3.0
"""Slow start is over by then in part 1, whatever the algorithm."""
_BBRS: Final = ("bbr", "bbr2", "bbr3")
BDP_PACKETS: Final = 100e6 * 0.030 / 8 / frame_bytes(MTU)
"""The BDP of part 2."""


def _goodput(figures: Figures, cc: str, **more: object) -> Interval | None:
    return figures.interval("goodput", None, {CC: cc, **more})


def _reno(studies: Studies) -> Judged:
    """Each cut halves Reno's window, which then grows at an even pace."""
    return _shape(studies, "reno", lambda one: 0.45 <= one.to <= 0.55 and min(one.growth) > 0.5 * max(one.growth))


def _cubic(studies: Studies) -> Judged:
    """CUBIC's window grows slowest in the middle third between two cuts."""
    return _shape(studies, "cubic", lambda one: one.growth[1] < 0.5 * min(one.growth[0], one.growth[2]))


def _shape(studies: Studies, cc: str, has_it: Callable[[Cut], bool]) -> Judged:
    """The judgement whether the windows of part 1's runs have a shape, from each cut to the next."""
    runs = [cuts(run, "f1", SLOW_START_S) for run in every(studies["1"], {CC: cc})] if "1" in studies else []
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


def _together(studies: Studies) -> Judged:
    if "1" not in studies:
        return NOT_RUN
    statuses, said = [], []
    for cc in Figures(studies["1"]).along(CC):
        runs = [together(run, "f1", SLOW_START_S) for run in every(studies["1"], {CC: cc})]
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


def _both_goals(studies: Studies) -> Judged:
    """High throughput and low RTT together."""
    if "1" not in studies:
        return NOT_RUN
    figures = Figures(studies["1"])
    goodput = {cc: _goodput(figures, cc) for cc in figures.along(CC)}
    rtt = {cc: figures.interval("rtt_p50", None, {CC: cc}) for cc in figures.along(CC)}
    said = f"{listed(goodput, 1e6, 'Mbit/s')}; median RTT {listed(rtt, 1.0, 'ms')}"
    two = goodput.get("bbr2")
    status = all_of(
        [
            above(two, 0.85 * 10e6),
            *(compared(rtt.get("bbr2"), "<", rtt.get(cc)) for cc in ("reno", "cubic", "bbr")),
        ]
    )
    return Judged(status, said)


def _probe_rtt(studies: Studies) -> Judged:
    if "2" not in studies:
        return NOT_RUN
    entered: dict[str, Interval] = {}
    depth: dict[str, Interval] = {}
    said = []
    for cc in _BBRS:
        runs = [found for run in every(studies["2"], {CC: cc}) if (found := probe_rtt(run, "f1")) is not None]
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
    shallower = [within(depth.get("bbr2"), 0.3 * BDP_PACKETS, 0.7 * BDP_PACKETS), below(depth.get("bbr"), 4)]
    often = compared(entered.get("bbr2"), ">", entered.get("bbr"))
    numbers = f"{'; '.join(said)} (half a BDP is {BDP_PACKETS / 2:.0f}: 0.3 to 0.7 BDP)" if said else NOT_RUN.numbers
    return Judged(all_of([often, *shallower]), numbers)


def _nearer(studies: Studies) -> Judged:
    if "2" not in studies:
        return NOT_RUN
    figures = Figures(studies["2"])
    found = {cc: _goodput(figures, cc) for cc in _BBRS}
    said = listed(found, 1e6, "Mbit/s")
    return Judged(all_of([compared(found["bbr"], ">", found["bbr2"]), below(found["bbr2"], 90e6)]), said)


def _more_queue(studies: Studies) -> Judged:
    if "2" not in studies:
        return NOT_RUN
    figures = Figures(studies["2"])
    found = {cc: figures.interval("rtt_p50", None, {CC: cc}) for cc in _BBRS}
    said = listed(found, 1.0, "ms")
    return Judged(compared(found["bbr"], ">", found["bbr2"]), f"median RTT, of which 30 ms are the path's: {said}")


def _unfilled(studies: Studies) -> Judged:
    if "2" not in studies:
        return NOT_RUN
    figures = Figures(studies["2"])
    found = {cc: figures.interval("queue_p95", None, {CC: cc}) for cc in _BBRS}
    used = {cc: figures.interval("utilisation", None, {CC: cc}) for cc in found}
    said = f"{listed(found, 1.0, 'ms')} (the buffer holds 30 ms); utilisation {listed(used, 0.01, '%')}"
    statuses = [below(found[cc], 0.5 * 30) for cc in ("bbr", "bbr2")] + [above(used[cc], 0.9) for cc in ("bbr", "bbr2")]
    return Judged(all_of(statuses), f"95th percentile of the queueing delay {said}")


def _loss(studies: Studies) -> Judged:
    if "3" not in studies:
        return NOT_RUN
    figures = Figures(studies["3"])
    found = {cc: _goodput(figures, cc) for cc in figures.along(CC)}
    said = listed(found, 1e6, "Mbit/s")
    return Judged(all_of([below(found.get(cc), 5e6) for cc in ("reno", "cubic")]), said)


def _loss_order(studies: Studies) -> Judged:
    if "3" not in studies:
        return NOT_RUN
    figures = Figures(studies["3"])
    found = {cc: _goodput(figures, cc) for cc in figures.along(CC)}
    said = listed(found, 1e6, "Mbit/s")
    order = [compared(found.get("bbr"), ">", found.get("bbr2"))]
    order += [compared(found.get("bbr2"), ">", found.get(cc)) for cc in ("reno", "cubic")]
    return Judged(all_of(order), said)


def _one_core(studies: Studies) -> Judged:
    if "4" not in studies:
        return NOT_RUN
    figures = Figures(studies["4"])
    one, two = (figures.samples("goodput", None, {CC: cc, "emulate.cpus": 1}) for cc in ("bbr", "bbr2"))
    alone = ratio(one, two)
    said = []
    for cpus in figures.along("emulate.cpus"):
        found = {cc: _goodput(figures, cc, **{"emulate.cpus": cpus}) for cc in figures.along(CC)}
        said.append(f"on {cpus}: {listed(found, 1e6, 'Mbit/s')}")
    if alone is not None:
        said.append(f"with one, BBRv1 {told(alone)} times BBRv2")
    return Judged(below(alone, 0.8), "CPUs " + "; ".join(said))


def _detected(studies: Studies) -> Judged:
    if "4" not in studies:
        return NOT_RUN
    rows = studies["4"].runs.filter(pl.col("emulate.cpus") == 1, pl.col("verdict").is_not_null())
    if rows.is_empty():
        return NOT_RUN
    counts = dict(rows["verdict"].value_counts().iter_rows())
    said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    # One that is valid refutes it; that none is must be seen often enough.
    detected, _ = most([False] * counts.get("valid", 0) + [True] * (rows.height - counts.get("valid", 0)))
    return Judged(Status.FAILS if "valid" in counts else detected, f"runs on one CPU: {said}")


def _shallow(part: str, loses: bool) -> Finding:
    """The finding on BBRv1 in a shallow buffer: on its packets, or (`loses`) on its throughput."""

    def judge(studies: Studies) -> Judged:
        if part not in studies:
            return NOT_RUN
        figures = Figures(studies[part])
        found = {cc: _goodput(figures, cc) for cc in figures.along(CC)}
        if loses:
            return Judged(compared(found.get("bbr"), "<", found.get("bbr2")), listed(found, 1e6, "Mbit/s"))
        again = {cc: figures.interval("retransmitted_share", None, {CC: cc}) for cc in found}
        # The link carries 95.6 Mbit/s of data at most, and the start is in the mean.
        status = all_of([compared(again.get("bbr"), ">", again.get("bbr2")), above(found.get("bbr2"), 85e6)])
        return Judged(status, f"sent again {listed(again, 0.01, '%')}; {listed(found, 1e6, 'Mbit/s')}")

    text = (
        "5: BBRv1 then loses throughput, and has less than BBRv2"
        if loses
        else ("5: in a shallow buffer BBRv1 loses more packets than BBRv2, which stays near 100 Mbit/s (above 85)")
    )
    return Finding(text + ("" if part == "5" else " (50 ms, as in the script)"), judge)


def _reno_shallow(studies: Studies) -> Judged:
    if "5" not in studies:
        return NOT_RUN
    figures = Figures(studies["5"])
    reno, two = _goodput(figures, "reno"), _goodput(figures, "bbr2")
    if reno is None or two is None:
        return NOT_RUN
    return Judged(compared(reno, "<", two), listed({"reno": reno, "bbr2": two}, 1e6, "Mbit/s"))


FINDINGS: Final = (
    Finding("1: Reno's window is a saw-tooth: halved, then growing at an even pace", _reno),
    Finding("1: CUBIC's window grows in a concave, then a convex way", _cubic),
    Finding("1: BBRv2 has high throughput and low RTT together (lower than Reno, CUBIC and BBRv1)", _both_goals),
    Finding("1: cwnd, RTT and queue length move together (of BBR: RTT and queue)", _together),
    Finding("2: BBRv1 and v2 find the bottleneck without filling the buffer", _unfilled),
    Finding("2: BBRv2's PROBE_RTT is more frequent and shallower: half a BDP, not 4 segments", _probe_rtt),
    Finding("2: BBRv1 stays nearer 100 Mbit/s, BBRv2 around 80 Mbit/s", _nearer),
    Finding("2: BBRv1 holds more queue than BBRv2", _more_queue),
    Finding("3: with 0.5 % loss Reno and CUBIC stay under 5 Mbit/s", _loss),
    Finding("3: BBRv1 is affected least, BBRv2 less than Reno and CUBIC", _loss_order),
    Finding("4: on one core BBRv1 does far worse than BBRv2 (below 80 % of it)", _one_core),
    Finding("4: the testbed detects it: no run on one CPU is valid", _detected),
    *(_shallow(part, loses) for part in ("5", "5-50ms") for loses in (False, True)),
    Finding("5: Reno halves its window and its throughput falls with it, below BBRv2's", _reno_shallow),
)
