"""The capabilities of the simulation engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dumbbell.engines.capabilities import CONSERVATION, TRAFFIC, Capabilities, Json, by_packets

if TYPE_CHECKING:
    from dumbbell.plan.types import Plan
    from dumbbell.scenario.model import Scenario


def _cost(network: Json, traffic: Json, lab: Json, probe: Json | None) -> dict[str, object]:
    wall_s = network["wall_s"]
    return {
        "cost": {
            "simulated_s": network["simulated_s"],
            "wall_s": wall_s,
            "cpu_s": network["cpu_s"],
            "times_real_time": network["simulated_s"] / wall_s if wall_s else None,
        },
    }


def _settle(plan: Plan, scenario: Scenario) -> Plan:
    from dumbbell.engines.realm.quic import settled

    return settled(plan)


CAPABILITIES: Final = Capabilities(
    name="simulate",
    deterministic=True,
    batches=True,
    real_time=False,
    changes_links=False,
    records_all_acks=True,
    loads_algorithms=False,
    evidence=frozenset([TRAFFIC, CONSERVATION]),
    network="simulator.json",
    has_lab=False,
    cost=_cost,
    alone_s=by_packets(1e6, beside_s=0.001),
    models_tcp=True,
    settle=_settle,
)
