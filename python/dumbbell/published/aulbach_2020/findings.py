"""The findings of aulbach-2020, judged by our runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, takewhile
from math import exp, log
from typing import Final

from dumbbell.published.comparing import compared, listed
from dumbbell.published.curves import number
from dumbbell.published.figures import Figures, Seeded
from dumbbell.published.judging import NOT_RUN, above, all_of, below, most, told, within
from dumbbell.published.model import Finding, Judged, Status, Studies
from dumbbell.published.ratios import ratio
from dumbbell.published.recorded import every, spells
from dumbbell.published.sides import scaled, shifted
from dumbbell.records.run import Run
from dumbbell.statistics.intervals import Interval, of_mean

CC: Final = "flows.0.cc"
BUFFER: Final = "topology.bottleneck.buffer"
RTT: Final = "topology.rtt"
LOSS: Final = "topology.bottleneck.loss"
PHASES: Final = ("startup", "drain", "probe_bw", "probe_rtt")
PAIRS: Final[Mapping[str, tuple[str, str]]] = {
    "CUBIC/BBR": ("cubic", "bbr"),
    "CUBIC/BBRv2": ("cubic", "bbr2"),
    "BBR/BBRv2": ("bbr", "bbr2"),
    "CUBIC/BBRv3": ("cubic", "bbr3"),
    "BBR/BBRv3": ("bbr", "bbr3"),
    "BBRv2/BBRv3": ("bbr2", "bbr3"),
}


def _phases(studies: Studies) -> Judged:
    if "1" not in studies:
        return NOT_RUN
    statuses, said = [], []
    for cc in Figures(studies["1"]).along(CC):
        orders = [_order(run) for run in every(studies["1"], {CC: cc}) if run.acks is not None]
        if not orders:
            continue
        status, often = most([order == PHASES for order in orders])
        statuses.append(status)
        said.append(f"{cc} {often}, the first: {', '.join(orders[0])}")
    return Judged(all_of(statuses), "in this order of first appearance: " + "; ".join(said)) if said else NOT_RUN


def _order(run: Run) -> tuple[str, ...]:
    """The phases of a run's flow, by first appearance."""
    states = ("probe_bw" if one.state.startswith("probe_bw") else one.state for one in spells(run, "flow"))
    return tuple(dict.fromkeys(states))


def _long_share(figures: Figures, case: str, buffer: str) -> Interval | None:
    return figures.interval("goodput_share", "long", {"case": case, BUFFER: buffer})


def _long_wins(studies: Studies) -> Judged:
    if "2" not in studies:
        return NOT_RUN
    figures = Figures(studies["2"])
    found = {buffer: _long_share(figures, "BBR", buffer) for buffer in figures.along(BUFFER)}
    said = f"share of the flow of 50 ms, by buffer: {listed(found, 0.01, '%')}"
    return Judged(_everywhere([above(one, 0.5) for one in found.values()]), said)


def _nearer(successor: str, whence: str, printed: str, turns: str) -> Finding:
    def judge(studies: Studies) -> Judged:
        if "2" not in studies:
            return NOT_RUN
        figures = Figures(studies["2"])
        found = {}
        for buffer in figures.along(BUFFER):
            one, two = (_unfair(_long_share(figures, case, buffer)) for case in ("BBR", successor))
            if one is not None and two is not None:
                found[buffer] = one, two
        if not found:
            return NOT_RUN
        said = [
            f"{buffer}: BBR {told(one, 0.01)}, {successor} {told(two, 0.01)}" for buffer, (one, two) in found.items()
        ]
        return Judged(
            _everywhere([compared(two, "<", one) for one, two in found.values()]),
            f"points from the fair share, in %, by buffer: {'; '.join(said)}, n = {_least(*found.values())}",
        )

    return Finding(f"2: with {successor} the two flows come much nearer to each other{whence}", judge, printed, turns)


