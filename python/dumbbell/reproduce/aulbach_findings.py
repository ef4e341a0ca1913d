"""What aulbach-2020 says that it found, and what our runs say to it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import exp, log
from typing import Final

from dumbbell.reproduce.comparing import compared, listed
from dumbbell.reproduce.curves import number
from dumbbell.reproduce.figures import Figures
from dumbbell.reproduce.judging import NOT_RUN, above, all_of, below, told
from dumbbell.reproduce.model import Finding, Judged, Status, Studies
from dumbbell.reproduce.recorded import recorded, spells
from dumbbell.statistics.intervals import Interval

CC: Final = "flows.0.cc"
BUFFER: Final = "topology.bottleneck.buffer"
RTT: Final = "topology.rtt"
LOSS: Final = "topology.bottleneck.loss"
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
        run = recorded(studies["1"], {CC: cc})
        if run is None or run.acks is None:
            continue
        states = ["probe_bw" if one.state.startswith("probe_bw") else one.state for one in spells(run, "flow")]
        order = list(dict.fromkeys(states))
        whole = order == ["startup", "drain", "probe_bw", "probe_rtt"]
        statuses.append(Status.HOLDS if whole else Status.FAILS)
        said.append(f"{cc}: {', '.join(order)}")
    return Judged(all_of(statuses), "first run of each, in order of first appearance: " + "; ".join(said))


def _long_share(figures: Figures, case: str, buffer: str) -> Interval | None:
    return figures.interval("goodput_share", "long", {"case": case, BUFFER: buffer})


def _long_wins(studies: Studies) -> Judged:
    if "2" not in studies:
        return NOT_RUN
    figures = Figures(studies["2"])
    found = {buffer: _long_share(figures, "BBR", buffer) for buffer in figures.along(BUFFER)}
    said = f"share of the flow of 50 ms, by buffer: {listed(found, 0.01, '%')}"
    return Judged(_everywhere([above(one, 0.5) for one in found.values()]), said)


def _nearer(successor: str) -> Finding:
    def judge(studies: Studies) -> Judged:
        if "2" not in studies:
            return NOT_RUN
        figures = Figures(studies["2"])
        statuses, said = [], []
        for buffer in figures.along(BUFFER):
            one, two = (_unfair(_long_share(figures, case, buffer)) for case in ("BBR", successor))
            if one is None or two is None:
                continue
            statuses.append(compared(two, "<", one))
            said.append(f"{buffer}: BBR {told(one, 0.01)}, {successor} {told(two, 0.01)}")
        return Judged(_everywhere(statuses), "points from the fair share, in %, by buffer: " + "; ".join(said))

    return Finding(f"2: with {successor} the two flows come much nearer to each other", judge)


def _unfair(share: Interval | None) -> Interval | None:
    """How far a share is from a half."""
    if share is None or share.low is None or share.high is None:
        return None
    ends = sorted(abs(end - 0.5) for end in (share.low, share.high))
    low = 0.0 if share.low < 0.5 < share.high else ends[0]
    return Interval(abs(share.value - 0.5), low, ends[1], share.n)


def _everywhere(statuses: list[Status]) -> Status:
    """Of a finding whose setting is not given: told only if it is the same in all settings."""
    same = set(statuses)
    return same.pop() if len(same) == 1 else Status.UNKNOWN


def _shares(figures: Figures, case: str) -> dict[str, Interval]:
    """Of the second algorithm of a pair, by buffer."""
    second = PAIRS[case][1]
    found = {b: figures.interval("goodput_share", second, {"case": case, BUFFER: b}) for b in figures.along(BUFFER)}
    return {buffer: one for buffer, one in found.items() if one is not None}


def crossing(shares: Mapping[str, Interval]) -> float | None:
    """The buffer in BDP at which the share falls to a half; `None` if it doesn't. Logarithmic between two points."""
    points = sorted((number(buffer), one.value) for buffer, one in shares.items())
    for (low, above_), (high, under) in pairwise(points):
        if above_ >= 0.5 > under:
            part = (above_ - 0.5) / (above_ - under)
            return exp(log(low) + part * (log(high) - log(low)))
    return None


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
    found = {case: crossing(_shares(figures, case)) for case in ("CUBIC/BBR", "CUBIC/BBRv2", "CUBIC/BBRv3")}
    said = "; ".join(f"{case} {'none' if at is None else f'{at:.2f} BDP'}" for case, at in found.items())
    one, two = found["CUBIC/BBR"], found["CUBIC/BBRv2"]
    status = (
        Status.UNKNOWN
        if one is None or two is None
        else Status.HOLDS
        if abs(log(two / one)) > log(1.5)
        else Status.FAILS
    )
    return Judged(status, f"the share of BBR falls to a half at: {said}")


def _between_bbrs(studies: Studies) -> Judged:
    shares = _shares(Figures(studies["3"]), "BBR/BBRv2") if "3" in studies else {}
    if not shares:
        return NOT_RUN
    said = ", ".join(f"{buffer} {told(one, 0.01)}" for buffer, one in shares.items())
    statuses = [below(one, 0.5) for one in shares.values()]
    return Judged(_everywhere(statuses), f"share of BBRv2 in %, by buffer: {said}")


def _loss(studies: Studies) -> Judged:
    if "5" not in studies:
        return NOT_RUN
    figures = Figures(studies["5"])
    kept: dict[str, float] = {}
    for cc in figures.along(CC):
        for loss in sorted(figures.along(LOSS), key=number):
            found = figures.interval("goodput", None, {CC: cc, LOSS: loss})
            if found is not None and found.value >= 0.5 * 10e6:
                kept[cc] = 100 * number(loss)
    if not {"cubic", "bbr"} <= kept.keys():
        return NOT_RUN
    said = ", ".join(f"{cc} {loss:.3g} %" for cc, loss in kept.items())
    status = Status.HOLDS if kept["bbr"] > 10 * kept["cubic"] else Status.FAILS
    return Judged(status, f"the largest loss at which half of the rate is carried: {said}")


def _bloat(studies: Studies) -> Judged:
    if "6" not in studies:
        return NOT_RUN
    figures = Figures(studies["6"])
    largest = max(figures.along(BUFFER), key=number)
    found = {cc: figures.interval("rtt_p50", None, {CC: cc, BUFFER: largest}) for cc in figures.along(CC)}
    said = f"median RTT with {largest}: {listed(found, 1.0, 'ms')}"
    cubic, bbr = found.get("cubic"), found.get("bbr")
    if cubic is None or bbr is None:
        return NOT_RUN
    # Ten times the queue is beyond what repetitions of one cell could blur.
    status = Status.HOLDS if cubic.value - 100 > 10 * (bbr.value - 100) else Status.FAILS
    return Judged(status, said)


FINDINGS: Final = (
    Finding("1: a flow goes through STARTUP, DRAIN, PROBE_BW and PROBE_RTT", _phases),
    Finding("2: with BBR the flow of 50 ms takes most", _long_wins),
    _nearer("BBRv2"),
    _nearer("BBRv3"),
    Finding("3: BBR crowds CUBIC out at small buffers, CUBIC wins at large ones", _crowded),
    Finding("3: the crossing moves with BBRv2 (by more than half)", _moves),
    Finding("3: between the two, BBR has more than BBRv2 (the plot's curves; not said in words)", _between_bbrs),
    Finding(
        "5: BBR keeps its throughput under ten times the loss that CUBIC does (the plot's purpose; no number given)",
        _loss,
    ),
    Finding("6: CUBIC's latency grows with the buffer, BBR's doesn't (the plot's purpose; no number given)", _bloat),
)
