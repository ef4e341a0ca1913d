"""The findings of slides-2017, judged by our runs, for each reading of their set-up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from dumbbell.published.comparing import compared, listed
from dumbbell.published.figures import Figures
from dumbbell.published.judging import NOT_RUN, above, all_of, any_of, below, told, within
from dumbbell.published.model import Cell, Finding, Judged, Status, Studies
from dumbbell.report import words
from dumbbell.statistics.intervals import Interval

CC: Final = "flows.0.cc"
RTT: Final = "topology.rtt"
LOSS: Final = "topology.bottleneck.loss"
BUFFER: Final = "topology.bottleneck.buffer"
_NAMES: Final = ("reno", "cubic")

AGAIN: Final = {"cubic": (6827, 3041), "reno": (3377, 12)}
"""Segments that the two flows of unequal paths sent again: the fast one's and the slow one's."""
LOST: Final = (0, 9141)
"""Datagrams of UDP that were lost, and all."""


def _table(studies: Studies, part: str) -> tuple[Figures, str, str] | None:
    """A table's part, with its shorter and its longer RTT; `None` if not both were run."""
    if part not in studies:
        return None
    figures = Figures(studies[part])
    rtts = figures.along(RTT)
    return (figures, rtts[0], rtts[1]) if len(rtts) == 2 else None


def judge_alike(studies: Studies, part: str) -> Judged:
    """Reno and CUBIC fill the link at 15 ms without loss."""
    if (table := _table(studies, part)) is None:
        return NOT_RUN
    figures, short, _ = table
    found = {cc: figures.interval("throughput", None, {RTT: short, LOSS: "0 %", CC: cc}) for cc in _NAMES}
    return Judged(all_of([above(one, 0.85e9) for one in found.values()]), listed(found, 1e6, "Mbit/s"))


def _faster(studies: Studies, part: str) -> Judged:
    if (table := _table(studies, part)) is None:
        return NOT_RUN
    figures, _, long = table
    found = {cc: figures.interval("throughput", None, {RTT: long, LOSS: "0 %", CC: cc}) for cc in _NAMES}
    status = all_of([compared(found["cubic"], ">", found["reno"]), *(below(one, 0.7e9) for one in found.values())])
    return Judged(status, listed(found, 1e6, "Mbit/s"))


def _loss(studies: Studies, part: str) -> Judged:
    if (table := _table(studies, part)) is None:
        return NOT_RUN
    figures, *rtts = table
    found = {rtt: figures.interval("throughput", None, {RTT: rtt, LOSS: "1 %", CC: "cubic"}) for rtt in rtts}
    return Judged(all_of([below(one, 0.01e9) for one in found.values()]), f"CUBIC: {listed(found, 1e6, 'Mbit/s')}")


def _nothing_again(studies: Studies, part: str) -> Judged:
    if (table := _table(studies, part)) is None:
        return NOT_RUN
    figures, short, _ = table
    where = {RTT: short, LOSS: "0 %"}
    found = {cc: figures.interval("retransmitted_segments", None, {**where, CC: cc}) for cc in _NAMES}
    return Judged(all_of([below(one, 1) for one in found.values()]), listed(found, 1, "segments"))


def _unfair(studies: Studies, part: str) -> Judged:
    if part not in studies:
        return NOT_RUN
    figures = Figures(studies[part])
    statuses, said = [], []
    for name, where in paths(figures):
        reno, cubic = (figures.interval("jain_index", None, {**where, CC: cc}) for cc in _NAMES)
        if reno is None or cubic is None:
            continue
        statuses.append(compared(cubic, ">", reno))
        said.append(f"{name}: Reno {told(reno)}, CUBIC {told(cubic)}, n = {min(reno.n, cubic.n)}")
    # Neither RTTs nor buffer are given: the status is known only if it is the same in all settings.
    status = statuses[0] if len(set(statuses)) == 1 else Status.UNKNOWN
    return Judged(status, "Jain's index: " + "; ".join(said)) if statuses else NOT_RUN


def paths(figures: Figures) -> Iterator[tuple[str, Cell]]:
    """The settings of two flows, with names: each pair of RTTs with each buffer."""
    for rtt in figures.along(RTT):
        for buffer in figures.along(BUFFER) or [""]:
            yield f"{words.value(rtt)}, {buffer}".rstrip(", "), {RTT: rtt, **({BUFFER: buffer} if buffer else {})}


