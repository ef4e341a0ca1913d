"""Code of aulbach-2020: phases of BBR, its PROBE_RTT, crossings of two shares, and the loss that a flow bears."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, takewhile
from math import exp, log
from typing import TYPE_CHECKING, Final

import polars as pl

from dumbbell.published.comparing import compared, listed
from dumbbell.published.curves import number
from dumbbell.published.figures import Figures, Seeded
from dumbbell.published.judging import NOT_RUN, above, all_of, interval_text, most, within
from dumbbell.published.model import Judged, Status
from dumbbell.published.ratios import ratio
from dumbbell.published.recorded import every, median, probe_rtt, recorded, spells
from dumbbell.statistics.intervals import Interval, of_mean

if TYPE_CHECKING:
    from dumbbell.records.run import Run
    from dumbbell.studies import Study

CC: Final = "flows.0.cc"
BUFFER: Final = "topology.bottleneck.buffer"
LOSS: Final = "topology.bottleneck.loss"
PHASES: Final = ("startup", "drain", "probe_bw", "probe_rtt")
THEIRS: Final = ("bbr", "bbr2")
RATE_BPS: Final = 10e6
"""The bottleneck of part 2."""
SETTLED_NS: Final = 20 * 10**9
"""Part 2 lasts for 50 s; by then the shares are as they stay."""


def in_order(study: Study) -> Judged:
    """Judges whether most runs of BBR and of BBRv2 go through the four phases in order of first appearance.

    BBRv3, which they did not have, is told beside them."""
    statuses, said = [], []
    for cc in Figures(study).along(CC):
        orders = [_order(run) for run in every(study, {CC: cc}) if run.acks is not None]
        if not orders:
            continue
        status, often = most([order == PHASES for order in orders])
        if cc in THEIRS:
            statuses.append(status)
        said.append(f"{cc} {often}, the first: {', '.join(orders[0])}")
    return Judged(all_of(statuses), "in this order of first appearance: " + "; ".join(said)) if said else NOT_RUN


def _order(run: Run) -> tuple[str, ...]:
    """The phases of a run's flow, by first appearance."""
    states = ("probe_bw" if one.state.startswith("probe_bw") else one.state for one in spells(run, "flow"))
    return tuple(dict.fromkeys(states))


def keeps_more(study: Study) -> Judged:
    """Judges whether BBRv2 has more in flight in PROBE_RTT than BBRv1. BBRv3 is told beside them."""
    depths: dict[str, Interval | None] = {}
    for cc in Figures(study).along(CC):
        rests = [one for run in every(study, {CC: cc}) if (one := probe_rtt(run, "flow")) is not None]
        known = [one.depth_packets for one in rests if one.depth_packets is not None]
        if known:
            depths[cc] = of_mean(known)
    if not depths:
        return NOT_RUN
    said = f"in flight in PROBE_RTT, a run's median: {listed(depths, 1, 'packets')}"
    return Judged(compared(depths.get("bbr2"), ">", depths.get("bbr")), said)


def crossing(shares: Mapping[str, float]) -> float | None:
    """The buffer in BDP at which the share falls to a half; `None` if it doesn't. Logarithmic between two points."""
    points = sorted((number(buffer), share) for buffer, share in shares.items())
    for (low, above_), (high, under) in pairwise(points):
        if above_ >= 0.5 > under:
            part = (above_ - 0.5) / (above_ - under)
            return exp(log(low) + part * (log(high) - log(low)))
    return None


def _crossings(figures: Figures, case: str, second: str) -> Seeded | None:
    """The crossings of the runs of each seed, with all buffers; `None` if those of a seed don't cross."""
    of_seed: dict[int, dict[str, float]] = {}
    for buffer in figures.along(BUFFER):
        for (_, seed), share in figures.samples("goodput_share", second, {"case": case, BUFFER: buffer}).items():
            of_seed.setdefault(seed, {})[buffer] = share
    found = {(0, seed): crossing(shares) for seed, shares in of_seed.items()}
    known = {key: at for key, at in found.items() if at is not None}
    return known if known and len(known) == len(found) else None


