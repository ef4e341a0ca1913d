"""Reno and CUBIC from first principles: a fat path with delay and loss, unequal paths, and UDP that gives no way."""

from __future__ import annotations

from typing import Any, Final

from dumbbell.engines.names import EMULATE, SIMULATE, VIRTUAL
from dumbbell.published.model import Axis, Part, Plot, Published, Reproduction
from dumbbell.published.slides_2017 import evidence, findings, notes
from dumbbell.published.slides_2017.findings import AGAIN, BUFFER, CC, JITTER_MS, LOSS, LOST, RTT
from dumbbell.report import words

ALL: Final = (SIMULATE, VIRTUAL, EMULATE)

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
        for metric, value in (("throughput", rate), ("retransmitted_segments", float(again)))
    )


AS_RTT: Final = {"15 ms": "15 ms", "150 ms": "150 ms"}
WINDOW: Final = {"sysctl": {"net.ipv4.tcp_rmem": "4096 131072 6291456"}}
"""The receive buffers of Linux's defaults."""
DEEP: Final = "3400 packets"
FARTHEST: Final = ["30 ms", "300 ms"]


def _fairness(**where: Any) -> tuple[Published, ...]:
    """The printed numbers of both algorithms, beside the cells with these values."""
    rates = {"cubic": (0.69, 7.93e6, 1.43e6), "reno": (0.51, 8.79e6, 0.145e6)}
    cell = {RTT: where["rtt"], **({BUFFER: where["buffer"]} if "buffer" in where else {})}
    return tuple(
        Published({**cell, CC: cc}, metric, of, value, "fairness")
        for cc, (jain, fast, slow) in rates.items()
        for metric, of, value in (
            ("jain_index", None, jain),
            ("throughput", "short", fast),
            ("throughput", "long", slow),
            ("retransmitted_segments", "short", float(AGAIN[cc][0])),
            ("retransmitted_segments", "long", float(AGAIN[cc][1])),
        )
    )


def _beside_udp(buffer: str) -> tuple[Published, ...]:
    where = {BUFFER: buffer, CC: "reno"}
    return (
        Published(where, "goodput", "tcp", 0.54e6, "TCP against UDP"),
        Published(where, "goodput", "udp", 9.3e6, "TCP against UDP"),
        Published(where, "retransmitted_segments", "tcp", 0.0, "TCP against UDP"),
        Published(where, "udp_lost", "udp", float(LOST[0]), "TCP against UDP"),
        Published(where, "jitter", "udp", JITTER_MS, "TCP against UDP"),
    )


_CWND: Final = tuple(
    Plot(f"Congestion window of {cc.upper()}, 1 Gbit/s and 150 ms", "tcp_probe", "series", Axis("time (s)", 0, 60),
         Axis("packets", 0), "cwnd", where={CC: cc, RTT: "150 ms", LOSS: "0 %"})
    for cc in ("reno", "cubic")
)  # fmt: skip


def _over_time(cc: str, where: dict[str, Any]) -> tuple[Plot, ...]:
    """Windows and rates of two flows with unequal paths."""
    return tuple(
        Plot(f"{title} of {cc.upper()}, {said}", "our own", "series", Axis("time (s)", 0, 180), axis, signal,
             where={CC: cc, **where}, of=("short", "long"))
        for title, axis, signal in (
            ("Goodput", Axis("goodput (Mbit/s)", 0, 10, factor=1e6), "goodput"),
            ("Congestion windows", Axis("packets", 0), "cwnd"),
        )
        for said in (f"{words.value(where[RTT])}, {where.get(BUFFER, DEEP)}",)
    )  # fmt: skip


def _udp_plots(buffer: str) -> tuple[Plot, ...]:
    return (
        Plot("Goodput of both", "our own", "bars", Axis("buffer"), Axis("goodput (Mbit/s)", 0, factor=1e6), "goodput",
             BUFFER, CC, of=("tcp", "udp")),
        Plot(f"Goodput of Reno and UDP, {buffer}", "our own", "series", Axis("time (s)", 0, 60),
             Axis("goodput (Mbit/s)", 0, factor=1e6), "goodput", where={BUFFER: buffer, CC: "reno"},
             of=("tcp", "udp")),
    )  # fmt: skip


