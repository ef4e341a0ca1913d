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


_PACKET_S: Final = 1e-6
_QUIC_PACKET_S: Final = {"quinn": 4e-6, "noq": 8e-6, "quiche": 45e-6, "s2n": 8e-6}
"""CPU time of a stack's flow for each full packet and its share of ACKs; of its dearest algorithm. quiche's CUBIC sends
small datagrams. Measured on single flows at 20 Mbit/s."""


def _alone_s(plan: Plan) -> float:
    """The estimate counts packets, each as dear as the mean flow's."""
    from dumbbell.plan.parts import kind

    stacks = [kind(flow).quic_stack(flow.workload) for flow in plan.flows]
    costs = [_PACKET_S if stack is None else _QUIC_PACKET_S.get(stack.name, _PACKET_S) for stack in stacks]
    mean = sum(costs) / len(costs) if costs else _PACKET_S
    return by_packets(1 / mean, beside_s=0.001)(plan)


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
    alone_s=_alone_s,
    models_tcp=True,
    settle=_settle,
)