def _least(*found: Sequence[Interval]) -> int:
    """The fewest runs behind an interval."""
    return min(one.n for several in found for one in several)


def _unfair(share: Interval | None) -> Interval | None:
    """The distance of a share from a half."""
    if share is None or share.low is None or share.high is None:
        return None
    ends = sorted(abs(end - 0.5) for end in (share.low, share.high))
    low = 0.0 if share.low < 0.5 < share.high else ends[0]
    return Interval(abs(share.value - 0.5), low, ends[1], share.n)


def _everywhere(statuses: list[Status]) -> Status:
    """The status of a finding whose setting is not given: known only if it is the same in all settings."""
    same = set(statuses)
    return same.pop() if len(same) == 1 else Status.UNKNOWN


def _shares(figures: Figures, case: str) -> dict[str, Interval]:
    """The shares of the second algorithm of a pair, by buffer."""
    second = PAIRS[case][1]
    found = {b: figures.interval("goodput_share", second, {"case": case, BUFFER: b}) for b in figures.along(BUFFER)}
    return {buffer: one for buffer, one in found.items() if one is not None}


def crossing(shares: Mapping[str, float]) -> float | None:
    """The buffer in BDP at which the share falls to a half; `None` if it doesn't. Logarithmic between two points."""
    points = sorted((number(buffer), share) for buffer, share in shares.items())
    for (low, above_), (high, under) in pairwise(points):
        if above_ >= 0.5 > under:
            part = (above_ - 0.5) / (above_ - under)
            return exp(log(low) + part * (log(high) - log(low)))
    return None


def _crossings(figures: Figures, case: str) -> Seeded | None:
    """The crossings of the runs of each seed, with all buffers; `None` if those of a seed don't cross."""
    second = PAIRS[case][1]
    of_seed: dict[int, dict[str, float]] = {}
    for buffer in figures.along(BUFFER):
        for (_, seed), share in figures.samples("goodput_share", second, {"case": case, BUFFER: buffer}).items():
            of_seed.setdefault(seed, {})[buffer] = share
    found = {(0, seed): crossing(shares) for seed, shares in of_seed.items()}
    known = {key: at for key, at in found.items() if at is not None}
    return known if known and len(known) == len(found) else None


def _crowded(studies: Studies) -> Judged:
    shares = _shares(Figures(studies["3"]), "CUBIC/BBR") if "3" in studies else {}
    if not shares:
        return NOT_RUN
    ends = [shares[min(shares, key=number)], shares[max(shares, key=number)]]
    said = ", ".join(f"{buffer} {told(one, 0.01)}" for buffer, one in shares.items())
    return Judged(
        all_of([above(ends[0], 0.5), below(ends[1], 0.5)]), f"share of BBR in %, by buffer: {said}, n = {ends[0].n}"
    )


def _moves(studies: Studies) -> Judged:
    if "3" not in studies:
        return NOT_RUN
    figures = Figures(studies["3"])
    found = {case: _crossings(figures, case) for case in ("CUBIC/BBR", "CUBIC/BBRv2", "CUBIC/BBRv3")}
    said = "; ".join(
        f"{case} {'not in every run' if at is None else f'{told(of_mean(list(at.values())))} BDP, n = {len(at)}'}"
        for case, at in found.items()
    )
    one, two = found["CUBIC/BBR"], found["CUBIC/BBRv2"]
    said = f"the share of BBR falls to a half at: {said}"
    if one is None or two is None:
        return Judged(Status.UNKNOWN, said)
    moved = ratio(two, one)
    # It moves if its factor is surely outside of these, and doesn't if surely inside.
    stays = within(moved, 1 / 1.5, 1.5)
    moves = {Status.HOLDS: Status.FAILS, Status.FAILS: Status.HOLDS}.get(stays, Status.UNKNOWN)
    return Judged(moves, f"{said}; BBRv2's is {told(moved)} times BBR's" if moved else said)


