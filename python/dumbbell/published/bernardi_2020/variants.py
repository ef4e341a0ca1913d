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
KERNELS: Final = ("6.1-google", "6.1")
"""The names of a kernel with Google's patch, which the user builds, and of one without it."""
_SHORT: Final = {**QUICK, "duration": "30 s"}


def _script(scenario: str, rate: str, delay: str, buffer: str, duration: str, ccs: list[str]) -> Mapping[str, Any]:
    """What the script gives to tc in a scenario, and for how long."""
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
    "-google run Google's patch for Linux 6.1 and ours beside each other. The alpha on 5.4 is not tested."
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
        evidence=evidence.several(evidence.probe_rtt, evidence.delay_line),
        notes=("Buffer. 375,000 B + 50 KiB are 34 ms instead of 30 (part 2-script).",),
    ),
    Part(
        "3-script", "The same as the script ran: no correlation, 104 ms of buffer, offloads on", SCRIPT, _THREE,
        (VIRTUAL, EMULATE), {EMULATE: {"repeat": 3}}, QUICK, plots=over_time(10), variant_of="3",
        evidence=evidence.several(evidence.losses, evidence.peaks, evidence.delay_line),
        notes=(
            "Loss takes whole bursts in part 3-script: there are as many times fewer losses as a burst has segments, "
            "and each takes many.",
        ),
    ),
    Part(
        "5-script", "The same as the script ran: 50 ms, offloads on", SCRIPT, _FIVE, (VIRTUAL, EMULATE),
        {EMULATE: {"repeat": 3}}, _SHORT, plots=over_time(60), variant_of="5",
        evidence=evidence.several(evidence.losses, evidence.bursts, evidence.delay_line),
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
        {VIRTUAL: {"repeat": 5, **STATES}}, _SHORT, variant_of="2", evidence=evidence.probe_rtt, cpu_s=0.6,
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
            "Ten seconds. Slow start takes the first, and the loss that ends it is chance: Reno's and CUBIC's means "
            "depend on it. Part 3-minute has less of it.",
        ),
    ),
    Part(
        "5-50ms", "The same with the script's delay of 50 ms", "bernardi-2020/5.toml",
        {"name": "bernardi-2020-5-50ms", "topology.rtt": "50 ms"},
        ALL, {EMULATE: {"repeat": 3}}, _SHORT, plots=over_time(60), variant_of="5", evidence=evidence.losses, cpu_s=0.6,
    ),
)  # fmt: skip