NEAR: Final = 2.0
"""A factor: the number of lost segments depends on where in its saw-tooth a run ends."""


def _again(studies: Studies, part: str, cc: str) -> Judged:
    """In some setting both flows send as many segments again as printed; the nearest settings are told."""
    if part not in studies:
        return NOT_RUN
    figures = Figures(studies[part])
    found = []
    for name, where in paths(figures):
        ours = [figures.interval("retransmitted_segments", of, {**where, CC: cc}) for of in ("short", "long")]
        fast, slow = ours
        if fast is None or slow is None:
            continue
        inside = [within(one, n / NEAR, n * NEAR) for one, n in zip((fast, slow), AGAIN[cc], strict=True)]
        distance = sum(abs(one.value - n) for one, n in zip((fast, slow), AGAIN[cc], strict=True))
        found.append((distance, all_of(inside), f"{name}: {told(fast)} and {told(slow)}, n = {fast.n}"))
    if not found:
        return NOT_RUN
    _, _, nearest = min(found)
    return Judged(any_of([status for _, status, _ in found]), f"nearest: {nearest}")


def _beside(studies: Studies, part: str, *asked: tuple[str, str]) -> list[tuple[str, list[Interval]]]:
    """The metrics of the flows that are asked for, by setting: each buffer with each algorithm of TCP."""
    if part not in studies:
        return []
    figures = Figures(studies[part])
    found = []
    for buffer in figures.along(BUFFER):
        for cc in _NAMES:
            ours = [figures.interval(metric, of, {BUFFER: buffer, CC: cc}) for metric, of in asked]
            known = [one for one in ours if one is not None]
            if len(known) == len(asked):
                found.append((f"{buffer}, {cc}", known))
    return found


def judge_crowded_out(studies: Studies, part: str) -> Judged:
    """TCP is left with less than a tenth beside UDP."""
    found = _beside(studies, part, ("goodput", "tcp"), ("goodput", "udp"))
    statuses = [all_of([below(tcp, 1e6), above(udp, 9e6)]) for _, (tcp, udp) in found]
    said = [f"{name}: TCP {told(tcp, 1e6)}, UDP {told(udp, 1e6)}, n = {tcp.n}" for name, (tcp, udp) in found]
    return Judged(all_of(statuses), "Mbit/s: " + "; ".join(said)) if found else NOT_RUN


def judge_nothing_lost(studies: Studies, part: str) -> Judged:
    """In some setting neither TCP sends anything again nor UDP loses anything."""
    found = _beside(studies, part, ("retransmitted_segments", "tcp"), ("udp_lost", "udp"))
    statuses = [all_of([below(again, 1), below(lost, 1)]) for _, (again, lost) in found]
    said = [f"{name}: TCP {told(again)}, UDP {told(lost)}, n = {again.n}" for name, (again, lost) in found]
    return Judged(any_of(statuses), "sent again and lost: " + "; ".join(said)) if found else NOT_RUN


JITTER_MS: Final = 13.029


def _as_printed(jitter: Interval) -> Status:
    return within(jitter, JITTER_MS / 1.25, JITTER_MS * 1.25)


def judge_jitter(studies: Studies, part: str) -> Judged:
    """In some setting the jitter is within a quarter of the printed one."""
    found = _beside(studies, part, ("jitter", "udp"))
    statuses = [_as_printed(jitter) for _, (jitter,) in found]
    said = [f"{name}: {told(jitter)}, n = {jitter.n}" for name, (jitter,) in found]
    return Judged(any_of(statuses), "ms: " + "; ".join(said)) if found else NOT_RUN


def judge_at_once(studies: Studies, part: str) -> Judged:
    """One setting is enough, but all that is printed of it must be there."""
    asked = (
        ("goodput", "tcp"),
        ("goodput", "udp"),
        ("retransmitted_segments", "tcp"),
        ("udp_lost", "udp"),
        ("jitter", "udp"),
    )
    found = [
        ([below(tcp, 1e6), above(udp, 9e6), below(again, 1), below(lost, 1), _as_printed(jitter)], name, tcp.n)
        for name, (tcp, udp, again, lost, jitter) in _beside(studies, part, *asked)
    ]
    if not found:
        return NOT_RUN
    nearest, name, n = max(found, key=lambda one: one[0].count(Status.HOLDS))
    said = f"most in {name}: {nearest.count(Status.HOLDS)} of the {len(asked)} hold, n = {n}"
    return Judged(any_of([all_of(statuses) for statuses, *_ in found]), said)


