"""The engine of virtual time: check that a kernel can carry out a plan, then conduct the guard that runs it."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from dumbbell import kernels
from dumbbell.command import rebuild
from dumbbell.engines.realm import algorithms, quic, sysctls
from dumbbell.engines.realm.conductor import Bounds, Conductor
from dumbbell.engines.realm.outside import refuse_outside
from dumbbell.engines.realm.programs import check_programs, refuse_cpus
from dumbbell.engines.realm.routing import check_routers
from dumbbell.engines.virtual import refusals
from dumbbell.engines.virtual.capabilities import CAPABILITIES
from dumbbell.errors import InputError, Problem
from dumbbell.kernels import Kernel
from dumbbell.kernels.ready import Machine
from dumbbell.plan.algorithms import programs
from dumbbell.plan.types import Plan
from dumbbell.scenario.file.writing import ALGORITHMS
from dumbbell.scenario.model import Scenario

GUARD: Final = (sys.executable, "-P", "-m", "dumbbell.engines.virtual.guard")
INIT: Final = Path(kernels.__file__).with_name("guest_init")
"""The crate `guest-init`: the first process of a kernel."""
LINKS: Final = Path(kernels.__file__).with_name("guest_links.so")
"""The crate `guest-links`: it carries packets inside the kernel's process."""

SILENCE_S: Final = {"setting up": 600.0, "running": 3600.0, "writing the records": 3600.0}
"""The longest time without an event in each phase. The guard notices a kernel that stands still, by what it computes;
this is for a guard that does not."""
LONGEST_S: Final = float("inf")
"""A run may take as long as it needs: it is no worse for it."""
STOPPING_S: Final = 15.0


class VirtualEngine:
    """The TCP of any Linux, compiled as a user-mode kernel, in virtual time."""

    capabilities = CAPABILITIES

    def __init__(
        self,
        guard: Sequence[str] = GUARD,
        silence_s: Mapping[str, float] = SILENCE_S,
        stopping_s: float = STOPPING_S,
        links: Path | None = LINKS,
    ) -> None:
        """Use another `guard` command, other bounds, or no library of `links` only in tests."""
        self._guard, self._silence_s, self._stopping_s = guard, silence_s, stopping_s
        self._links = links

    def check(self, scenario: Scenario, plan: Plan, text: str | None = None) -> list[Problem]:
        """The problems that keep a kernel, or this machine, from carrying out `plan`."""
        problems = [
            *refuse_outside(scenario, plan),
            *check_platform(),
            *check_built([INIT, *([self._links] if self._links else [])]),
        ]
        if not problems:
            try:
                kernel = kernels.find(plan.emulate.kernel or kernels.DEFAULT)
            except InputError as error:
                return list(error.problems)
            problems = [*refusals.check(scenario, kernel), *check_sysctls(scenario, kernel)]
            if kernel.machine is not None:
                return [*problems, *refusals.check_ready(scenario, plan)]
            problems += [*check_programs(scenario, plan), *quic.check_quic(scenario, plan)]
            problems += check_routers(scenario, plan, kernel)
            problems += refuse_cpus(scenario, plan, "a kernel in virtual time has one CPU")
            problems += refusals.check_linked(scenario, kernel)
        return problems

    def prepare(self, plan: Plan, directory: Path, lock: int) -> Conductor:
        """A run of `plan`."""
        name = plan.emulate.kernel or kernels.DEFAULT
        kernel = kernels.find(name, programs(plan, directory))
        quic.offer(plan)
        bounds = Bounds(self._silence_s, LONGEST_S, self._stopping_s)
        command = [*self._guard, "--kernel", str(kernel.path), "--release", kernel.version]
        if (machine := kernel.machine) is not None:
            command += in_machine(machine)
            before = partial(algorithms.prepare, plan, directory)
            return Conductor(command, directory, lock, bounds, before, fixed_links=_FIXED)
        command += ["--init", str(INIT)]
        if self._links is not None:
            command += ["--links", str(self._links)]
        return Conductor(command, directory, lock, bounds, fixed_links=_FIXED)


def in_machine(machine: Machine) -> list[str]:
    """The guard's options for a kernel in a virtual machine."""
    options = {"init": machine.initrd, "qemu": machine.qemu, "snapshot": machine.snapshot, "take": ALGORITHMS}
    return [word for name, value in options.items() for word in (f"--{name}", str(value))]


_FIXED: Final = "in virtual time an order comes at a time that nobody chose, and the run would not be the same again"


def check_platform() -> Iterator[Problem]:
    """Problems with this kind of machine."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        yield Problem(
            "a kernel in virtual time needs Linux on x86-64",
            f"this is {sys.platform} on {platform.machine()}",
            "run it on such a machine, or with --engine simulate",
        )


def check_built(programs: Sequence[Path]) -> Iterator[Problem]:
    """Programs of dumbbell that are not there."""
    missing = [str(program) for program in programs if not program.is_file()]
    if missing:
        what = "the engine of virtual time is not complete"
        yield Problem(what, f"there is no {', no '.join(missing)}", rebuild("kernel"))


def check_sysctls(scenario: Scenario, kernel: Kernel) -> Iterator[Problem]:
    """Settings that a scenario asks for and the kernel does not have."""
    if scenario.hosts.sysctls:
        other = "--kernel NAME runs another one; --engine emulate has those of this machine"
        yield from sysctls.lacking(scenario, kernel.sysctls, f"the kernel {kernel.name}", other)


def create() -> VirtualEngine:
    """The engine, as the registry asks for it."""
    return VirtualEngine()
