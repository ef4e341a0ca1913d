"""Other readings of the five scenarios: as the script ran, with Google's BBRv2, and with one thing changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dumbbell.engines.names import EMULATE, SIMULATE, VIRTUAL
from dumbbell.published.bernardi_2020 import evidence
from dumbbell.published.bernardi_2020.parts import ALL, QUICK, STATES
from dumbbell.published.bernardi_2020.plots import by_kernel, over_time
from dumbbell.published.bernardi_2020.readings import CC, KERNEL
from dumbbell.published.model import Part

SCRIPT: Final = "bernardi-2020/script.toml"
KERNELS: Final = ("6.1-google", "6.12")
"""The names of a kernel with Google's patch, which the user builds, and of one without it: that of the other parts."""
_SHORT: Final = {**QUICK, "duration": "30 s"}


def _script(scenario: str, rate: str, delay: str, buffer: str, duration: str, ccs: list[str]) -> Mapping[str, Any]:
    """Commands of the script to tc in a scenario, and their duration."""
    return {
        "name": f"bernardi-2020-{scenario}-script",
        "duration": duration,
        "topology.links.0.delay": delay,
        "topology.links.1.rate": rate,
        "topology.links.1.buffer": buffer,
        "sweep": {CC: ccs},
    }


_ONE: Final = _script("1", "10 Mbit/s", "100 ms", "95268 B", "20 s", ["reno", "cubic", "bbr", "bbr2", "bbr3"])
_TWO: Final = {**_script("2", "100 Mbit/s", "30 ms", "426200 B", "60 s", ["bbr", "bbr2", "bbr3"]), **STATES}
_THREE: Final = {
    **_script("3", "100 Mbit/s", "100 ms", "1301200 B", "10 s", ["reno", "cubic", "bbr", "bbr2", "bbr3"]),
    "topology.links.0.loss": "0.5 %",
}
_FIVE: Final = _script("5", "100 Mbit/s", "50 ms", "200 kB", "60 s", ["reno", "bbr", "bbr2", "bbr3"])


def _google(settings: Mapping[str, Any], scenario: str) -> Mapping[str, Any]:
    """The same in a kernel with Google's patch and in one without it."""
    sweep = {CC: ["bbr", "bbr2"], KERNEL: list(KERNELS)}
    return {**settings, **STATES, "name": f"bernardi-2020-{scenario}-google", "sweep": sweep}


_GOOGLE_NOTE: Final = (
    "BBRv2. Theirs was Google's alpha, on Linux 5.4; ours is written from what Google published of it. The parts "
    "-google run Google's patch in Linux 6.1 and ours in 6.12 beside each other. The alpha on 5.4 is not tested."
)

AS_THE_SCRIPT_RAN: Final = (
    Part(
        "1-script", "The same as the script ran: a buffer of 76 ms, offloads on", SCRIPT, _ONE, (VIRTUAL, EMULATE),
        {EMULATE: {"repeat": 3}}, QUICK, plots=over_time(20), variant_of="1",
        evidence=evidence.several(evidence.peaks, evidence.bursts, evidence.delay_line),
        notes=(
            "Buffer. tc turns a latency into rate x latency + burst: 62,500 B + 32 KiB, 76 ms instead of 50. Parts 1 "
            "and 1-script show the RTTs of both.",
        ),
    ),
    Part(
        "2-script", "The same as the script ran: a buffer of 34 ms, offloads on", SCRIPT, _TWO, (VIRTUAL, EMULATE),
        {EMULATE: {"repeat": 3}}, _SHORT, plots=over_time(60), variant_of="2",
        evidence=evidence.several(evidence.probe_rtt, evidence.sent, evidence.delay_line),
        notes=(
            "Buffer. 375,000 B + 50 KiB are 34 ms instead of 30 (part 2-script).",
            "80 Mbit/s of BBRv2. Neither a buffer of 34 ms nor whole bursts make it carry so little (part 2-script). "
            "One core was scenario 4's mark, not this one's. Their throughput comes from captures, and the one whose "
            "counts they print lost 772,699 of 823,274 packets, 94 %. A plot misses what its capture misses: of 93 "
            "Mbit/s, a capture that missed 14 % of the bytes would show 80. Whether theirs of "
            "BBRv2 did is not tested. Their counts are near those of all segments and ACKs of this scenario (part 2), "
            "and far from those of whole bursts (part 2-script).",
        ),
    ),
    Part(
        "3-script", "The same as the script ran: no correlation, 104 ms of buffer, offloads on", SCRIPT, _THREE,
        (VIRTUAL, EMULATE), {EMULATE: {"repeat": 3}}, QUICK, plots=over_time(10), variant_of="3",
        evidence=evidence.several(evidence.losses, evidence.peaks, evidence.delay_line),
        notes=(
            "Loss takes whole bursts in part 3-script: there are as many times fewer losses as a burst has segments, "
            "and each takes many. Part 3-uncorrelated loses single segments.",
            "Delay line. netem holds 1,000 packets, and their BBRv1's window in scenario 3 reaches some 2,500 "
            "segments. As bursts are single packets to netem, none was lost there (part 3-script). With offloads off, "
            "826 full frames propagate at 100 Mbit/s and 100 ms; what would be lost then is not tested.",
        ),
    ),
    Part(
        "5-script", "The same as the script ran: 50 ms, offloads on", SCRIPT, _FIVE, (VIRTUAL, EMULATE),
        {EMULATE: {"repeat": 3}}, _SHORT, plots=over_time(60), variant_of="5",
        evidence=evidence.several(evidence.losses, evidence.bursts, evidence.delay_line),
        notes=(
            "BBRv1 in a shallow buffer. That it loses throughput is in no reading (parts 5, 5-50ms, 5-script, "
            "5-google). A capture that misses packets while the queue is full would show it; that is not tested.",
        ),
    ),
)  # fmt: skip

