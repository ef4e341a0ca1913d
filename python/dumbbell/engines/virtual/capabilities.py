"""The capabilities of the engine of virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dumbbell.engines.capabilities import (
    CONSERVATION,
    HANDOVER,
    HOSTS,
    PROBE,
    SCHEDULE,
    TRAFFIC,
    Capabilities,
    Json,
    by_packets,
)

if TYPE_CHECKING:
    from dumbbell.plan.types import Plan
    from dumbbell.scenario.model import Scenario


def _cost(network: Json, traffic: Json, lab: Json, probe: Json | None) -> dict[str, object]:
    kernel = lab["kernel"]
    wall_s = kernel["wall_s"]
    return {
        "kernel": kernel,
        "lab": {key: lab[key] for key in ("sysctls", "offloads", "acks") if key in lab},
        "path": network["path"],
        "cost": {
            "simulated_s": network["wall_s"],
            "wall_s": wall_s,
            "cpu_s": kernel["cpu_s"],
            "memory_bytes": kernel["memory_bytes"],
            "times_real_time": network["wall_s"] / wall_s if wall_s else None,
        },
    }


def _settle(plan: Plan, scenario: Scenario) -> Plan:
    from dumbbell.engines.virtual.settle import settled

    return settled(plan, scenario)


CAPABILITIES: Final = Capabilities(
    name="virtual",
    deterministic=True,
    batches=False,
    real_time=False,
    changes_links=False,
    records_all_acks=True,
    loads_algorithms=False,
    evidence=frozenset([TRAFFIC, CONSERVATION, HANDOVER, SCHEDULE, HOSTS, PROBE]),
    network="emulator.json",
    has_lab=True,
    cost=_cost,
    alone_s=by_packets(1e5, beside_s=1.0),
    any_kernel=True,
    settle=_settle,
)
