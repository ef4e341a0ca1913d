"""The capabilities of the engine of ready kernels in real time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from dumbbell.engines.capabilities import Json
from dumbbell.engines.emulate.capabilities import CAPABILITIES as EMULATE

if TYPE_CHECKING:
    from dumbbell.plan.types import Plan


def _cost(network: Json, traffic: Json, lab: Json, probe: Json | None) -> dict[str, Any]:
    return {**EMULATE.cost(network, traffic, lab, probe), "kernel": lab["kernel"]}


def _settle(plan: Plan) -> Plan:
    from dumbbell.engines.kvm.settle import settled

    return settled(plan)


CAPABILITIES: Final = replace(
    EMULATE,
    name="kvm",
    # It is root in there.
    records_all_acks=True,
    any_kernel=True,
    cost=_cost,
    settle=_settle,
)
