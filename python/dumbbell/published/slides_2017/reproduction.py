"""Reno and CUBIC from first principles: a fat path with delay and loss, unequal paths, and UDP that gives no way."""

from __future__ import annotations

from typing import Any, Final

from dumbbell.engines.names import EMULATE, SIMULATE
from dumbbell.published.model import Axis, Part, Plot, Published, Reproduction
from dumbbell.published.slides_2017 import evidence, findings
from dumbbell.published.slides_2017.findings import BUFFER, CC, LOSS, RTT, UDP

BOTH: Final = (SIMULATE, EMULATE)

_ROWS: Final = (
    ("15 ms", "0 %", "reno", 903e6, 0),
    ("15 ms", "0 %", "cubic", 906e6, 0),
    ("150 ms", "0 %", "reno", 109e6, 575),
    ("150 ms", "0 %", "cubic", 206e6, 575),
    ("15 ms", "1 %", "cubic", 4.55e6, 234),
    ("150 ms", "1 %", "cubic", 1.15e6, 58),
)
"""Delay, loss, algorithm, bit/s, retransmitted segments."""


def _table(rtts: dict[str, str]) -> tuple[Published, ...]:
    return tuple(
        Published({RTT: rtts[delay], LOSS: loss, CC: cc}, metric, None, value, "table")
        for delay, loss, cc, rate, again in _ROWS
        for metric, value in (("goodput", rate), ("retransmitted_segments", float(again)))
    )


_UNEQUAL: Final[dict[str, Any]] = {RTT: ["15 ms", "150 ms"], BUFFER: "1000 packets"}
"""The cell that is compared with the slides' numbers: delays and buffer as in the table."""

_FAIRNESS: Final = tuple(
    Published({**_UNEQUAL, CC: cc}, metric, of, value, "fairness")
    for cc, jain, fast, slow in (("cubic", 0.69, 7.93e6, 1.43e6), ("reno", 0.51, 8.79e6, 0.145e6))
    for metric, of, value in (("jain_index", None, jain), ("goodput", "short", fast), ("goodput", "long", slow))
)

_BESIDE_UDP: Final = tuple(
    Published({UDP: "10.286 Mbit/s", BUFFER: "1000 packets", CC: "reno"}, "goodput", of, value, "TCP against UDP")
    for of, value in (("tcp", 0.54e6), ("udp", 9.3e6))
)

_CWND: Final = tuple(
    Plot(f"{title} of {cc.upper()}, 1 Gbit/s and 150 ms", "tcp_probe", "series", Axis("time (s)", 0, 60), Axis(unit, 0),
         signal, where={CC: cc, RTT: "150 ms", LOSS: "0 %"})
    for cc in ("reno", "cubic")
    for title, unit, signal in (("Congestion window", "packets", "cwnd"),)
)  # fmt: skip

QUICK: Final = {"repeat": 1, "duration": "30 s"}

