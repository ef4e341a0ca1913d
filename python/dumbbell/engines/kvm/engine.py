"""The engine of ready kernels in real time: check that KVM boots one, then conduct the guard that runs it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from dumbbell import kernels
from dumbbell.command import command
from dumbbell.engines.conductor import Bounds, Conductor
from dumbbell.engines.emulate import algorithms
from dumbbell.engines.emulate.engine import OVERTIME_S, SILENCE_S, STOPPING_S, check_lab_cpus
from dumbbell.engines.kvm.capabilities import CAPABILITIES
from dumbbell.engines.virtual import refusals
from dumbbell.engines.virtual.engine import GUARD, check_built, check_platform, check_sysctls, in_machine
from dumbbell.errors import InputError, Problem
from dumbbell.kernels import Kernel, ready
from dumbbell.machine import cores
from dumbbell.plan.types import Plan
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Finding

_KEY: Final = ("emulate", "kernel")


class KvmEngine:
    """The TCP of a ready kernel, in a virtual machine, in real time."""

    capabilities = CAPABILITIES

    def __init__(self, accelerator: str = "kvm", within_s: float = ready.BOOTS_WITHIN_S) -> None:
        """Use another accelerator of QEMU, or more time for the trial boot, only in tests."""
        self._accelerator, self._within_s = accelerator, within_s

    def check(self, scenario: Scenario, plan: Plan, text: str | None = None) -> list[Problem]:
        """The problems that keep a kernel, or this machine, from carrying out `plan`."""
        problems = [*check_platform(), *check_built([ready.INIT])]
        if problems:
            return problems
        name = plan.emulate.kernel
        if name is None or ready.named(name) is None:
            return [scenario.source.problem(_unready(name))]
        try:
            kernel = kernels.find(name)
        except InputError as error:
            return list(error.problems)
        return [
            *self._check_boot(scenario, kernel),
            *refusals.check(scenario, kernel, one_cpu=False),
            *refusals.check_ready(scenario, plan),
            *check_sysctls(scenario, kernel),
            *check_lab_cpus(scenario),
        ]

    def _check_boot(self, scenario: Scenario, kernel: Kernel) -> Iterator[Problem]:
        assert kernel.machine is not None, "a ready kernel has one"
        why = ready.why_not_in_real_time(kernel.machine, self._accelerator, self._within_s)
        if why is not None:
            hint = (
                f"--engine virtual runs {kernel.name} without KVM, in virtual time; `dumbbell doctor` tries KVM again"
            )
            what = f"the kernel {kernel.name} cannot run in real time: {why}"
            yield scenario.source.problem(Finding(_KEY, what, "a machine whose KVM boots it", hint))

    def prepare(self, plan: Plan, directory: Path, lock: int) -> Conductor:
        """A run of `plan`."""
        assert plan.emulate.kernel is not None, "the plan was checked"
        kernel = kernels.find(plan.emulate.kernel)
        machine = kernel.machine
        assert machine is not None, "the plan was checked"
        cpus = plan.emulate.cpus or cores() or 1
        guard = [*GUARD, "--kernel", str(kernel.path), "--release", kernel.version, *in_machine(machine)]
        guard += ["--real-time", self._accelerator, "--cpus", str(cpus)]
        bounds = Bounds(SILENCE_S, plan.duration_ns / 1e9 + OVERTIME_S, STOPPING_S)
        return Conductor(guard, directory, lock, bounds, partial(algorithms.prepare, plan, directory))


def _unready(name: str | None) -> Finding:
    wrong = "this engine needs a ready kernel" if name is None else f"{name} is no ready kernel"
    add, ran = command("kernel", "add", "debian-6.12"), "--kernel debian-6.12"
    return Finding(
        _KEY, wrong, "one that was added", f"{add} gets one, and {ran} runs it; --engine virtual runs others"
    )


def create() -> KvmEngine:
    """The engine, as the registry asks for it."""
    return KvmEngine()
