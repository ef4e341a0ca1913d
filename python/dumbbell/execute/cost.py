"""Estimates from its plan how many CPUs an emulated run needs.

A run's cost depends on its packets. On the machine of `docs/results/fidelity.md`, emulator and traffic process together
take

    0.07 cores * (packets per second / 1000) ^ 0.85       one by one; 0.33 at 50 Mbit/s, 0.6 at 100 Mbit/s
    0.3 cores + 10 us * segments per second               in bursts; 1.2 at 1 Gbit/s

of data and acknowledgements, without busy-waiting: at higher rates one wake-up serves several packets.
`python -m benches.emulation.several` has the figures behind it. The measured cost of a finished run is better.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dumbbell.engines.capabilities import BESIDE_S
from dumbbell.plan.offered import packets_per_s
from dumbbell.plan.types import Plan

BESIDE_CPU_S: Final = 0.6
"""CPU time of a run beside its traffic: to build a lab, to judge, to write. It is most of the cost of short runs."""
UNLIMITED: Final = 2.0
"""Cores of a run without any rate: all that hosts and emulator can use."""


def beside(duration_s: float) -> float:
    """Cores that a run needs beside its traffic, on average over the time that it takes."""
    return BESIDE_CPU_S / (duration_s + BESIDE_S)


def cores(plan: Plan) -> float:
    """Cores that the run of `plan` needs."""
    return _traffic(plan) + beside(plan.duration_ns / 1e9)


def _traffic(plan: Plan) -> float:
    """Cores that it needs while its traffic flows."""
    packets = packets_per_s(plan)
    if packets is None:
        return UNLIMITED
    if plan.emulate.path == "gso":
        return 0.3 + 10e-6 * packets
    return float(0.07 * (packets / 1000) ** 0.85)


def measured(manifest: Mapping[str, Any]) -> float | None:
    """The cost of a finished emulated run's traffic, in cores; `None` for another engine.

    Excludes the emulator's busy-waiting, which it gives up as soon as other processes need the CPU.
    """
    cost = manifest.get("cost", {})
    if "emulator" not in cost:
        return None
    return float(sum(cost[part] or 0 for part in ("emulator", "traffic", "logging", "acks")) - (cost["busy_wait"] or 0))
