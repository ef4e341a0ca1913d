"""Code of slides-2017: the sentences below its parts."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from dumbbell.published.figures import Figures
from dumbbell.report import words

if TYPE_CHECKING:
    from dumbbell.studies import Study

CC: Final = "flows.0.cc"
RTT: Final = "topology.rtt"
LOSS: Final = "topology.bottleneck.loss"
BUFFER: Final = "topology.bottleneck.buffer"
START: Final = "flows.1.start"


def limits(study: Study) -> str:
    """The drops and the utilisation of the bottleneck, for rows without loss."""
    figures = Figures(study)
    said = []
    for rtt in figures.along(RTT):
        for cc in figures.along(CC):
            where = {RTT: rtt, LOSS: "0 %", CC: cc}
            drops, use = (figures.interval(metric, None, where) for metric in ("drops", "utilisation"))
            if drops is not None and use is not None:
                said.append(
                    f"{cc} at {rtt}: {drops.value:,.0f} dropped by the queue, utilisation {100 * use.value:.0f} %"
                )
    return "Without random loss. " + "; ".join(said) + "."


def again(study: Study) -> str:
    """The segments that two flows on unequal paths sent again, by setting."""
    figures = Figures(study)
    varied = {key: values for key in (RTT, BUFFER, START) if (values := figures.along(key))}
    said = []
    for setting in itertools.product(*varied.values()):
        for cc in figures.along(CC):
            where = {**dict(zip(varied, setting, strict=True)), CC: cc}
            found = [figures.interval("retransmitted_segments", of, where) for of in ("short", "long")]
            short, long = (None if one is None else f"{one.value:,.0f}" for one in found)
            if short is not None and long is not None:
                said.append(f"{', '.join(map(words.value, setting))}, {cc}: {short} and {long}")
    return f"Segments that the flow of the short path and that of the long one sent again: {'; '.join(said)}."


def datagrams(study: Study) -> str:
    """Fates of datagrams and of TCP's segments, by setting: means over runs."""
    figures = Figures(study)
    said = []
    for buffer in figures.along(BUFFER):
        for cc in figures.along(CC):
            where = {BUFFER: buffer, CC: cc}
            lost, jitter = (figures.interval(metric, "udp", where) for metric in ("udp_lost", "jitter"))
            sent_again = figures.interval("retransmitted_segments", "tcp", where)
            if lost is not None and jitter is not None and sent_again is not None:
                said.append(
                    f"{buffer}, {cc}: {lost.value:,.0f} datagrams lost, jitter {jitter.value:.2f} ms, "
                    f"{sent_again.value:,.0f} segments sent again"
                )
    return "; ".join(said) + "."
