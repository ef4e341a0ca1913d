"""The plan of a scenario, as an engine carries it out."""

from __future__ import annotations

from dumbbell import kernels
from dumbbell.engines.protocol import Engine
from dumbbell.plan.expand import expand
from dumbbell.plan.types import Plan
from dumbbell.scenario.model import Scenario


def kernel_override(kernel: str | None) -> list[str]:
    """The setting of a scenario's kernel, as after `--set`; empty if none is asked for."""
    if kernel is not None and "/" in kernel:
        kernel = kernels.add(kernel).names[-1]
    return [] if kernel is None else [f"emulate.kernel={kernel}"]


def planned(engine: Engine, scenario: Scenario) -> Plan:
    """The plan of `scenario`. Raises `InputError` if the scenario, or the engine, refuses it."""
    return engine.capabilities.settle(expand(scenario), scenario)