TABLE: Final = {"table": "delay = RTT", "table-one-way": "delay each way", "table-window": "Linux's window",
                "table-window-deep": "window, deep buffer"}  # fmt: skip
"""Part -> the reading that it stands for."""
FAIR: Final = {"fairness": "simulated", "fairness-deep": "Linux 6.12, 3,400 packets",
               "fairness-late": "Linux 6.12, slow flow 10 s later", "fairness-window": "Linux's window",
               "fairness-mininet": "Mininet's links, Linux 6.12"}  # fmt: skip
BESIDE: Final = {"udp": "8 kB, evenly spaced", "udp-bursts": "8 kB, bursts of 100 ms", "udp-short": "1,470 B"}


BUFFER_AND_START: Final = (
    "the buffer and when the slow flow starts: part fairness has several buffers, fairness-mininet one of whole "
    "bursts, and in fairness-late it starts 10 s later"
)


def _each(
    parts: dict[str, str], text: str, judge: Callable[[Studies, str], Judged], printed: str, turns: str
) -> tuple[Finding, ...]:
    """A finding for each reading."""

    def of(part: str) -> Callable[[Studies], Judged]:
        return lambda studies: judge(studies, part)

    return tuple(Finding(text, of(part), printed, turns, reading) for part, reading in parts.items())


FINDINGS: Final = (
    *_each(
        TABLE, "At 15 ms without loss Reno and CUBIC alike fill the link (more than 85 % of it)", judge_alike,
        "903 and 906 of 1,000 Mbit/s", "no part here changes it",
    ),
    *_each(
        TABLE, "At 15 ms without loss nothing is sent again", _nothing_again, "0 and 0 segments",
        "the receive window and the buffer together: part table-window-deep beside table-window",
    ),
    *_each(
        TABLE, "At 150 ms without loss neither fills the link, and CUBIC carries more than Reno", _faster,
        "109 and 206 Mbit/s", "the receive window, which then is the limit of both: part table-window-deep",
    ),
    *_each(
        TABLE, "1 % loss leaves CUBIC less than 1 % of the link, at either delay", _loss, "4.55 and 1.15 Mbit/s",
        "no part here changes it",
    ),
    *_each(
        FAIR, "With unequal paths both are unfair, Reno more than CUBIC", _unfair,
        "Jain's index 0.51 of Reno (8.79 and 0.145 Mbit/s), 0.69 of CUBIC (7.93 and 1.43 Mbit/s)",
        BUFFER_AND_START,
    ),
    *_each(
        FAIR, f"Reno's two flows send about as much again as printed (here: within a factor of {NEAR:g}, in some "
        "setting)", lambda studies, part: _again(studies, part, "reno"), "3,377 and 12 segments",
        BUFFER_AND_START,
    ),
    *_each(
        FAIR, f"CUBIC's two flows send about as much again as printed (here: within a factor of {NEAR:g}, in some "
        "setting)", lambda studies, part: _again(studies, part, "cubic"), "6,827 and 3,041 segments",
        BUFFER_AND_START,
    ),
    *_each(
        BESIDE, "Beside UDP of the link's rate TCP is left with less than a tenth", judge_crowded_out,
        "TCP 0.54 Mbit/s, UDP 9.3 Mbit/s", "how UDP's datagrams are spaced, and the buffer: parts udp and udp-bursts",
    ),
    *_each(
        BESIDE, "Neither TCP nor UDP loses anything (here: in some setting)", judge_nothing_lost,
        f"0 segments sent again, {LOST[0]} of {LOST[1]:,} datagrams lost",
        "a buffer for all that is sent too much: 20,000 packets in part udp-bursts",
    ),
    *_each(
        BESIDE, "UDP's jitter is that of iperf's report (here: within a quarter, in some setting)", judge_jitter,
        f"{JITTER_MS} ms", "how UDP's datagrams are spaced: parts udp and udp-bursts",
    ),
    *_each(
        BESIDE, "All of this at once, in one setting: TCP below 1 and UDP above 9 Mbit/s, nothing sent again, nothing "
        "lost, that jitter", judge_at_once, "the numbers above, of one run",
        "no part here changes it. What else held TCP back: not tested",
    ),
)  # fmt: skip
