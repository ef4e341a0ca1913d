"""The capabilities of the emulation engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dumbbell.engines.capabilities import (
    CLOCK,
    CONSERVATION,
    CPU,
    HANDOVER,
    HOSTS,
    PROBE,
    SCHEDULE,
    TRAFFIC,
    Capabilities,
    Json,
)

if TYPE_CHECKING:
    from dumbbell.plan.types import Plan
    from dumbbell.scenario.model import Scenario


def _cost(network: Json, traffic: Json, lab: Json, probe: Json | None) -> dict[str, object]:
    return {
        "lab": {key: lab[key] for key in ("rootless", "build_ms", "sysctls", "offloads", "cpu")}
        | {key: lab[key] for key in ("acks", "cpus") if key in lab},
        "scheduling": network["scheduling"],
        "path": network["path"],
        "cost": {
            "unit": "share of one core",
            "emulator": _ratio(network["cpu_s"], network["wall_s"]),
            "busy_wait": _ratio(network["spun_s"], network["wall_s"]),
            "traffic": _ratio(traffic["cpu_s"], traffic["wall_s"]),
            "sampling": _ratio(traffic["sampling"]["cpu_s"], traffic["wall_s"]),
            "logging": _ratio(network["writer"]["cpu_s"] + traffic["writer"]["cpu_s"], network["wall_s"]),
            "acks": _ratio(probe["cpu_s"] + probe["writer"]["cpu_s"], probe["wall_s"]) if probe else None,
        },
    }


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _settle(plan: Plan, scenario: Scenario) -> Plan:
    from dumbbell.engines.realm.quic import settled

    return settled(plan)


CAPABILITIES: Final = Capabilities(
    name="emulate",
    deterministic=False,
    batches=False,
    real_time=True,
    changes_links=True,
    records_all_acks=False,
    loads_algorithms=True,
    evidence=frozenset([TRAFFIC, CONSERVATION, HANDOVER, CPU, CLOCK, SCHEDULE, HOSTS, PROBE]),
    network="emulator.json",
    has_lab=True,
    cost=_cost,
    settle=_settle,
)
