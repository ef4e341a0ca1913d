"""BBR against BBRv2, and both against CUBIC: phases, RTT unfairness, buffers, RTTs, loss, bufferbloat."""

from __future__ import annotations

from typing import Final

from dumbbell.engines.names import EMULATE, SIMULATE, VIRTUAL
from dumbbell.published.aulbach_2020 import evidence, findings
from dumbbell.published.aulbach_2020.findings import BUFFER, CC, LOSS, PAIRS, RTT
from dumbbell.published.model import Axis, Part, Plot, Reproduction

ALL: Final = (SIMULATE, VIRTUAL, EMULATE)
RATE: Final = Axis("sending rate (Mbit/s)", 0, factor=1e6)
SHARE: Final = Axis("share", 0, 1)
_FAIR: Final = ((0.5, "fair share"),)


def _shares(key: str, x: Axis) -> tuple[Plot, ...]:
    """One for each pair, as theirs; those with BBRv3 beside them."""
    return tuple(
        Plot(f"{name}", "share of each", "lines", x, SHARE, "goodput_share", key, where={"case": name}, of=algorithms,
             marks=_FAIR)
        for name, algorithms in PAIRS.items()
    )  # fmt: skip


REPRODUCTION: Final = Reproduction(
    "aulbach-2020",
    "BBR against BBRv2, with BBRv3 beside it",
    "Aulbach: Evaluation of TCP BBR v2 Congestion Control Using Network Emulation (intermediate thesis talk), TU "
    "München, 2020; after Jaeger, Scholz, Raumer, Geyer, Carle: Reproducible measurements of TCP BBR congestion "
    "control, Computer Communications 144, 2019",
    (
        Part(
            "1", "Phases of one flow", "aulbach-2020/1.toml", engines=ALL,
            by_engine={EMULATE: {"repeat": 4, "record.acks": "auto"}, VIRTUAL: {"record.acks": "auto"}},
            quick={"repeat": 2}, evidence=evidence.phases, cpu_s=0.05,
            plots=(
                Plot("Sending rate", "plot 1", "series", Axis("time (s)", 0, 30), RATE, "sending rate", curves=CC),
                Plot("In flight", "our own", "series", Axis("time (s)", 0, 30), Axis("in flight (packets)", 0),
                     "inflight", curves=CC),
            ),
        ),
        Part(
            "2", "RTT unfairness: 10 and 50 ms, two flows of one algorithm", "aulbach-2020/2.toml",
            engines=ALL, by_engine={EMULATE: {"repeat": 3}}, quick={"repeat": 3}, cpu_s=0.1,
            evidence=evidence.windows,
            plots=(
                *(
                    Plot(f"{name}, a buffer of 2 BDP", "plot 2", "series", Axis("time (s)", 0, 50), RATE,
                         "sending rate", where={"case": name, BUFFER: "2 bdp"}, of=("short", "long"),
                         marks=((5.0, "fair share"),))
                    for name in ("BBR", "BBRv2", "BBRv3", "CUBIC")
                ),
                Plot("Share of the flow of 50 ms", "our own", "lines", Axis("buffer (BDP of 50 ms)", 0.1, 10, log=True),
                     SHARE, "goodput_share", BUFFER, "case", of=("long",), marks=_FAIR),
            ),
            notes=(
                "Buffer. It is not given, and decides. Any BBR's window is two BDPs of its own, of the RTT without a "
                "queue. Where there is room for the long flow's, its window keeps a queue in which the short flow's "
                "is too small to carry its share (the windows and the queue below part 2). That BBRv2 and BBRv3 keep "
                "less in flight only where packets are lost: not tested.",
            ),
        ),
        Part(
            "3", "Share against the buffer: CUBIC, BBR and its successors in pairs", "aulbach-2020/3.toml",
            engines=ALL, by_engine={EMULATE: {"repeat": 2, "duration": "60 s"}}, cpu_s=0.2,
            quick={"repeat": 2, "duration": "60 s"},
            plots=_shares(BUFFER, Axis("buffer (BDP)", 0.1, 10, log=True)),
            notes=(
                "Rate, RTT and duration are not given. Where CUBIC and BBR share a buffer of more than 5 BDP, the "
                "shares of one minute are not those of two: BBR has less. With up to 3.2 BDP they differ by a point or "
                "so, and BBRv2's by two at most, within the intervals (part 3 with duration = 60 s). Why they settle "
                "so late, which may be PROBE_RTT: not tested.",
            ),
        ),
        Part(
            "4", "Share and Jain's index against the RTT, in the same pairs", "aulbach-2020/4.toml",
            engines=ALL, by_engine={EMULATE: {"repeat": 2, "duration": "60 s"}}, cpu_s=0.2,
            quick={"repeat": 2, "duration": "60 s"},
            plots=(
                *_shares(RTT, Axis("RTT (ms)", 10, 1000, log=True, factor=1e-3)),
                Plot("Jain's index", "F_tp", "lines", Axis("RTT (ms)", 10, 1000, log=True, factor=1e-3),
                     Axis("Jain's index", 0.5, 1), "jain_index", RTT, "case"),
            ),
            notes=(
                "Buffer. It is not given, and decides: 1 BDP of each RTT. With a buffer of a fixed size a longer RTT "
                "is a smaller buffer in BDP, and the plot goes as that of part 3 read from right to left: BBR's share "
                "rises with the RTT, and BBRv2's crosses a half (part 4 with topology.bottleneck.buffer = 50 kB).",
                "At 1 s of RTT two minutes are 120 round trips, which is not long enough: in ten minutes BBR has 40 % "
                "beside CUBIC in place of a half, BBRv2 6 % in place of 9, and beside BBR 26 % in place of 21 (part 4 "
                "with duration = 600 s). So who has more of CUBIC and BBR is not the same at every RTT then.",
            ),
        ),
        Part(
            "5", "Throughput against random loss", "aulbach-2020/5.toml",
            engines=ALL, by_engine={EMULATE: {"repeat": 2, "duration": "20 s"}}, quick={"repeat": 2}, cpu_s=0.5,
            plots=(
                Plot("Throughput", "plot 5", "lines", Axis("random loss (%)", 0.001, 50, log=True, factor=0.01),
                     Axis("throughput (Mbit/s)", 0, 100, factor=1e6), "goodput", LOSS, CC),
            ),
        ),
        Part(
            "6", "Latency against the buffer", "aulbach-2020/6.toml",
            engines=ALL, by_engine={EMULATE: {"repeat": 2, "duration": "30 s"}},
            quick={"repeat": 1, "duration": "30 s"}, cpu_s=0.1,
            plots=(
                Plot("Median RTT", "plot 6", "lines", Axis("buffer (kB)", 0, 10_000, factor=1e3),
                     Axis("latency (ms)", 0, 6000), "rtt_p50", BUFFER, CC),
            ),
        ),
    ),
    findings.FINDINGS,
    (
        "The talk gives rate and RTT of plots 2, 5 and 6 only. Elsewhere they are 10 Mbit/s and 40 ms, those of plot "
        "6. The captions have the parameters of plots 5 and 6 the other way round; the axes decide.",
        "The buffers of plots 1 and 5 are not given: 2 BDP and 1 BDP.",
        "The latency of plot 6 is not defined. Here it is the median over time of the smoothed RTT, without the "
        "start's weight that a mean would have.",
        "Its three switches in a row are one bottleneck: the links beside it have no limit.",
        "Flows start together. Shares are of what was received in the whole time.",
        "BBRv3 did not exist; wherever BBRv2 is, it is beside it.",
    ),
)  # fmt: skip
