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
SECOND: Final = (Reading("2", _TEXT), Reading("2-script", _SCRIPT), Reading("2-google", _GOOGLES, 0))
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

FINDINGS: Final = (
    *_each(
        "1: Reno's window is a saw-tooth: halved, then growing at an even pace", over_time.reno, FIRST, _FIGURES_ONLY,
        "not known",
    ),
    *_each("1: Reno has no timeouts", over_time.no_timeouts, FIRST, _FIGURES_ONLY, "not known"),
    *_each(
        "1: CUBIC's window grows in a concave, then a convex way", over_time.cubic, FIRST, _FIGURES_ONLY, "not known",
    ),
    *_each(
        "1: BBRv1 oscillates at the link's limit, and drains the queue again", over_time.oscillates, FIRST,
        _FIGURES_ONLY, "not known",
    ),
    *_each(
        "1: BBRv2 has high throughput and low RTT together (lower than the others)", averages.both_goals,
        (*FIRST, FIRST_GOOGLE), _FIGURES_ONLY, "not known",
    ),
    *_each(
        "1: cwnd, RTT and queue length move together (of BBR: RTT and queue)", over_time.moves_together, FIRST,
        _FIGURES_ONLY, "not known",
    ),
    *_each(
        "2: BBRv1 and v2 find the bottleneck without filling the buffer", averages.unfilled, SECOND, _FIGURES_ONLY,
        "not known",
    ),
    *_each(
        "2: BBRv2's PROBE_RTT is more frequent and shallower: half a BDP, not 4 segments", over_time.rests,
        (*SECOND, JITTER), "every 5 s, not 10; in BBRv1's figure after 10.5, 21.9, 33.7 and 44.7 s", "not known",
    ),
    *_each(
        "2: BBRv1 stays nearer 100 Mbit/s, BBRv2 around 80 Mbit/s", averages.nearer, SECOND,
        "some 95 and 80 Mbit/s", "not known",
    ),
    *_each("2: BBRv1 holds more queue than BBRv2", averages.more_queue, SECOND, _FIGURES_ONLY, "not known"),
    *_each(
        "3: with 0.5 % loss Reno and CUBIC stay under 5 Mbit/s", averages.under_five, (*THIRD, *CHANGED_LOSS),
        "under 5 Mbit/s", "not known",
    ),
    *_each(
        "3: BBRv1 is affected least, BBRv2 less than Reno and CUBIC", averages.order_under_loss,
        (*THIRD, THIRD_GOOGLE), _FIGURES_ONLY, "not known",
    ),
    Finding(
        "4: on one core BBRv1 does far worse than BBRv2 (below 80 % of it)", one_core.far_worse,
        "BBRv1 some 17 Mbit/s, BBRv2 some 90", "not known", _TEXT,
    ),
    Finding("4: the testbed detects it: no run on one CPU is valid", one_core.detected, "nothing", "not known", _TEXT),
    *_each(
        "5: in a shallow buffer BBRv1 loses more packets than BBRv2, which stays near 100 Mbit/s (above 85)",
        averages.loses_packets, (*FIFTH, FIFTH_GOOGLE), _FIGURES_ONLY, "not known",
    ),
    *_each(
        "5: BBRv1 then loses throughput, and has less than BBRv2", averages.loses_throughput, (*FIFTH, FIFTH_GOOGLE),
        _FIGURES_ONLY, "not known",
    ),
    *_each(
        "5: Reno halves its window and its throughput falls with it, below BBRv2's", averages.reno_below, FIFTH,
        _FIGURES_ONLY, "not known",
    ),
)  # fmt: skip
