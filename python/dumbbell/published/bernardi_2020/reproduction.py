"""One flow through a middle host: Reno, CUBIC and the BBRs in five settings, one of them on a machine of one core."""

from __future__ import annotations

from typing import Any, Final

from dumbbell.engines.names import EMULATE, SIMULATE
from dumbbell.published.bernardi_2020 import evidence, findings
from dumbbell.published.model import Axis, Part, Plot, Reproduction, Signal
from dumbbell.units.mtu import MTU, frame_bytes

CC: Final = "flows.0.cc"
BOTH: Final = (SIMULATE, EMULATE)

AS_SCRIPT: Final[dict[str, Any]] = {"emulate.path": "gso", "emulate.whole_bursts": True, "repeat": 3}
"""Segmentation offload was on in their hosts, and on the host in the middle."""

STATES: Final = {"record.acks": "auto"}
"""Only the ACKs of an emulated run show BBR's states; studies don't record them unless asked."""

_SIGNALS: Final[tuple[tuple[Signal, str, float], ...]] = (
    ("goodput", "goodput (Mbit/s)", 1e6),
    ("cwnd", "congestion window (packets)", 1.0),
    ("rtt", "RTT (ms)", 1e-3),
    ("queue", f"queue (packets of {frame_bytes(MTU)} B)", float(frame_bytes(MTU))),
    ("inflight", "in flight (packets)", 1.0),
)


def _plots(seconds: float) -> tuple[Plot, ...]:
    """The plots have their axes: all ordinates begin at 0, and end where the data do."""
    return tuple(
        Plot(title, "one figure per algorithm", "series", Axis("time (s)", 0, seconds), Axis(title, 0, factor=factor),
             signal, curves=CC)
        for signal, title, factor in _SIGNALS
    )  # fmt: skip


_NOTES: Final = (
    "Throughput. Theirs is taken at the sender, before the bottleneck, in bins of 0.1 s: it shows what is sent, with "
    "what is sent again and what is dropped, and so more than the link carries (21 Mbit/s on 10, 120 to 220 on 100). "
    "Ours is goodput: what arrives.",
    'Queue. Theirs counts packets as the qdisc holds them, bursts of segments: "about 15 packets" in a buffer of '
    "200 kB. The parts -script have whole bursts, too.",
)

QUICK: Final = {"repeat": 2}

