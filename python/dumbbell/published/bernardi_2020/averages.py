"""Findings of bernardi-2020 on averages: goodput, RTT, queueing delay, what is sent again."""

from __future__ import annotations

from typing import Final

from dumbbell.published.bernardi_2020.over_time import BBRS
from dumbbell.published.bernardi_2020.readings import Cells
from dumbbell.published.comparing import compared, listed
from dumbbell.published.judging import NOT_RUN, above, all_of, below
from dumbbell.published.model import Judged
from dumbbell.statistics.intervals import Interval

BASE_RTT_MS: Final = 30
"""Base RTT of scenario 2."""


def both_goals(cells: Cells) -> Judged:
    """High throughput and low RTT together, in scenario 1."""
    goodput, rtt = cells.intervals("goodput"), cells.intervals("rtt_p50")
    others = [cc for cc in ("reno", "cubic", "bbr") if cc in cells.algorithms]
    status = all_of(
        [above(goodput.get("bbr2"), 0.85 * 10e6), *(compared(rtt.get("bbr2"), "<", rtt[cc]) for cc in others)]
    )
    return Judged(status, f"{_mbit(goodput)}; median RTT {listed(rtt, 1.0, 'ms')}")


def unfilled(cells: Cells) -> Judged:
    """The link is used and the buffer is not full, in scenario 2."""
    waits, used = _of_bbrs(cells, "queue_p95"), _of_bbrs(cells, "utilisation")
    said = (
        f"{listed(waits, 1.0, 'ms')} (the buffer holds {cells.buffer_ms:g} ms); utilisation {listed(used, 0.01, '%')}"
    )
    statuses = [below(waits.get(cc), 0.5 * cells.buffer_ms) for cc in ("bbr", "bbr2")]
    statuses += [above(used.get(cc), 0.9) for cc in ("bbr", "bbr2")]
    return Judged(all_of(statuses), f"95th percentile of the queueing delay {said}")


def nearer(cells: Cells) -> Judged:
    """BBRv1 has more than BBRv2, which has less than 90 Mbit/s."""
    found = _of_bbrs(cells, "goodput")
    one, two = found.get("bbr"), found.get("bbr2")
    return Judged(all_of([compared(one, ">", two), below(two, 90e6)]), _mbit(found))


def more_queue(cells: Cells) -> Judged:
    """BBRv1's RTT is longer than BBRv2's."""
    found = _of_bbrs(cells, "rtt_p50")
    said = f"median RTT, of which {BASE_RTT_MS} ms are the path's: {listed(found, 1.0, 'ms')}"
    return Judged(compared(found.get("bbr"), ">", found.get("bbr2")), said)


def under_five(cells: Cells) -> Judged:
    """Reno and CUBIC stay under 5 Mbit/s."""
    found = cells.intervals("goodput")
    return Judged(all_of([below(found.get(cc), 5e6) for cc in ("reno", "cubic")]), _mbit(found))


def order_under_loss(cells: Cells) -> Judged:
    """BBRv1 has more than BBRv2, and that more than Reno and CUBIC."""
    found = cells.intervals("goodput")
    order = [compared(found.get("bbr"), ">", found.get("bbr2"))]
    order += [compared(found.get("bbr2"), ">", found[cc]) for cc in ("reno", "cubic") if cc in cells.algorithms]
    return Judged(all_of(order), _mbit(found))


def loses_packets(cells: Cells) -> Judged:
    """BBRv1 sends more again than BBRv2, which stays near 100 Mbit/s."""
    found, again = cells.intervals("goodput"), cells.intervals("retransmitted_share")
    # The link carries 95.6 Mbit/s of data at most, and the start is in the mean.
    status = all_of([compared(again.get("bbr"), ">", again.get("bbr2")), above(found.get("bbr2"), 85e6)])
    return Judged(status, f"sent again {listed(again, 0.01, '%')}; {_mbit(found)}")


def loses_throughput(cells: Cells) -> Judged:
    """BBRv1 has less than BBRv2."""
    found = cells.intervals("goodput")
    return Judged(compared(found.get("bbr"), "<", found.get("bbr2")), _mbit(found))


def reno_below(cells: Cells) -> Judged:
    """Reno has less than BBRv2."""
    reno, two = cells.interval("goodput", "reno"), cells.interval("goodput", "bbr2")
    if reno is None or two is None:
        return NOT_RUN
    return Judged(compared(reno, "<", two), _mbit({"reno": reno, "bbr2": two}))


def _of_bbrs(cells: Cells, metric: str) -> dict[str, Interval | None]:
    return {cc: cells.interval(metric, cc) for cc in BBRS if cc in cells.algorithms}


def _mbit(found: dict[str, Interval | None]) -> str:
    return listed(found, 1e6, "Mbit/s")