def _between_bbrs(studies: Studies) -> Judged:
    shares = _shares(Figures(studies["3"]), "BBR/BBRv2") if "3" in studies else {}
    if not shares:
        return NOT_RUN
    said = ", ".join(f"{buffer} {told(one, 0.01)}" for buffer, one in shares.items())
    statuses = [below(one, 0.5) for one in shares.values()]
    n = _least(tuple(shares.values()))
    return Judged(_everywhere(statuses), f"share of BBRv2 in %, by buffer: {said}, n = {n}")


def _side(case: str, turns: str) -> Finding:
    """Which of a pair has more, against the RTT. They print no finding of this plot."""

    def judge(studies: Studies) -> Judged:
        if "4" not in studies:
            return NOT_RUN
        figures, second = Figures(studies["4"]), PAIRS[case][1]
        found = {rtt: figures.interval("goodput_share", second, {"case": case, RTT: rtt}) for rtt in figures.along(RTT)}
        status = same_side([above(one, 0.5) for one in found.values()])
        return Judged(status, f"share of {case.split('/')[1]}, by RTT: {listed(found, 0.01, '%')}")

    return Finding(f"4: {case}: who has more is the same at every RTT (the plot's purpose)", judge, _NO_FINDING, turns)


def same_side(more: Sequence[Status]) -> Status:
    """Whether one has more in all settings, or less in all. `more`: whether it has more, by setting."""
    if {Status.HOLDS, Status.FAILS} <= set(more):
        return Status.FAILS
    return Status.UNKNOWN if Status.UNKNOWN in more else Status.HOLDS


def _loss(studies: Studies) -> Judged:
    if "5" not in studies:
        return NOT_RUN
    figures = Figures(studies["5"])
    losses = sorted(figures.along(LOSS), key=number)
    kept, counts = {}, set()
    for cc in figures.along(CC):
        found = [(100 * number(loss), figures.interval("goodput", None, {CC: cc, LOSS: loss})) for loss in losses]
        known = [(loss, one) for loss, one in found if one is not None]
        between = endured([(loss, above(one, 0.5 * 100e6)) for loss, one in known])
        if between is not None:
            kept[cc] = between
            counts |= {one.n for _, one in known}
    said = ", ".join(f"{cc} between {low:.3g} and {high:.3g} %" for cc, (low, high) in kept.items())
    said = f"{said}, n = {min(counts)}" if kept else "not known"
    said = f"the loss at which half of the rate is carried: {said}"
    if not {"cubic", "bbr"} <= kept.keys():
        return Judged(Status.UNKNOWN, said)
    (low, high), (least, most_) = kept["cubic"], kept["bbr"]
    status = Status.HOLDS if least > 10 * high else Status.FAILS if most_ < 10 * low else Status.UNKNOWN
    return Judged(status, said)


def endured(carried: Sequence[tuple[float, Status]]) -> tuple[float, float] | None:
    """The losses between which a flow ceases to carry enough: it surely does up to the first, and surely does not from
    the second on.

    `carried`: whether the flow carries enough, by loss, which rises. `None` if it never or always does.
    """
    enough = list(takewhile(lambda one: one[1] is Status.HOLDS, carried))
    too_little = list(takewhile(lambda one: one[1] is Status.FAILS, reversed(carried)))
    return (enough[-1][0], too_little[-1][0]) if enough and too_little else None


def _bloat(studies: Studies) -> Judged:
    if "6" not in studies:
        return NOT_RUN
    figures = Figures(studies["6"])
    largest = max(figures.along(BUFFER), key=number)
    found = {cc: figures.interval("rtt_p50", None, {CC: cc, BUFFER: largest}) for cc in figures.along(CC)}
    said = f"median RTT with {largest}, of which 40 ms are the path's: {listed(found, 1.0, 'ms')}"
    cubic, bbr = found.get("cubic"), found.get("bbr")
    if cubic is None or bbr is None:
        return NOT_RUN
    # The queue is ten times BBR's.
    return Judged(compared(shifted(cubic, -40), ">", scaled(shifted(bbr, -40), 10)), said)