REPRODUCTION: Final = Reproduction(
    "bernardi-2020",
    "One flow, four algorithms: BBRv1 and v2, Reno, CUBIC, and BBRv3 beside them",
    "Bernardi, Remedi, Rittano: Análisis de algoritmos de control de congestión TCP: BBRv1, BBRv2, Reno y Cubic en "
    "Mininet, Univ. Nacional de Río Cuarto, 2020",
    (
        Part(
            "1", "What each algorithm looks like: 10 Mbit/s, 100 ms, 50 ms of buffer", "bernardi-2020/1.toml",
            engines=BOTH, by_engine={EMULATE: {"repeat": 5}}, quick=QUICK, plots=_plots(20), notes=_NOTES, cpu_s=0.05,
        ),
        Part(
            "1-script", "The same as the script ran: a buffer of 76 ms, offloads on", "bernardi-2020/1.toml",
            {**AS_SCRIPT, "name": "bernardi-2020-1-script", "topology.bottleneck.buffer": "95268 B"},
            (EMULATE,), quick=QUICK, plots=_plots(20), variant_of="1",
            notes=(
                "Buffer. tc turns a latency into rate x latency + burst: 62,500 B + 32 KiB, 76 ms instead of 50.",
            ),
        ),
        Part(
            "2", "PROBE_RTT, and how near to the rate: 100 Mbit/s, 30 ms, 30 ms of buffer", "bernardi-2020/2.toml",
            engines=(EMULATE, SIMULATE), by_engine={EMULATE: {"repeat": 3, **STATES}},
            quick={**QUICK, "duration": "30 s"}, plots=_plots(60), evidence=evidence.probe_rtt, cpu_s=0.6,
            notes=(
                *_NOTES,
                "PROBE_RTT of BBRv2. An RTT that equals the least one postpones it. On a simulated path, whose RTT "
                "has no jitter, BBRv2 with its short queue sees the least RTT again and again, and hardly ever has "
                "to look for it. In the kernel no two RTTs are alike: run it with --engine emulate to see how often "
                "it is there.",
                "80 Mbit/s of BBRv2. A buffer of 34 ms and whole bursts don't explain it: in the kernel, with both, "
                "BBRv2 carries more than 90 Mbit/s. One core for everything was part 4's, not this part's. Their "
                "throughput comes from captures, and the one whose counts they print lost 772,699 of 823,274 packets, "
                "94 %: what it misses, the plot misses. Not tested.",
            ),
        ),
        Part(
            "2-script", "The same as the script ran: a buffer of 34 ms, offloads on", "bernardi-2020/2.toml",
            {**AS_SCRIPT, **STATES, "name": "bernardi-2020-2-script", "topology.bottleneck.buffer": "426200 B"},
            (EMULATE,), quick={**QUICK, "duration": "30 s"}, plots=_plots(60), variant_of="2",
            evidence=evidence.probe_rtt,
            notes=("Buffer. 375,000 B + 50 KiB are 34 ms instead of 30.",),
        ),
        Part(
            "3", "Random loss of 0.5 % with a correlation of 25 %, 100 Mbit/s, 100 ms, 50 ms of buffer",
            "bernardi-2020/3.toml",
            engines=BOTH, by_engine={EMULATE: {"repeat": 5}}, quick=QUICK, plots=_plots(10), evidence=evidence.losses,
            notes=(
                *_NOTES,
                "Loss. The text speaks of a correlation of 25 %; the script sets none for loss. Ours keeps the rate "
                "of 0.5 %. netem's correlation does not: at 0.5 % with 25 % it hardly loses anything.",
                "Ten seconds. Slow start takes the first, and the loss that ends it is chance: Reno's and CUBIC's "
                "means depend on it.",
            ), cpu_s=0.1,
        ),
        Part(
            "3-uncorrelated", "The same with the script's parameters: no correlation, 100 ms of buffer",
            "bernardi-2020/3.toml",
            {
                "name": "bernardi-2020-3-uncorrelated", "topology.bottleneck.buffer": "100 ms",
                "topology.bottleneck.loss": "0.5 %",
            },
            BOTH, {EMULATE: {"repeat": 5}}, QUICK, plots=_plots(10), variant_of="3", evidence=evidence.losses,
            cpu_s=0.1,
        ),
        Part(
            "3-script", "The same as the script ran: no correlation, 104 ms of buffer, offloads on",
            "bernardi-2020/3.toml",
            {
                **AS_SCRIPT, "name": "bernardi-2020-3-script", "topology.bottleneck.buffer": "1301200 B",
                "topology.bottleneck.loss": "0.5 %",
            },
            (EMULATE,), quick=QUICK, plots=_plots(10), variant_of="3", evidence=evidence.losses,
            notes=(
                "Loss takes whole bursts: there are as many times fewer losses as a burst has segments, and each "
                "takes many.",
                "Delay line. netem holds 1,000 packets if nothing else is said, in its delay and in the queue below "
                "it together. Full frames at 100 Mbit/s and 100 ms are 826; whole bursts are far fewer, so it "
                "is unlikely that any were lost there. With offloads off they would have been.",
            ),
        ),
        Part(
            "4", "Everything on one CPU, and on two: 100 Mbit/s, 50 ms, 50 ms of buffer", "bernardi-2020/4.toml",
            engines=(EMULATE,),
            quick={"duration": "15 s", "repeat": 1, "sweep": {CC: ["bbr", "bbr2"], "emulate.cpus": [1, 2]}},
            evidence=evidence.one_cpu,
            plots=(
                Plot("Goodput by the CPUs of the lab", "our own", "bars", Axis("CPUs"),
                     Axis("goodput (Mbit/s)", 0, 100, factor=1e6), "goodput", "emulate.cpus", CC),
                *(Plot(f"{one.title}, on one CPU", one.source, "series", one.x, one.y, one.metric, curves=CC,
                       where={"emulate.cpus": 1}) for one in _plots(60)),
            ),
            notes=(
                "One core did everything: both ends of TCP, shaping, iperf, tcpdump, and looking at queue and "
                "sockets 100 times a second. What that does to an algorithm is a property of the testbed; runs on "
                "one CPU are suspect at best (check `cpus`), and the more so the more the CPU is missed (`lateness`, "
                "`traffic-starved`, `samples`). How much depends on the machine: a fast core has room for 100 Mbit/s.",
            ),
        ),
        Part(
            "5", "A buffer of 200 kB, 100 Mbit/s, 200 ms", "bernardi-2020/5.toml",
            engines=BOTH, by_engine={EMULATE: {"repeat": 3}}, quick={**QUICK, "duration": "30 s"}, plots=_plots(60),
            evidence=evidence.losses, cpu_s=0.6,
            notes=(
                *_NOTES,
                "Delay. The text says 200 ms; the script and the figures have 50 ms, so that 200 kB are 32 % of the "
                'BDP and not 8 %. "BDP/100" in the script is of a BDP in bits.',
            ),
        ),
        Part(
            "5-50ms", "The same with the script's delay of 50 ms", "bernardi-2020/5.toml",
            {"name": "bernardi-2020-5-50ms", "topology.rtt": "50 ms"},
            BOTH, {EMULATE: {"repeat": 3}}, {**QUICK, "duration": "30 s"}, plots=_plots(60), variant_of="5",
            evidence=evidence.losses, cpu_s=0.6,
        ),
        Part(
            "5-script", "The same as the script ran: 50 ms, offloads on", "bernardi-2020/5.toml",
            {**AS_SCRIPT, "name": "bernardi-2020-5-script", "topology.rtt": "50 ms"},
            (EMULATE,), quick={**QUICK, "duration": "30 s"}, plots=_plots(60), variant_of="5", evidence=evidence.losses,
        ),
    ),
    findings.FINDINGS,
    (
        "Their delay lies before the rate, and their way back has neither. A sender cannot tell a delay before the "
        "queue from the same delay on the way back: it sends and hears the same at the same times. Here it is on the "
        "way back, so that the queue's record and the sender's have no shift against each other.",
        "A buffer in ms is the bytes that the rate sends in that time. The parts -script have the bytes that tc made "
        "of it.",
        "tbf lets a burst of up to 32 or 50 kB pass at once when the queue has been empty. A link here never exceeds "
        "its rate; nothing repeats that.",
        "They ran each test once. BBRv3 did not exist.",
    ),
)  # fmt: skip