QUICK: Final = {"repeat": 1, "duration": "30 s"}
_FAST: Final[dict[str, dict[str, Any]]] = {VIRTUAL: {"duration": "20 s"}, EMULATE: {"repeat": 3}}
"""A run at 1 Gbit/s has millions of packets."""

REPRODUCTION: Final = Reproduction(
    "slides-2017",
    "Reno and CUBIC: delay, loss, unequal paths, and TCP beside UDP",
    "TCP: Understanding Congestion Control (course slides), 2017",
    (
        Part(
            "table", "1 Gbit/s with 15 and 150 ms, without loss and with 1 %", "slides-2017/table.toml",
            engines=ALL, by_engine=_FAST, quick=QUICK, published=_table(AS_RTT), plots=_CWND,
            evidence=evidence.limits, notes=notes.TABLE, cpu_s=2,
        ),
        Part(
            "table-one-way", "The same with the delay in each direction: RTTs of 30 and 300 ms",
            "slides-2017/table.toml",
            {
                "name": "slides-2017-table-one-way",
                "sweep": {RTT: ["30 ms", "300 ms"], LOSS: ["0 %", "1 %"], CC: ["reno", "cubic"]},
            },
            ALL, _FAST, quick=QUICK, published=_table({"15 ms": "30 ms", "150 ms": "300 ms"}), variant_of="table",
            evidence=evidence.limits, cpu_s=2,
        ),
        Part(
            "table-window", "The same with the receive window of Linux's defaults", "slides-2017/table.toml",
            {"name": "slides-2017-table-window", "hosts": WINDOW},
            ALL, _FAST, quick=QUICK, published=_table(AS_RTT), variant_of="table", evidence=evidence.limits, cpu_s=2,
        ),
        Part(
            "table-window-deep", "The same with that window and a buffer of 3,400 packets", "slides-2017/table.toml",
            {"name": "slides-2017-table-window-deep", "hosts": WINDOW, BUFFER: DEEP},
            ALL, _FAST, quick=QUICK, published=_table(AS_RTT), variant_of="table", evidence=evidence.limits, cpu_s=2,
        ),
        Part(
            "fairness", "Two flows of one algorithm with unequal paths, 10 Mbit/s", "slides-2017/fairness.toml",
            engines=ALL, by_engine={EMULATE: {"repeat": 2}}, quick={"repeat": 2},
            published=_fairness(rtt=FARTHEST, buffer=DEEP), cpu_s=0.2, notes=notes.FAIRNESS, evidence=evidence.again,
            plots=(
                *(
                    Plot(f"Jain's index, {words.value(rtt)}", "our own", "bars", Axis("buffer"),
                         Axis("Jain's index", 0.5, 1), "jain_index", BUFFER, CC, where={RTT: rtt})
                    for rtt in (["15 ms", "30 ms"], ["15 ms", "150 ms"], FARTHEST)
                ),
                *(plot for cc in ("reno", "cubic") for plot in _over_time(cc, {RTT: FARTHEST, BUFFER: DEEP})),
            ),
        ),
        Part(
            "fairness-deep", "The same by Linux 6.12, with a buffer of 3,400 packets", "slides-2017/fairness.toml",
            {
                "name": "slides-2017-fairness-deep", BUFFER: DEEP,
                "sweep": {
                    RTT: [["15 ms", "150 ms"], FARTHEST],
                    "zip": [{CC: ["reno", "cubic"], "flows.1.cc": ["reno", "cubic"]}],
                },
            },
            (VIRTUAL,), quick={"repeat": 2}, published=_fairness(rtt=FARTHEST), variant_of="fairness",
            evidence=evidence.again,
        ),
        Part(
            "fairness-window", "The same with the receive window of Linux's defaults", "slides-2017/fairness.toml",
            {
                "name": "slides-2017-fairness-window", BUFFER: DEEP, "hosts": WINDOW,
                "sweep": {
                    RTT: [["15 ms", "150 ms"], FARTHEST],
                    "zip": [{CC: ["reno", "cubic"], "flows.1.cc": ["reno", "cubic"]}],
                },
            },
            (SIMULATE, VIRTUAL), quick={"repeat": 2}, published=_fairness(rtt=FARTHEST), variant_of="fairness",
            cpu_s=0.2, evidence=evidence.again,
        ),
        Part(
            "fairness-late", "The same by Linux 6.12, and the slow flow starts 10 s later", "slides-2017/fairness.toml",
            {
                "name": "slides-2017-fairness-late", BUFFER: DEEP, "flows.1.start": "10 s",
                "sweep": {
                    RTT: [["15 ms", "150 ms"]],
                    "zip": [{CC: ["reno", "cubic"], "flows.1.cc": ["reno", "cubic"]}],
                },
            },
            (VIRTUAL, SIMULATE), quick={"repeat": 2}, published=_fairness(rtt=["15 ms", "150 ms"]),
            variant_of="fairness", evidence=evidence.again,
        ),
        Part(
            "fairness-mininet", "The same on links as Mininet makes them: 1,000 packets are whole bursts",
            "slides-2017/fairness.toml",
            {
                "name": "slides-2017-fairness-mininet", BUFFER: "1000 packets", "emulate.links": "mininet",
                "sweep": {
                    RTT: [["15 ms", "150 ms"]],
                    "zip": [{CC: ["reno", "cubic"], "flows.1.cc": ["reno", "cubic"]}],
                },
            },
            (VIRTUAL,), quick={"repeat": 2}, published=_fairness(rtt=["15 ms", "150 ms"]), variant_of="fairness",
            evidence=evidence.again,
        ),
        Part(
            "udp", "A TCP flow beside 10 Mbit/s of UDP on 10 Mbit/s, in datagrams of 8 kB", "slides-2017/udp.toml",
            engines=ALL, by_engine={EMULATE: {"repeat": 2, "duration": "30 s"}}, quick={"repeat": 2},
            published=_beside_udp("1000 packets"), plots=_udp_plots("1000 packets"), notes=notes.UDP,
            evidence=evidence.datagrams, cpu_s=0.1,
        ),
        Part(
            "udp-bursts", "The same with UDP in bursts of 100 ms", "slides-2017/udp-bursts.toml",
            engines=ALL, by_engine={EMULATE: {"repeat": 2, "duration": "30 s"}}, quick={"repeat": 2},
            published=_beside_udp("20000 packets"), plots=_udp_plots("20000 packets"), variant_of="udp",
            evidence=evidence.datagrams, cpu_s=0.1,
        ),
        Part(
            "udp-short", "The same with datagrams that fit into a packet, 1,470 B", "slides-2017/udp.toml",
            {"name": "slides-2017-udp-short", "flows.1.payload": "1470 B", "flows.1.rate": "10.286 Mbit/s"},
            ALL, {EMULATE: {"repeat": 2, "duration": "30 s"}}, quick={"repeat": 2},
            published=_beside_udp("1000 packets"), variant_of="udp", evidence=evidence.datagrams, cpu_s=0.1,
        ),
    ),
    findings.FINDINGS,
    (
        "Runs last 60 s if no duration is given.",
        "The printed rates of TCP are the sender's: iperf's client counts what it has written to its socket. Beside "
        "them and in the findings is what our sender sent, `throughput`, which counts what is sent again, too, unlike "
        "iperf: with 1 % loss it is 1 % above iperf's. Those beside UDP are the receivers', as iperf's server prints "
        "them of UDP; beside them is goodput.",
        "The buffer is not given: ours is 1,000 packets, Mininet's default, and others as well where two flows share "
        "it.",
        "Findings 9 and 10 ask for some setting each: none is claimed to show both, or what finding 8 says as well. "
        "Finding 11 asks for one that shows all three.",
        "The slides do not say which algorithm ran beside UDP: both are here, and the printed numbers are compared "
        "with Reno's.",
    ),
)  # fmt: skip
