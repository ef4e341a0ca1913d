"""The five scenarios, as the text has them."""

from __future__ import annotations

from typing import Final

from dumbbell.engines.names import EMULATE, SIMULATE, VIRTUAL
from dumbbell.published.bernardi_2020 import evidence
from dumbbell.published.bernardi_2020.one_core import CPUS
from dumbbell.published.bernardi_2020.plots import over_time
from dumbbell.published.bernardi_2020.readings import CC
from dumbbell.published.model import Axis, Part, Plot

ALL: Final = (SIMULATE, VIRTUAL, EMULATE)
QUICK: Final = {"repeat": 2}
STATES: Final = {"record.acks": "auto"}
"""Only a kernel's ACKs show BBR's states; studies don't record them unless asked."""

NOTES: Final = (
    "Throughput. Theirs is taken at the sender, before the bottleneck, in bins of 0.1 s: it shows what is sent, with "
    "what is sent again and what is dropped, and so more than the link carries (21 Mbit/s on 10, 120 to 220 on 100). "
    "Parts 1, 3 and 5 tell the most that our senders send in 0.1 s. Our goodput is what arrives.",
    'Queue. Theirs counts packets as the qdisc holds them, bursts of segments: "about 15 packets" in a buffer of '
    "200 kB. Part 5-script tells how many bursts its fullest queue has.",
)

ONE: Final = Part(
    "1", "What each algorithm looks like: 10 Mbit/s, 100 ms, 50 ms of buffer", "bernardi-2020/1.toml",
    engines=ALL, by_engine={EMULATE: {"repeat": 5}}, quick=QUICK, plots=over_time(20), notes=NOTES,
    evidence=evidence.peaks, cpu_s=0.05,
)  # fmt: skip

TWO: Final = Part(
    "2", "PROBE_RTT, and how near to the rate: 100 Mbit/s, 30 ms, 30 ms of buffer", "bernardi-2020/2.toml",
    engines=(VIRTUAL, SIMULATE, EMULATE), by_engine={VIRTUAL: STATES, EMULATE: {"repeat": 3, **STATES}},
    quick={**QUICK, "duration": "30 s"}, plots=over_time(60),
    evidence=evidence.several(evidence.probe_rtt, evidence.sent), cpu_s=0.6,
)  # fmt: skip

THREE: Final = Part(
    "3", "Random loss of 0.5 % with a correlation of 25 %, 100 Mbit/s, 100 ms, 50 ms of buffer",
    "bernardi-2020/3.toml",
    engines=ALL, by_engine={EMULATE: {"repeat": 5}}, quick=QUICK, plots=over_time(10),
    evidence=evidence.several(evidence.losses, evidence.peaks, evidence.first_cut), cpu_s=0.1,
)  # fmt: skip

FOUR: Final = Part(
    "4", "Everything on one CPU, and on two: 100 Mbit/s, 50 ms, 50 ms of buffer", "bernardi-2020/4.toml",
    engines=(EMULATE,),
    quick={"duration": "15 s", "repeat": 1, "sweep": {CC: ["bbr", "bbr2"], CPUS: [1, 2]}},
    evidence=evidence.one_cpu,
    plots=(
        Plot("Goodput by the CPUs of the lab", "our own", "bars", Axis("CPUs"),
             Axis("goodput (Mbit/s)", 0, 100, factor=1e6), "goodput", CPUS, CC),
        *(Plot(f"{one.title}, on one CPU", one.source, "series", one.x, one.y, one.metric, curves=CC,
               where={CPUS: 1}) for one in over_time(60)),
    ),
    notes=(
        "One core did everything: both ends of TCP, shaping, iperf, tcpdump, and looking at queue and sockets 100 "
        "times a second. Computing takes no time in a simulation or in virtual time, so part 4 has a real clock. What "
        "a lack of CPU does to an algorithm is a property of the testbed: part 4 tells the verdicts of its runs, and "
        "by which checks. Another machine, slower or busier: not tested.",
    ),
)  # fmt: skip

FIVE: Final = Part(
    "5", "A buffer of 200 kB, 100 Mbit/s, 200 ms", "bernardi-2020/5.toml",
    engines=ALL, by_engine={EMULATE: {"repeat": 3}}, quick={**QUICK, "duration": "30 s"}, plots=over_time(60),
    evidence=evidence.several(evidence.losses, evidence.peaks), cpu_s=0.6,
    notes=(
        "Delay. The text says 200 ms, of whose BDP 200 kB are 8 % (part 5). The script and the figures have 50 ms, of "
        "which they are 32 % (part 5-50ms).",
    ),
)  # fmt: skip
