"""A plan as the engine of virtual time carries it out."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from dumbbell import kernels
from dumbbell.engines.realm import quic
from dumbbell.plan.algorithms import sources, with_parameters
from dumbbell.plan.types import Algorithm, BundledSource, KernelSource, Plan, TunedSource
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve

RING: Final = 8 << 20
"""A virtual machine's ring of packets, in bytes: the kernel clears it first, and each byte takes time there."""
ARENA: Final = 96 << 20
"""Memory for packets on their way, in bytes: the whole machine has 512 MiB."""


def settled(plan: Plan, scenario: Scenario) -> Plan:
    """The plan with its programs' hashes, and without what has no meaning there.

    Busy-waiting would wait for ever where computing takes no time. Algorithms of dumbbell are built into the kernel and
    the user's are linked to it, or both are loaded into a ready one.

    Raises:
        InputError: there is no such kernel.
    """
    kernel = kernels.find(plan.emulate.kernel or kernels.DEFAULT)
    emulate = replace(plan.emulate, spin_ns=0, kernel=kernel.name, kernel_sha256=kernel.hash)
    if kernel.machine is not None:
        # So that it fits into the virtual machine.
        ring, arena = min(emulate.ring_bytes, RING), min(emulate.arena_bytes, ARENA)
        emulate = replace(emulate, ring_bytes=ring, arena_bytes=arena)
    own = {} if kernel.loads_bpf else sources(resolve(scenario).labels.values())
    algorithms = tuple(own.get(one.label) or _built_in(one, kernel) for one in plan.algorithms)
    return quic.settled(replace(plan, emulate=emulate, algorithms=algorithms))


def _built_in(algorithm: Algorithm, kernel: kernels.Kernel) -> Algorithm:
    if kernel.loads_bpf:
        return algorithm
    source = algorithm.source
    if not isinstance(source, BundledSource) or source.name not in kernel.algorithms:
        return algorithm
    if not algorithm.parameters:
        return replace(algorithm, source=KernelSource(name=source.name), sha256=None)
    program = with_parameters(algorithm.label, source.name, algorithm.parameters)
    return replace(algorithm, source=TunedSource(of=source.name, name=program.registered), sha256=None)