_FIGURE: Final = "(read off their figure)"
_NO_FINDING: Final = "a figure only: the text finds nothing in it"
_RATE_AND_RTT: Final = "Another rate or RTT, which are not given: not tested"

FINDINGS: Final = (
    Finding(
        "1: a flow goes through STARTUP, DRAIN, PROBE_BW and PROBE_RTT", _phases,
        "a figure of one flow of BBR and of one of BBRv2, about 10 Mbit/s, with the four phases marked",
        "a shorter run: BBR enters PROBE_RTT after 10 s, BBRv2 and BBRv3 after 5 (part 1)",
    ),
    Finding(
        f"2: with BBR the flow of 50 ms takes most {_FIGURE}", _long_wins,
        "a figure only: rates over 50 s beside the fair share of 5 Mbit/s; the buffer is not given",
        "the buffer: with 1 BDP of 50 ms or more it has most, with less it can't be told (part 2)",
    ),
    _nearer(
        "BBRv2", f" {_FIGURE}", "the same figure of BBRv2",
        "the buffer: with 1 BDP of 50 ms they come nearer, with 0.5, 2 and 4 they are farther from each other than "
        "BBR's, with 0.25 it can't be told (part 2)",
    ),
    _nearer(
        "BBRv3", ", as with BBRv2 (BBRv3 did not exist)", "nothing: BBRv3 did not exist",
        "nothing that was tested: it is so with every buffer (part 2)",
    ),
    Finding(
        f"3: BBR crowds CUBIC out at small buffers, CUBIC wins at large ones {_FIGURE}", _crowded,
        "a figure only: average shares of bandwidth against 0.1 to 10 BDP of buffer",
        f"nothing that was tested: it is so in one minute, too (part 3 with duration = 60 s). {_RATE_AND_RTT}",
    ),
    Finding(
        f"3: the crossing moves with BBRv2, by more than half {_FIGURE}", _moves,
        "two figures only, which cross at different buffers",
        f"nothing that was tested: it is so in one minute, too (part 3 with duration = 60 s). {_RATE_AND_RTT}",
    ),
    Finding(
        f"3: between the two, BBR has more than BBRv2 {_FIGURE}", _between_bbrs, "a figure only",
        "nothing that was tested: it is so with every buffer (part 3) and every RTT (part 4)",
    ),
    _side(
        "CUBIC/BBR",
        "the buffer: with 50 kB at each RTT BBR has more at all of them (part 4 with topology.bottleneck.buffer = "
        "50 kB). And time: in ten minutes CUBIC has more at 1 s (part 4 with duration = 600 s)",
    ),
    _side(
        "CUBIC/BBRv2",
        "the buffer: with 50 kB at each RTT BBRv2 has less up to 100 ms and more from 177.8 ms on (part 4 with "
        "topology.bottleneck.buffer = 50 kB)",
    ),
    _side(
        "BBR/BBRv2",
        "nothing that was tested: neither a buffer of 50 kB at each RTT nor ten minutes at 1 s (part 4 with "
        "topology.bottleneck.buffer = 50 kB, or duration = 600 s)",
    ),
    Finding(
        "5: BBR keeps its throughput under ten times the loss that CUBIC does (the plot's purpose)", _loss,
        "a figure only: throughput of 0 to 100 Mbit/s against 0.001 to 50 % of loss",
        "more than ten times: BBR keeps it under a thousand times the loss, BBRv2 and BBRv3 under a hundred times "
        "(part 5)",
    ),
    Finding(
        "6: CUBIC's latency grows with the buffer, BBR's doesn't (here: ten times the queue)", _bloat,
        "a figure only: latency of 0 to 6,000 ms against 0 to 10,000 kB of buffer",
        "a small buffer: with 15 kB the median RTTs of all are within 3 ms (the plot of part 6)",
    ),
)  # fmt: skip
