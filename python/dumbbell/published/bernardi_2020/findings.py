"""The findings of bernardi-2020, each judged by every reading of its scenario that was run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from dumbbell.published.bernardi_2020 import averages, one_core, over_time
from dumbbell.published.bernardi_2020.readings import Cells, Reading, judged_by
from dumbbell.published.model import Finding, Judged

_TEXT: Final = "text"
_SCRIPT: Final = "script"
_GOOGLES: Final = "script, Google's BBRv2"
FIRST: Final = (Reading("1", _TEXT), Reading("1-script", _SCRIPT, before_s=0.1))
FIRST_GOOGLE: Final = Reading("1-google", _GOOGLES, 0)
SECOND: Final = (
    Reading("2", _TEXT),
    Reading("2-script", _SCRIPT, buffer_ms=34),
    Reading("2-google", _GOOGLES, 0, buffer_ms=34),
)
JITTER: Final = Reading("2-jitter", "jitter of 0.1 ms")
THIRD: Final = (Reading("3", _TEXT), Reading("3-script", _SCRIPT), Reading("3-uncorrelated", "no correlation"))
CHANGED_LOSS: Final = (Reading("3-netem", "netem's correlation"), Reading("3-minute", "a minute"))
THIRD_GOOGLE: Final = Reading("3-google", _GOOGLES, 0)
FIFTH: Final = (Reading("5", _TEXT), Reading("5-script", _SCRIPT), Reading("5-50ms", "50 ms"))
FIFTH_GOOGLE: Final = Reading("5-google", _GOOGLES, 0)


def _each(
    text: str, judge: Callable[[Cells], Judged], readings: Sequence[Reading], printed: str = "", turns: str = ""
) -> tuple[Finding, ...]:
    """One for each reading."""
    return tuple(Finding(text, judged_by(one, judge), printed, turns, one.name) for one in readings)


_FIGURES_ONLY: Final = "figures only"
_NOTHING: Final = "nothing that was tested"

FINDINGS: Final = (
    *_each(
        "1: Reno's window is a saw-tooth: halved, then growing at an even pace", over_time.reno, FIRST, _FIGURES_ONLY,
        "a buffer as large as tc made it: 20 s then have only one cut (part 1-script)",
    ),
    *_each(
        "1: Reno has no timeouts", over_time.no_timeouts, FIRST, _FIGURES_ONLY,
        f"{_NOTHING}: neither the larger buffer nor whole bursts (part 1-script)",
    ),
    *_each(
        "1: CUBIC's window grows in a concave, then a convex way", over_time.cubic, FIRST, _FIGURES_ONLY,
        "which cut is looked at. After every other one both shapes are there; after those between, the next cut comes "
        "before the convex part (part 1: half of the times between two cuts; the figures of part 1-script)",
    ),
    *_each(
        "1: BBRv1 oscillates at the link's limit, and drains the queue again", over_time.oscillates, FIRST,
        _FIGURES_ONLY, f"{_NOTHING}: neither the larger buffer nor whole bursts (part 1-script)",
    ),
    *_each(
        "1: BBRv2 has high throughput and low RTT together (lower than the others)", averages.both_goals,
        (*FIRST, FIRST_GOOGLE), _FIGURES_ONLY,
        "the bound of high throughput: BBRv2 has the lowest RTT, and less goodput than CUBIC and BBRv1 (parts 1 and "
        "1-script); here 85 % of the rate are high",
    ),
    *_each(
        "1: cwnd, RTT and queue length move together (of BBR: RTT and queue)", over_time.moves_together, FIRST,
        _FIGURES_ONLY, "BBR's window, which does not move with the queue (parts 1 and 1-script), if it were asked for",
    ),
    *_each(
        "2: BBRv1 and v2 find the bottleneck without filling the buffer", averages.unfilled, SECOND, _FIGURES_ONLY,
        "the start, which fills it: the bound is the 95th percentile of the delay, half of the buffer (not tested "
        "with another)",
    ),
    *_each(
        "2: BBRv2's PROBE_RTT is more frequent and shallower: half a BDP, not 4 segments", over_time.rests,
        (*SECOND, JITTER), "every 5 s, not 10; in BBRv1's figure after 10.5, 21.9, 33.7 and 44.7 s",
        "RTTs that equal the least one again: each puts PROBE_RTT off, and with a jitter of 0.1 ms two runs of ten "
        "have 6 and 7 in place of 11 (part 2-jitter)",
    ),
    *_each(
        "2: BBRv1 stays nearer 100 Mbit/s, BBRv2 around 80 Mbit/s", averages.nearer, SECOND, "some 95 and 80 Mbit/s",
        f"{_NOTHING}: neither their buffer with whole bursts (part 2-script) nor Google's own BBRv2 (part 2-google). "
        "BBRv1 has more in each, but BBRv2 never less than 90",
    ),
    *_each(
        "2: BBRv1 holds more queue than BBRv2", averages.more_queue, SECOND, _FIGURES_ONLY,
        f"{_NOTHING}: neither whole bursts (part 2-script) nor Google's own BBRv2 (part 2-google)",
    ),
    *_each(
        "3: with 0.5 % loss Reno and CUBIC stay under 5 Mbit/s", averages.under_five, (*THIRD, *CHANGED_LOSS),
        "under 5 Mbit/s",
        "time and what loss takes. In a minute they do (part 3-minute); in 10 s the first loss decides (part 3). "
        "Losses of whole bursts are fewer, and both have more (part 3-script). netem's own correlation of 25 % takes "
        "hardly any packet, and both fill the link (part 3-netem)",
    ),
    *_each(
        "3: BBRv1 is affected least, BBRv2 less than Reno and CUBIC", averages.order_under_loss,
        (*THIRD, THIRD_GOOGLE), _FIGURES_ONLY,
        "how many runs there are: ten that lose whole bursts leave it open, and with 40 it holds (part 3-script, and "
        "with repeat = 40). Without losses there is nothing to order (part 3-netem)",
    ),
    Finding(
        "4: on one core BBRv1 does far worse than BBRv2 (below 80 % of it)", one_core.far_worse,
        "BBRv1 some 90 Mbit/s with more cores and some 17 with one, BBRv2 some 90",
        "a slower core, or one with more to do beside (not tested)", _TEXT,
    ),
    Finding(
        "4: the testbed detects it: in each run on one CPU a check of what happened finds something (not `cpus`, which "
        "alone makes each of them suspect)",
        one_core.detected, "nothing: theirs does not",
        "not known. On one CPU of two that had little else to do, `traffic-starved` finds something in each run "
        "(part 4). Whether a quicker core would change that: not tested", _TEXT,
    ),
    *_each(
        "5: in a shallow buffer BBRv1 loses more packets than BBRv2, which stays near 100 Mbit/s (above 85)",
        averages.loses_packets, (*FIFTH, FIFTH_GOOGLE), _FIGURES_ONLY,
        "the kernel: in Linux 6.1 BBRv1 loses less than Google's BBRv2, in 6.12 more than ours (part 5-google). The "
        "RTT (part 5-50ms) and whole bursts (part 5-script) change nothing",
    ),
    *_each(
        "5: BBRv1 then loses throughput, and has less than BBRv2", averages.loses_throughput, (*FIFTH, FIFTH_GOOGLE),
        _FIGURES_ONLY,
        "not known. What BBRv1 loses costs it no goodput at 200 ms (part 5) or at 50 ms (parts 5-50ms, "
        "5-script and 5-google)",
    ),
    *_each(
        "5: Reno halves its window and its throughput falls with it, below BBRv2's", averages.reno_below, FIFTH,
        _FIGURES_ONLY,
        "the RTT decides how far: Reno has a quarter of the link at 200 ms (part 5) and most of it at 50 ms (5-50ms)",
    ),
)  # fmt: skip
