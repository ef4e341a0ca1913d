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
"""Largest packet ring in a virtual machine, in bytes: the kernel clears the ring first, which takes time per byte."""
ARENA: Final = 96 << 20
"""Most memory for packets inside links, in bytes: the whole virtual machine has 512 MiB."""


def settled(plan: Plan, scenario: Scenario) -> Plan:
    """Returns the plan with the hashes of the kernel and of the programs that it runs, and without busy-waiting.

    Busy-waiting would wait for ever where computing takes no time. A user-mode kernel has dumbbell's algorithms built
    in and the user's linked to it. A ready kernel that can load BPF programs loads both.

    Raises:
        InputError: there is no such kernel.
    """
    kernel = kernels.find(plan.emulate.kernel or kernels.DEFAULT)
    emulate = replace(plan.emulate, spin_ns=0, kernel=kernel.name, kernel_sha256=kernel.hash)
    if kernel.machine is not None:
        # A ready kernel runs in a virtual machine, which has little memory.
        ring, arena = min(emulate.ring_bytes, RING), min(emulate.arena_bytes, ARENA)
        emulate = replace(emulate, ring_bytes=ring, arena_bytes=arena)
    # The user's BPF programs in C, which become sources of a kernel that cannot load them.
    own = {} if kernel.loads_bpf else sources(resolve(scenario).labels.values())
    algorithms = tuple(own.get(one.label) or _built_in(one, kernel) for one in plan.algorithms)
    return quic.settled(replace(plan, emulate=emulate, algorithms=algorithms))


def _built_in(algorithm: Algorithm, kernel: kernels.Kernel) -> Algorithm:
    """Replaces an algorithm of dumbbell by the one that is built into `kernel`, if that has it."""
    if kernel.loads_bpf:
        return algorithm
    source = algorithm.source
    if not isinstance(source, BundledSource) or source.name not in kernel.algorithms:
        return algorithm
    if not algorithm.parameters:
        return replace(algorithm, source=KernelSource(name=source.name), sha256=None)
    program = with_parameters(algorithm.label, source.name, algorithm.parameters)
    return replace(algorithm, source=TunedSource(of=source.name, name=program.registered), sha256=None)