REPRODUCTION: Final = Reproduction(
    "slides-2017",
    "Reno and CUBIC: delay, loss, unequal paths, and TCP beside UDP",
    "TCP: Understanding Congestion Control (course slides), 2017",
    (
        Part(
            "table", "1 Gbit/s with 15 and 150 ms, without loss and with 1 %", "slides-2017/table.toml",
            engines=BOTH, quick=QUICK, published=_table({"15 ms": "15 ms", "150 ms": "150 ms"}), plots=_CWND,
            evidence=evidence.limits, cpu_s=2,
            notes=(
                "Two rows fix the RTT, because only the RTT, the segment and the loss count with 1 % loss: 1.15 "
                "Mbit/s and 58 retransmissions are those of 150 ms of RTT; 4.55 Mbit/s and 234 are those of about 30 "
                'ms (`table-one-way`). No one reading of "delay" gives both.',
                "150 ms without loss. The receive window is never the limit here. With that of Linux's defaults "
                "(`table-window`) Reno and CUBIC come near to what was printed. Both had the same 575 "
                "retransmissions: the packets that slow start loses once, when it overruns the buffer. Their number "
                "depends on the buffer, which is not given.",
                "0 retransmissions at 15 ms. The receive window alone doesn't explain them: with that of Linux's "
                "defaults and a buffer of 1,000 packets both algorithms still lose packets (`table-window`). With a "
                "buffer of 1,500 packets beside it neither loses any: the window lets some 2,680 segments be in "
                "flight, less than the path's 1,240 and the buffer's. Simulated for 20 s, both carry 951 Mbit/s with 0 "
                "retransmissions, limited by the receive window 98 and 99 % of the time. It takes both: such a window, "
                "and a buffer larger than Mininet's.",
                "903 and 906 of 1,000 Mbit/s. A link of 1 Gbit/s carries 956 Mbit/s of TCP's data in frames of 1514 B; "
                "Mininet's shaper and the machine take the rest.",
            ),
        ),
        Part(
            "table-one-way", "The same with the delay in each direction: RTTs of 30 and 300 ms",
            "slides-2017/table.toml",
            {
                "name": "slides-2017-table-one-way",
                "sweep": {RTT: ["30 ms", "300 ms"], LOSS: ["0 %", "1 %"], CC: ["reno", "cubic"]},
            },
            BOTH, quick=QUICK, published=_table({"15 ms": "30 ms", "150 ms": "300 ms"}), variant_of="table",
            evidence=evidence.limits, cpu_s=2,
        ),
        Part(
            "table-window",
            "The same with the receive window of Linux's defaults",
            "slides-2017/table.toml",
            {"name": "slides-2017-table-window", "hosts": {"sysctl": {"net.ipv4.tcp_rmem": "4096 131072 6291456"}}},
            quick=QUICK,
            published=_table({"15 ms": "15 ms", "150 ms": "150 ms"}),
            variant_of="table",
            evidence=evidence.limits,
            cpu_s=2,
            notes=(
                "6 MiB of buffer are about 3 MB of window: 160 Mbit/s at 150 ms, whatever the algorithm.",
            ),
        ),
        Part(
            "fairness", "Two flows of one algorithm with unequal paths, 10 Mbit/s", "slides-2017/fairness.toml",
            engines=BOTH, by_engine={EMULATE: {"repeat": 2}}, quick={"repeat": 2}, published=_FAIRNESS, cpu_s=0.2,
            plots=tuple(
                Plot(f"Jain's index, {rtt[0]} and {rtt[1]}", "our own", "bars", Axis("buffer"),
                     Axis("Jain's index", 0.5, 1), "jain_index", BUFFER, CC, where={RTT: rtt})
                for rtt in (["15 ms", "30 ms"], ["15 ms", "60 ms"], ["15 ms", "150 ms"])
            ),
            notes=(
                "RTTs and buffer are not given. The printed rates are compared with those of the table, 15 and 150 ms "
                "and 1,000 packets, which are 1.2 s at this rate: next to that the paths hardly differ. With 20 "
                "packets, 24 ms, both algorithms are about as unfair as printed of Reno; all cells are in the plots "
                "and in the finding.",
                "A simulated run of Reno or CUBIC without random loss hardly differs from its repetitions: two flows "
                "can lock into step (phase effects; Floyd and Jacobson 1991), which a real machine's jitter would "
                "undo.",
            ),
        ),
        Part(
            "udp", "A TCP flow beside 10 Mbit/s of UDP on 10 Mbit/s", "slides-2017/udp.toml",
            engines=BOTH, by_engine={EMULATE: {"repeat": 2, "duration": "30 s"}}, quick={"repeat": 2},
            published=_BESIDE_UDP, cpu_s=0.05,
            plots=(
                Plot("Goodput of TCP, 10.286 Mbit/s of UDP as frames", "our own", "bars", Axis("buffer"),
                     Axis("goodput (Mbit/s)", 0, factor=1e6), "goodput", BUFFER, CC,
                     where={UDP: "10.286 Mbit/s"}, of=("tcp",)),
            ),
            notes=(
                "Both printed rates together are 10.1 Mbit/s as frames: their bottleneck carried more than 10 Mbit/s, "
                'and the slides say only "about 10". TCP gets the rest that UDP leaves: the difference of two numbers '
                "that are nearly equal.",
                "Our UDP is evenly spaced, to the packet, and takes each place in the queue as it becomes free; a "
                "program's datagrams come in bursts, and TCP's packets find room between them.",
            ),
        ),
    ),
    findings.FINDINGS,
    (
        "Runs last 60 s if no duration is given. iperf's rates are of data, as goodput is here.",
        "The buffer is not given: ours is 1,000 packets, Mininet's default, and smaller ones as well where two flows "
        "share it.",
        "The slides do not say which algorithm ran beside UDP: both are here, and the printed numbers are compared "
        "with Reno's.",
    ),
)  # fmt: skip