def moves(study: Study, cases: Mapping[str, str], factor: float) -> Judged:
    """Judges whether the crossing of the second case is more than `factor` from that of the first.

    `cases`: a pair of algorithms, and the one whose share falls to a half.
    """
    figures = Figures(study)
    found = {case: _crossings(figures, case, second) for case, second in cases.items()}
    texts = {
        case: "not in every run" if at is None else f"{interval_text(of_mean(list(at.values())))} BDP, n = {len(at)}"
        for case, at in found.items()
    }
    said = "; ".join(f"{case} {text}" for case, text in texts.items())
    said = f"the share of BBR falls to a half at: {said}"
    one, two, *_ = found.values()
    if one is None or two is None:
        return Judged(Status.UNKNOWN, said)
    moved = ratio(two, one)
    # It moves if its factor is surely outside of these, and doesn't if surely inside.
    stays = within(moved, 1 / factor, factor)
    answer = {Status.HOLDS: Status.FAILS, Status.FAILS: Status.HOLDS}.get(stays, Status.UNKNOWN)
    return Judged(answer, f"{said}; BBRv2's is {interval_text(moved)} times BBR's" if moved else said)


def bears(study: Study, rate: float, times: float) -> Judged:
    """Judges whether BBR carries half of the rate (bit/s) under more than `times` the loss under which CUBIC does."""
    figures = Figures(study)
    losses = sorted(figures.along(LOSS), key=number)
    kept, counts = {}, set()
    for cc in figures.along(CC):
        found = [(100 * number(loss), figures.interval("goodput", None, {CC: cc, LOSS: loss})) for loss in losses]
        known = [(loss, one) for loss, one in found if one is not None]
        between = endured([(loss, above(one, 0.5 * rate)) for loss, one in known])
        if between is not None:
            kept[cc] = between
            counts |= {one.n for _, one in known}
    said = ", ".join(f"{cc} between {low:.3g} and {high:.3g} %" for cc, (low, high) in kept.items())
    said = f"{said}, n = {min(counts)}" if kept else "not known"
    said = f"the loss at which half of the rate is carried: {said}"
    if not {"cubic", "bbr"} <= kept.keys():
        return Judged(Status.UNKNOWN, said)
    (low, high), (least, most_) = kept["cubic"], kept["bbr"]
    status = Status.HOLDS if least > times * high else Status.FAILS if most_ < times * low else Status.UNKNOWN
    return Judged(status, said)


def endured(carried: Sequence[tuple[float, Status]]) -> tuple[float, float] | None:
    """The losses between which a flow ceases to carry enough: it surely does up to the first, and surely does not from
    the second on.

    `carried`: whether the flow carries enough, by loss, which rises. `None` if it never or always does.
    """
    enough = list(takewhile(lambda one: one[1] is Status.HOLDS, carried))
    too_little = list(takewhile(lambda one: one[1] is Status.FAILS, reversed(carried)))
    return (enough[-1][0], too_little[-1][0]) if enough and too_little else None


def phases(study: Study) -> str:
    """The time that each BBR's first run spent in each phase."""
    said = []
    for cc in Figures(study).along(CC):
        run = recorded(study, {CC: cc})
        rests = None if run is None else probe_rtt(run, "flow")
        if run is None or rests is None:
            continue
        lasted: dict[str, float] = {}
        for one in spells(run, "flow"):
            state = "probe_bw" if one.state.startswith("probe_bw") else one.state
            lasted[state] = lasted.get(state, 0.0) + one.stop_s - one.start_s
        total = sum(lasted.values()) or 1.0
        shares = ", ".join(f"{state} {100 * time / total:.1f} %" for state, time in lasted.items())
        entered = " ".join(f"{at:.1f}" for at in rests.entered_s)
        said.append(f"{cc}: {shares}; PROBE_RTT entered after {entered or '-'} s")
    return "In the first run of each. " + ". ".join(said) + "."


def windows(study: Study) -> str:
    """The data that two flows of unequal RTTs may have in flight, and the queue that they meet, if the buffer is
    large."""
    said = []
    for case in Figures(study).along("case"):
        run = recorded(study, {"case": case, BUFFER: "2 bdp"})
        if run is None or run.acks is None or not str(case).startswith("BBR"):
            continue
        link = pl.col("link").cast(pl.String) == "bottleneck"
        waiting = median(run.links.filter(link, pl.col("time_ns") > SETTLED_NS)["queue_bytes"].to_list())
        flows = []
        for flow in ("short", "long"):
            own = run.acks.filter(pl.col("flow").cast(pl.String) == flow, pl.col("time_ns") > SETTLED_NS)
            rtt_us, window = (median(own[name].to_list()) or 0.0 for name in ("bbr_min_rtt_us", "cwnd_packets"))
            flows.append(f"{flow} {window:.0f} packets by an RTT of {rtt_us / 1e3:.0f} ms")
        said.append(f"{case}: a queue of {8e3 * (waiting or 0.0) / RATE_BPS:.0f} ms, windows: {', '.join(flows)}")
    return "First run of each at 2 BDP, medians after 20 s. " + ". ".join(said) + "."
