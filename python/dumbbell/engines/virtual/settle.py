"""A plan as the engine of virtual time carries it out."""

from __future__ import annotations

from dataclasses import replace

from dumbbell import kernels
from dumbbell.plan.types import Algorithm, BundledSource, KernelSource, Plan


def settled(plan: Plan) -> Plan:
    """The plan with its kernel's hash, and without what has no meaning there.

    Computing takes no time, so busy-waiting would wait for ever. What comes with dumbbell is built into the kernel.

    Raises:
        InputError: there is no such kernel.
    """
    kernel = kernels.find(plan.emulate.kernel or kernels.DEFAULT)
    # The record of every ACK takes a probe, which is a BPF program.
    record = replace(plan.record, acks="off") if plan.record.acks == "auto" else plan.record
    emulate = replace(plan.emulate, spin_ns=0, kernel=kernel.name, kernel_sha256=kernel.hash)
    algorithms = tuple(_built_in(one, kernel) for one in plan.algorithms)
    return replace(plan, record=record, emulate=emulate, algorithms=algorithms)


def _built_in(algorithm: Algorithm, kernel: kernels.Kernel) -> Algorithm:
    source = algorithm.source
    if isinstance(source, BundledSource) and source.name in kernel.algorithms:
        return replace(algorithm, source=KernelSource(name=source.name), sha256=None)
    return algorithm
