"""A plan as the engine of virtual time carries it out."""

from __future__ import annotations

from dataclasses import replace

from dumbbell import kernels
from dumbbell.plan.algorithms import with_parameters
from dumbbell.plan.types import Algorithm, BundledSource, KernelSource, Plan, TunedSource


def settled(plan: Plan) -> Plan:
    """The plan with its kernel's hash, and without what has no meaning there.

    Computing takes no time, so busy-waiting would wait for ever. Algorithms of dumbbell are built into the kernel.

    Raises:
        InputError: there is no such kernel.
    """
    kernel = kernels.find(plan.emulate.kernel or kernels.DEFAULT)
    emulate = replace(plan.emulate, spin_ns=0, kernel=kernel.name, kernel_sha256=kernel.hash)
    algorithms = tuple(_built_in(one, kernel) for one in plan.algorithms)
    return replace(plan, emulate=emulate, algorithms=algorithms)


def _built_in(algorithm: Algorithm, kernel: kernels.Kernel) -> Algorithm:
    source = algorithm.source
    if not isinstance(source, BundledSource) or source.name not in kernel.algorithms:
        return algorithm
    if not algorithm.parameters:
        return replace(algorithm, source=KernelSource(name=source.name), sha256=None)
    program = with_parameters(algorithm.label, source.name, algorithm.parameters)
    return replace(algorithm, source=TunedSource(of=source.name, name=program.registered), sha256=None)
