"""Estimates from its plan how many CPUs an emulated run needs.

A run's cost depends on its packets. On the machine of `docs/results/fidelity.md`, emulator and traffic process together
take

    0.07 cores * (packets per second / 1000) ^ 0.85       one by one; 0.33 at 50 Mbit/s, 0.6 at 100 Mbit/s
    0.3 cores + 10 us * segments per second               in bursts; 1.2 at 1 Gbit/s

of data and acknowledgements, without busy-waiting: at higher rates one wake-up serves several packets.
`python -m benches.emulation.several` has the figures behind it. The measured cost of a finished run is better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dumbbell.plan.network import network
from dumbbell.plan.parts import full_frame
from dumbbell.plan.types import Plan, UdpWorkload

ACKS: Final = 0.5
"""ACKs per data packet: every second packet is acknowledged."""
LEAST: Final = 0.2
"""Least cores of any run, which also has to be built, judged and written."""
UNLIMITED: Final = 2.0
"""Cores of a run without any rate: all that hosts and emulator can use."""


def cores(plan: Plan) -> float:
    """Cores that the run of `plan` needs while its traffic flows."""
    found, offered = network(plan), dict[str, float]()
    rates = {name: _peak_bps(link.peaks_bps) for name, link in found.facts.items()}
    for flow in plan.flows:
        limits = [(rate, link.name) for link in found.there(flow) if (rate := rates[link.name])]
        if not limits:
            return UNLIMITED
        rate, link = min(limits)
        asked = flow.workload.rate_bps if isinstance(flow.workload, UdpWorkload) else rate
        offered[link] = min(offered.get(link, 0.0) + asked, rate)
    packets = sum(offered.values()) / (8 * full_frame(plan)) * (1 + ACKS)
    if plan.emulate.path == "gso":
        return 0.3 + 10e-6 * packets
    return max(float(0.07 * (packets / 1000) ** 0.85), LEAST)


def _peak_bps(peaks: Sequence[int | None]) -> int | None:
    """The largest of a link's rates over time; none if it has no limit at any time."""
    limited = [peak for peak in peaks if peak is not None]
    return max(limited) if len(limited) == len(peaks) else None


def measured(manifest: Mapping[str, Any]) -> float | None:
    """The cost of a finished emulated run, in cores; `None` for another engine.

    Excludes the emulator's busy-waiting, which it gives up as soon as other processes need the CPU.
    """
    cost = manifest.get("cost", {})
    if "emulator" not in cost:
        return None
    return float(sum(cost[part] or 0 for part in ("emulator", "traffic", "logging", "acks")) - (cost["busy_wait"] or 0))
