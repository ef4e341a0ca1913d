"""The capabilities of an engine. Other packages ask for one of them, never for the engine's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from dumbbell.frozen import dataclass

if TYPE_CHECKING:
    from dumbbell.plan.types import Plan
    from dumbbell.scenario.model import Scenario

Json = Mapping[str, Any]


def _unchanged(plan: Plan, scenario: Scenario) -> Plan:
    return plan


BESIDE_S: Final = 1.0
"""Time of a run in real time beside its duration: to build a lab, to judge, to write."""


def _in_real_time(plan: Plan) -> float:
    return plan.duration_ns / 1e9 + BESIDE_S


def by_packets(per_s: float, beside_s: float) -> Callable[[Plan], float]:
    """`alone_s` of an engine whose runs take `beside_s` seconds, and a second for each `per_s` packets."""

    def alone_s(plan: Plan) -> float:
        from dumbbell.plan.offered import packets_per_s

        seconds, packets = plan.duration_ns / 1e9, packets_per_s(plan)
        return beside_s + (seconds if packets is None else packets * seconds / per_s)

    return alone_s


TRAFFIC: Final = "traffic"
"""Accounts of flows: `traffic.json`, and the table `samples`."""
CONSERVATION: Final = "conservation"
"""Accounts of every packet in the network and at each link, and the tables `links` and `packets`."""
HANDOVER: Final = "handover"
"""Packets' lateness as they left the network and were read, and the kernel's losses between network and hosts."""
CPU: Final = "cpu"
"""The time that processes waited for a CPU, the number of their CPUs, and the time that the hypervisor took."""
CLOCK: Final = "clock"
"""Steps of the wall clock."""
SCHEDULE: Final = "schedule"
"""The times at which samples were taken and datagrams were sent, against those at which they were due."""
HOSTS: Final = "hosts"
"""The hosts' interfaces and the kernel's settings: `lab.json`."""
PROBE: Final = "probe"
"""The fate of rows between the kernel and the table `acks`."""


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """The capabilities of an engine, and the evidence that its runs leave."""

    name: str
    """The name in options, manifests and the identity of runs."""
    deterministic: bool
    """A plan gives the same records each time: there is no need to run it again, and no machine on which it fails."""
    batches: bool
    """Runs many plans in one call, on several cores, and writes their figures alone: the engine is a `BatchEngine`."""
    real_time: bool
    """Works by the machine's clock and kernel: its CPUs bound how many run at once, and its kernel is a setting."""
    changes_links: bool
    """Takes the order to change a link while a run goes on."""
    records_all_acks: bool
    """Records every acknowledgement of its own accord where the plan leaves that open."""
    loads_algorithms: bool
    """Loads algorithms that are not the kernel's own, and tells what it loaded."""
    evidence: frozenset[str]
    """The evidence of fidelity that its runs leave: the rules of the verdict that need other evidence do not apply."""
    network: str
    """The file in which a run accounts for links and packets."""
    has_lab: bool
    """A run has `lab.json`, the accounts of its hosts and the machine."""
    cost: Callable[[Json, Json, Json, Json | None], Mapping[str, object]] = field(repr=False)
    """`cost(network, traffic, lab, probe)`: what `manifest.json` says of how the run was made, and what that cost."""
    alone_s: Callable[[Plan], float] = field(default=_in_real_time, repr=False)
    """About how long a run of a plan takes with a core or two to itself, in seconds: for forecasts."""
    models_tcp: bool = False
    """Its TCP is a model: no kernel takes part."""
    any_kernel: bool = False
    """Runs the kernel that a scenario names, `emulate.kernel`."""
    settle: Callable[[Plan, Scenario], Plan] = field(default=_unchanged, repr=False)
    """The plan of a scenario as this engine carries it out: what it needs beside the scenario to give the same records,
    and without what has no meaning to it. Raises `InputError`."""
