"""Checks of the kernel's congestion controls and queueing disciplines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from dumbbell.cc import core
from dumbbell.doctor.finding import Finding, Level
from dumbbell.engines.realm import qdiscs as disciplines
from dumbbell.engines.realm.algorithms import has_algorithm
from dumbbell.engines.realm.outside import PROGRAM
from dumbbell.errors import RunFailed
from dumbbell.machine import has_module
from dumbbell.plan.algorithms import available

EXPECTED: Final = ("reno", "cubic", "bbr")
"""Algorithms that the bundled scenarios use."""


def algorithms(modules: Path | None = None) -> Iterator[Finding]:
    """The algorithms of the bundled scenarios, then the others that this kernel has.

    Args:
        modules: where this kernel's modules lie; `/lib/modules/<release>` if not given.
    """
    for name in EXPECTED:
        if has_algorithm(name):
            yield Finding(f"congestion control {name}", Level.OK, "available")
        elif has_module(f"tcp_{name}", modules):
            why = "its module is not loaded, and only root can load it"
            fix = f"sudo modprobe tcp_{name}; at each start: echo tcp_{name} | sudo tee /etc/modules-load.d/{name}.conf"
            yield Finding(f"congestion control {name}", Level.WARN, why, fix)
        else:
            why = "this kernel was built without it"
            fix = "install your distribution's standard kernel, or one with more modules"
            yield Finding(f"congestion control {name}", Level.WARN, why, fix)
    others = sorted(set(available()) - set(EXPECTED) - _ours())
    if others:
        yield Finding("other congestion controls", Level.OK, ", ".join(others))


def qdiscs(has: Callable[[str], bool] = disciplines.has) -> Finding:
    """The queueing disciplines of which `emulate.links` can make links in real time."""
    there = [name for name in disciplines.KNOWN if has(name)]
    missing = [name for name in disciplines.KNOWN if name not in there]
    if not missing:
        return Finding("queueing disciplines", Level.OK, ", ".join(there))
    told = f"{', '.join(there) or 'none'}; missing: {', '.join(missing)}"
    why = f"{told}. Only emulate.links in real time needs them; kernels in virtual time have their own"
    return Finding("queueing disciplines", Level.WARN, why, disciplines.remedy(missing))


def outside(lacking: tuple[str, str] | None) -> Finding:
    """The finding on the program that leads labs to this machine's network. `lacking`: as `realm.outside.lacking`."""
    name, needs = "labs' way to this machine's network", "needed only for routers with `nat`"
    if lacking is None:
        return Finding(name, Level.OK, f"{PROGRAM}; {needs}")
    return Finding(name, Level.WARN, f"{lacking[0]}; {needs}", lacking[1])


def _ours() -> set[str]:
    """Names of algorithms that dumbbell has loaded for a run or to stay, which have their own line."""
    try:
        told = core.registered()
    except RunFailed:
        return set()
    return {one["name"] for one in (*told["stay"], *told["runs"])}
