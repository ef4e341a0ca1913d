"""A plan as a ready kernel in real time carries it out."""

from __future__ import annotations

from dataclasses import replace

from dumbbell import kernels
from dumbbell.engines.virtual.settle import fitted
from dumbbell.kernels import ready
from dumbbell.plan.types import Plan


def settled(plan: Plan) -> Plan:
    """The plan with its kernel's hash. One that names no ready kernel is unchanged: the engine's check refuses it.

    Raises:
        RunFailed: the kernel does not boot.
    """
    name = plan.emulate.kernel
    if name is None or ready.named(name) is None:
        return plan
    return replace(plan, emulate=replace(fitted(plan.emulate), kernel_sha256=kernels.find(name).hash))
