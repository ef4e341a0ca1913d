"""Keys of a scenario that a kernel in virtual time cannot obey, with what to use instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from dumbbell import kernels
from dumbbell.errors import Problem, RunFailed
from dumbbell.kernels import Kernel
from dumbbell.plan.algorithms import linked, own
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.resolve.labels import Labelled
from dumbbell.scenario.source import Finding, Key, dotted


def check(scenario: Scenario, kernel: Kernel) -> Iterator[Problem]:
    """All refusals."""
    for finding in _findings(scenario, kernel):
        yield scenario.source.problem(finding)


def _findings(scenario: Scenario, kernel: Kernel) -> Iterator[Finding]:
    seen = set()
    for at, found in resolve(scenario).labels.items():
        if isinstance(found, Labelled) and found.label not in seen:
            seen.add(found.label)
            yield from _algorithm(at, found, kernel)
    for at, name in own(scenario).items():
        if name not in kernel.algorithms:
            yield Finding(
                at, f"the kernel {kernel.name} has no such congestion control", _names(kernel), _closest(name, kernel)
            )
    if scenario.emulate.cpus is not None:
        hint = "leave it out: computing takes no time there"
        yield Finding(("emulate", "cpus"), "a kernel in virtual time has one CPU", "", hint)


def check_linked(scenario: Scenario, kernel: Kernel) -> Iterator[Problem]:
    """The compiler's complaints about sources of the user's that become part of the kernel."""
    for at, found in resolve(scenario).labels.items():
        if isinstance(found, Labelled) and (file := found.algorithm.linked) is not None:
            program = linked(found.label, file.program.content, found.file, found.algorithm.parameters)
            try:
                kernels.find(kernel.name, [program])
            except RunFailed as error:
                yield Problem.at(scenario.source.place(at), error.what, error.why, error.hint, dotted(at))


def _algorithm(at: Key, found: Labelled, kernel: Kernel) -> Iterator[Finding]:
    algorithm = found.algorithm
    if algorithm.bpf is not None:
        hint = "--engine emulate loads it"
        if not algorithm.bpf.program.compiled:
            hint = f'write cc = {{ kernel = "{algorithm.bpf.name}" }}, and it becomes part of the kernel; {hint}'
        yield Finding(at, f"{found.label}: a kernel in virtual time loads no BPF programs", "", hint)
    elif algorithm.bundled is not None and algorithm.bundled not in kernel.algorithms:
        hint = f"--engine emulate loads {algorithm.bundled} as a BPF program; --engine simulate has it, too"
        yield Finding(at, f"the kernel {kernel.name} has no {algorithm.bundled}", _names(kernel), hint)


def _names(kernel: Kernel) -> str:
    return f"one of {', '.join(kernel.algorithms)}"


def _closest(name: str, kernel: Kernel) -> str:
    close = difflib.get_close_matches(name, kernel.algorithms, n=1)
    return f"did you mean {close[0]}?" if close else "`dumbbell kernel build --help` says how a kernel gets another one"
