"""The findings of slides-2017, judged by our runs."""

from __future__ import annotations

from typing import Final

from dumbbell.published.comparing import compared, listed
from dumbbell.published.figures import Figures
from dumbbell.published.judging import NOT_RUN, above, all_of, below, told
from dumbbell.published.model import Finding, Judged, Status, Studies

CC: Final = "flows.0.cc"
RTT: Final = "topology.rtt"
LOSS: Final = "topology.bottleneck.loss"
BUFFER: Final = "topology.bottleneck.buffer"
UDP: Final = "flows.1.rate"
_NAMES: Final = ("reno", "cubic")


def _alike(studies: Studies) -> Judged:
    if "table" not in studies:
        return NOT_RUN
    figures = Figures(studies["table"])
    found = {cc: figures.interval("goodput", None, {RTT: "15 ms", LOSS: "0 %", CC: cc}) for cc in _NAMES}
    return Judged(all_of([above(one, 0.85e9) for one in found.values()]), listed(found, 1e6, "Mbit/s"))


def _faster(studies: Studies) -> Judged:
    if "table" not in studies:
        return NOT_RUN
    figures = Figures(studies["table"])
    found = {cc: figures.interval("goodput", None, {RTT: "150 ms", LOSS: "0 %", CC: cc}) for cc in _NAMES}
    status = all_of([compared(found["cubic"], ">", found["reno"]), *(below(one, 0.7e9) for one in found.values())])
    return Judged(status, listed(found, 1e6, "Mbit/s"))


def _loss(studies: Studies) -> Judged:
    if "table" not in studies:
        return NOT_RUN
    figures = Figures(studies["table"])
    found = {rtt: figures.interval("goodput", None, {RTT: rtt, LOSS: "1 %", CC: "cubic"}) for rtt in figures.along(RTT)}
    return Judged(all_of([below(one, 0.01e9) for one in found.values()]), f"CUBIC: {listed(found, 1e6, 'Mbit/s')}")


def _unfair(studies: Studies) -> Judged:
    if "fairness" not in studies:
        return NOT_RUN
    figures = Figures(studies["fairness"])
    statuses, said = [], []
    for rtt in figures.along(RTT):
        for buffer in figures.along(BUFFER):
            reno, cubic = (figures.interval("jain_index", None, {RTT: rtt, BUFFER: buffer, CC: cc}) for cc in _NAMES)
            if reno is None or cubic is None:
                continue
            statuses.append(compared(cubic, ">", reno))
            said.append(f"{' and '.join(rtt)}, {buffer}: Reno {told(reno)}, CUBIC {told(cubic)}")
    if not statuses:
        return NOT_RUN
    # Neither RTTs nor buffer are given: the status is known only if it is the same in all settings.
    status = statuses[0] if len(set(statuses)) == 1 else Status.UNKNOWN
    return Judged(status, "Jain's index: " + "; ".join(said))


def _crowded_out(studies: Studies) -> Judged:
    if "udp" not in studies:
        return NOT_RUN
    figures = Figures(studies["udp"])
    statuses, said = [], []
    for buffer in figures.along(BUFFER):
        for cc in _NAMES:
            where = {BUFFER: buffer, CC: cc, UDP: "10.286 Mbit/s"}
            tcp, udp = (figures.interval("goodput", of, where) for of in ("tcp", "udp"))
            if tcp is None or udp is None:
                continue
            statuses += [below(tcp, 1e6), above(udp, 9e6)]
            said.append(f"{buffer}, {cc}: TCP {told(tcp, 1e6)}, UDP {told(udp, 1e6)}")
    return Judged(all_of(statuses), "Mbit/s: " + "; ".join(said)) if statuses else NOT_RUN


FINDINGS: Final = (
    Finding("At 15 ms without loss Reno and CUBIC alike fill the link (more than 85 % of it)", _alike),
    Finding("At 150 ms without loss neither does, and CUBIC carries more than Reno", _faster),
    Finding("1 % loss leaves CUBIC less than 1 % of the link, at either delay", _loss),
    Finding("With unequal paths both are unfair, Reno more than CUBIC", _unfair),
    Finding("Beside UDP of the link's rate TCP is left with less than a tenth", _crowded_out),
)
