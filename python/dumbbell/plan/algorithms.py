"""The plan's congestion controls, and the kernel's."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable
from itertools import islice
from pathlib import Path
from typing import Final

from dumbbell import kernels
from dumbbell.cc.bundled import BUNDLED, KERNEL, SIMULATED
from dumbbell.cc.compile import compiled
from dumbbell.cc.core import sha256_of
from dumbbell.cc.declared import with_values
from dumbbell.cc.parameters import Values
from dumbbell.cc.source import Program
from dumbbell.errors import Problem
from dumbbell.plan.types import (
    Algorithm,
    BundledSource,
    KernelSource,
    LinkedSource,
    ObjectSource,
    Plan,
    Source,
    TunedSource,
)
from dumbbell.scenario.file.writing import ALGORITHMS
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.resolve.labels import Label, Labelled
from dumbbell.scenario.source import MOST_FINDINGS, Finding, Key

_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def entries(labels: Iterable[Label]) -> tuple[Algorithm, ...]:
    """The plan's `algorithms`: all except the kernel's own under their own names, each once."""
    by_label = {one.label: _entry(one) for one in labels if isinstance(one, Labelled)}
    return tuple(by_label.values())


def _entry(labelled: Labelled) -> Algorithm:
    algorithm = labelled.algorithm
    source: Source
    sha256: str | None = None
    if algorithm.bpf is not None:
        stem = labelled.file.rpartition(".")[0]
        source, sha256 = ObjectSource(path=f"{ALGORITHMS}/{stem}.o"), algorithm.bpf.program.sha256
    elif algorithm.linked is not None:
        return _linked(labelled, algorithm.linked.program)
    elif algorithm.bundled is not None:
        source, sha256 = BundledSource(name=algorithm.bundled), sha256_of(algorithm.bundled)
    else:
        assert algorithm.own is not None
        source = KernelSource(name=algorithm.own)
    parameters = dict(sorted(algorithm.parameters.items()))
    return Algorithm(label=labelled.label, source=source, parameters=parameters, sha256=sha256)


def sources(labels: Iterable[Label]) -> dict[str, Algorithm]:
    """The user's BPF programs in C among these as sources of a kernel: label -> the plan's entry."""
    files = ((one, one.algorithm.bpf) for one in labels if isinstance(one, Labelled))
    return {one.label: _linked(one, file.program) for one, file in files if file and not file.program.compiled}


def _linked(labelled: Labelled, program: Program) -> Algorithm:
    parameters = dict(sorted(labelled.algorithm.parameters.items()))
    name = linked(labelled.label, program.content, labelled.file, parameters).registered
    source = LinkedSource(path=f"{ALGORITHMS}/{labelled.file}", name=name)
    return Algorithm(label=labelled.label, source=source, parameters=parameters, sha256=program.sha256)


def objects(labels: Iterable[Label]) -> dict[str, bytes]:
    """The user's programs among these, compiled: hash of the source -> object. Raises `RunFailed` if one is refused."""
    programs = [one.algorithm.bpf for one in labels if isinstance(one, Labelled) and one.algorithm.bpf is not None]
    return {one.program.sha256: compiled(one.program, file=one.name).object for one in programs}


def linked(label: str, content: bytes, file: str, parameters: Values) -> kernels.Program:
    """A user's source in C, with its parameters, as it is linked to a kernel."""
    return kernels.Program(label, with_values(content.decode(), parameters).encode(), file)


def with_parameters(label: str, name: str, parameters: Values) -> kernels.Program:
    """One that comes with dumbbell, with parameters other than its defaults, as it is linked to a kernel."""
    return kernels.tuned(label, BUNDLED[name].name, parameters)


def programs(plan: Plan, directory: Path) -> list[kernels.Program]:
    """The programs that a plan wants to be linked to its kernel; the user's sources are in the run's `directory`."""
    found = []
    for one in plan.algorithms:
        match one.source:
            case LinkedSource(path=path):
                found.append(linked(one.label, (directory / path).read_bytes(), Path(path).name, one.parameters))
            case TunedSource(of=of):
                found.append(with_parameters(one.label, of, one.parameters))
    return found


def available() -> list[str]:
    """Algorithms that are built in or loaded now, in the kernel's order; empty where the kernel does not list them.

    `tcp_allowed_congestion_control` does not matter: a user may set any of these inside a new namespace.
    """
    try:
        return _AVAILABLE.read_text().split()
    except OSError:
        return []


def own(scenario: Scenario) -> dict[Key, str]:
    """Place that names one of the kernel's own -> its name there."""
    found = {}
    for at, one in resolve(scenario).labels.items():
        name = one if isinstance(one, str) else one.algorithm.own
        if name is not None:
            found[at] = name
    return found


def lacking(scenario: Scenario, available: Collection[str]) -> list[Problem]:
    """A problem for each place whose algorithm is the kernel's own and not `available`."""
    missing = ((at, cc) for at, cc in own(scenario).items() if cc not in available)
    return [scenario.source.problem(_finding(at, cc, available)) for at, cc in islice(missing, MOST_FINDINGS)]


def _finding(at: Key, cc: str, available: Collection[str]) -> Finding:
    # Programs that a run, or somebody to stay, has registered under a name with a hash: nobody asks for them by it.
    there = sorted(name for name in available if not _REGISTERED.search(name))
    close = closest(cc, [*there, *BUNDLED])
    modprobe = f"if it is a module, load it: sudo modprobe tcp_{cc}"
    if cc in BUNDLED:
        hint = f'{cc} comes with dumbbell, too: cc = "{cc}"'
    elif cc in SIMULATED:
        simulate = "--engine simulate has it"
        hint = f"{simulate}. {_capital(modprobe)}" if cc in KERNEL else simulate
    elif close in BUNDLED and cc not in KERNEL:
        hint = f"did you mean {close}?"
    else:
        hint = f"did you mean {close}? {_capital(modprobe)}" if close else modprobe
    expected = f"one of {', '.join(there)}, or dumbbell's {', '.join(BUNDLED)}"
    return Finding(at, "this kernel has no such congestion control", expected, hint)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


_REGISTERED: Final = re.compile(r"_[0-9a-f]{6}$")


def closest(cc: str, names: Collection[str]) -> str | None:
    """The name that was probably meant: for `bbr4` another generation rather than `bbr`, which is `bbr1`."""
    if cc.removesuffix("1") in names:
        return cc.removesuffix("1")
    close = difflib.get_close_matches(cc.lower(), names, cutoff=0.7)
    return next((name for name in close if len(name) == len(cc)), close[0] if close else None)
