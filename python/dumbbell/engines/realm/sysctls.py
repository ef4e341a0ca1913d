"""Settings of hosts that a scenario asks for and a kernel lacks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from dumbbell.errors import Problem
from dumbbell.hints import nearest
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Finding


def names(root: Path) -> frozenset[str]:
    """All settings below a `/proc/sys`: `net.ipv4.tcp_ecn`, ... New namespaces have the same ones."""
    return frozenset(".".join(file.relative_to(root).parts) for file in (root / "net").rglob("*") if file.is_file())


def lacking(scenario: Scenario, there: Collection[str], kernel: str, otherwise: str) -> Iterator[Problem]:
    """A problem for each setting that is not among those that are `there`.

    Args:
        scenario: the user's.
        there: all settings of the kernel.
        kernel: what to call it: "this kernel".
        otherwise: a hint for a name that resembles none.
    """
    for at, settings in scenario.hosts.sysctls:
        for name in settings:
            here = _here(name)
            if here in there:
                continue
            beside = f"{here.rpartition('.')[0]}."
            known = [f"{name.rpartition('.')[0]}.{one.removeprefix(beside)}" for one in there if one.startswith(beside)]
            hint = nearest(name, known, otherwise, likeness=0.7)
            finding = Finding((*at, "sysctl", name), f"{kernel} does not have this setting", "", hint)
            yield scenario.source.problem(finding)


def _here(sysctl: str) -> str:
    """A lab host's sysctl in a kernel that has other interfaces."""
    match sysctl.split("."):
        case [net, family, "conf" | "neigh" as kind, _, *rest]:
            return ".".join([net, family, kind, "default", *rest])
        case _:
            return sysctl