WITH_GOOGLES: Final = tuple(
    Part(
        f"{scenario}-google", f"{title}, in a kernel with Google's BBRv2 and in one with ours", SCRIPT,
        _google(settings, scenario), (VIRTUAL,), quick=quick, plots=by_kernel(rate), variant_of=scenario,
        evidence=evidence.several(evidence.side_by_side, evidence.probe_rtt), notes=(_GOOGLE_NOTE,),
    )
    for scenario, title, settings, quick, rate in (
        ("1", "As the script ran, 10 Mbit/s and 100 ms", _ONE, QUICK, 10),
        ("2", "As the script ran, 100 Mbit/s and 30 ms", _TWO, _SHORT, 100),
        ("3", "As the script ran, 100 Mbit/s, 100 ms and 0.5 % loss", _THREE, QUICK, 100),
        ("5", "As the script ran, 100 Mbit/s, 50 ms and 200 kB", _FIVE, _SHORT, 100),
    )
)  # fmt: skip

CHANGED: Final = (
    Part(
        "2-jitter", "The same with RTTs that differ by up to 0.1 ms", "bernardi-2020/2.toml",
        {"name": "bernardi-2020-2-jitter", "topology.bottleneck.reverse.jitter": "100 us"}, (VIRTUAL, SIMULATE),
        {VIRTUAL: STATES}, _SHORT, variant_of="2", evidence=evidence.probe_rtt, cpu_s=0.6,
        notes=(
            "PROBE_RTT of BBRv2. An RTT that equals the least one puts it off. Without jitter it comes every 5.2 s "
            "(part 2), with a jitter of 0.1 ms sometimes later (part 2-jitter).",
        ),
    ),
    Part(
        "3-uncorrelated", "The same with the script's parameters: no correlation, 100 ms of buffer",
        "bernardi-2020/3.toml",
        {
            "name": "bernardi-2020-3-uncorrelated", "topology.bottleneck.buffer": "100 ms",
            "topology.bottleneck.loss": "0.5 %",
        },
        ALL, {EMULATE: {"repeat": 5}}, QUICK, plots=over_time(10), variant_of="3", evidence=evidence.losses, cpu_s=0.1,
    ),
    Part(
        "3-netem", "The same with netem's correlation of 25 %", "bernardi-2020/3.toml",
        {
            "name": "bernardi-2020-3-netem",
            "topology.bottleneck.loss": {"model": "netem", "rate": "0.5 %", "correlation": "25 %"},
        },
        ALL, quick=QUICK, variant_of="3", evidence=evidence.losses, cpu_s=0.1,
        notes=(
            "Loss. The text speaks of a correlation of 25 %; the script sets none for loss. Part 3 keeps the rate of "
            "0.5 %. netem's own correlation does not: part 3-netem tells how few packets it takes.",
        ),
    ),
    Part(
        "3-minute", "The same for a minute", "bernardi-2020/3.toml",
        {"name": "bernardi-2020-3-minute", "duration": "60 s"},
        ALL, quick=QUICK, variant_of="3", evidence=evidence.losses, cpu_s=0.6,
        notes=(
            "Ten seconds. The first loss ends slow start, and when it comes is chance: a run of Reno or CUBIC has the "
            "more the later it comes (the rank correlations of part 3). In finding 11 their means are uncertain by a "
            "third therefore (part 3), and those of a minute by a tenth (part 3-minute).",
        ),
    ),
    Part(
        "5-50ms", "The same with the script's delay of 50 ms", "bernardi-2020/5.toml",
        {"name": "bernardi-2020-5-50ms", "topology.rtt": "50 ms"},
        ALL, {EMULATE: {"repeat": 3}}, _SHORT, plots=over_time(60), variant_of="5", evidence=evidence.losses, cpu_s=0.6,
    ),
)  # fmt: skip
