"""Evidence from our runs of slides-2017 on its differences from the printed numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.published.figures import Figures
from dumbbell.published.slides_2017.findings import BUFFER, CC, LOSS, RTT, paths

if TYPE_CHECKING:
    from dumbbell.studies import Study


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
    said = []
    for name, where in paths(figures):
        for cc in figures.along(CC):
            found = [figures.interval("retransmitted_segments", of, {**where, CC: cc}) for of in ("short", "long")]
            short, long = (None if one is None else f"{one.value:,.0f}" for one in found)
            if short is not None and long is not None:
                said.append(f"{name}, {cc}: {short} and {long}")
    return f"Segments that the flow of the short path and that of the long one sent again: {'; '.join(said)}."


def datagrams(study: Study) -> str:
    """What became of the datagrams and of TCP's segments, by setting: means over runs."""
    figures = Figures(study)
    said = []
    for buffer in figures.along(BUFFER):
        for cc in figures.along(CC):
            where = {BUFFER: buffer, CC: cc}
            lost, jitter = (figures.interval(metric, "udp", where) for metric in ("udp_lost", "jitter"))
            again = figures.interval("retransmitted_segments", "tcp", where)
            if lost is not None and jitter is not None and again is not None:
                said.append(
                    f"{buffer}, {cc}: {lost.value:,.0f} datagrams lost, jitter {jitter.value:.2f} ms, "
                    f"{again.value:,.0f} segments sent again"
                )
    return "; ".join(said) + "."
