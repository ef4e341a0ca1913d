"""Checks that this machine can build the network of a plan and carry out its traffic in real time."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dumbbell.command import rebuild
from dumbbell.engines.realm import algorithms, qdiscs, sysctls
from dumbbell.engines.realm.bridges import check_bridges
from dumbbell.engines.realm.programs import check_cpus, check_programs
from dumbbell.engines.realm.quic import check_quic
from dumbbell.engines.realm.routing import check_routers
from dumbbell.errors import Problem
from dumbbell.machine import cores
from dumbbell.plan.types import Plan
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Finding

HELPER: Final = (sys.executable, "-P", "-m", "dumbbell.engines.realm.helper")
"""Command of the process that becomes the lab, without its arguments."""

SYSCTLS: Final = Path("/proc/sys")


def check(scenario: Scenario, plan: Plan) -> list[Problem]:
    """Returns the problems that keep this machine from carrying out the `plan` of `scenario` in real time."""
    return [
        *_check_platform(),
        *algorithms.check(scenario),
        *_check_kernel(scenario),
        *qdiscs.check(scenario, plan),
        *_check_lab_cpus(scenario),
        *_check_sysctls(scenario),
        *_check_default_algorithms(scenario),
        *check_programs(scenario, plan),
        *check_quic(scenario, plan),
        *check_cpus(scenario, plan),
        *check_routers(scenario, plan),
        *check_bridges(scenario),
    ]


def _check_platform() -> Iterator[Problem]:
    if sys.platform != "linux":
        yield Problem(
            "the emulation engine needs Linux",
            f"this is {sys.platform}",
            "run it in a Linux virtual machine, or with --engine simulate",
        )
    elif importlib.util.find_spec("dumbbell._core") is None:
        yield Problem("the compiled core is missing", "dumbbell._core is not installed", rebuild())


def _check_kernel(scenario: Scenario) -> Iterator[Problem]:
    if scenario.emulate.kernel is not None:
        hint = "run it with --engine virtual, which takes any kernel"
        yield scenario.source.problem(Finding(("emulate", "kernel"), "this engine has this machine's kernel", "", hint))


def _check_lab_cpus(scenario: Scenario) -> Iterator[Problem]:
    """CPUs that a scenario asks for and this machine does not have."""
    asked, there = scenario.emulate.cpus, cores()
    if asked is not None and there is not None and asked > there:
        hint = f"emulate.cpus = {there}, or leave it out"
        finding = Finding(("emulate", "cpus"), f"this machine lets dumbbell use {there}", f"at most {there}", hint)
        yield scenario.source.problem(finding)


def _check_sysctls(scenario: Scenario) -> Iterator[Problem]:
    if any(settings for _, settings in scenario.hosts.sysctls):
        listed = "sysctl -aN lists what this kernel has"
        yield from sysctls.lacking(scenario, sysctls.names(SYSCTLS), "this kernel", listed)


def _check_default_algorithms(scenario: Scenario) -> Iterator[Problem]:
    """Algorithms that a namespace may not have as its default: the kernel lets it choose only among some."""
    try:
        allowed = (SYSCTLS / "net/ipv4/tcp_allowed_congestion_control").read_text(encoding="utf-8").split()
    except OSError:
        return
    for at, settings in scenario.hosts.sysctls:
        if (name := settings.get(_DEFAULT_CC)) is not None and name not in allowed:
            wrong = f"this kernel lets no host have {name} as its default"
            hint = f'set it per flow: cc = "{name}"'
            finding = Finding((*at, "sysctl", _DEFAULT_CC), wrong, f"one of {', '.join(allowed)}", hint)
            yield scenario.source.problem(finding)


_DEFAULT_CC: Final = "net.ipv4.tcp_congestion_control"
