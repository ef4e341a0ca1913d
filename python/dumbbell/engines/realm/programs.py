"""Programs of a run: whether this machine has them, and the CPUs that they are to run on."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from typing import Final

from dumbbell.core import core
from dumbbell.errors import Problem
from dumbbell.plan.parts import kind
from dumbbell.plan.types import HostNode, Plan, RouterNode
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.source import Finding, Key, dotted


def check_programs(scenario: Scenario, plan: Plan) -> Iterator[Problem]:
    """Programs that flows need and this machine lacks."""
    for i, one in enumerate(scenario.programs):
        program = _program(one.command)
        if program and shutil.which(program) is None:
            at: Key = ("programs", i, "command")
            what, why = f"program {plan.programs[i].name} needs {program!r}", f"it is not on the PATH ({one.command!r})"
            yield Problem(what, why, _install(program), key=dotted(at), place=scenario.source.place(at))
    entries = {one.id: one.entry for one in resolve(scenario).connections}
    for flow in plan.flows:
        for key, line in kind(flow).command_lines(flow.workload).items():
            program = _program(line)
            if program and shutil.which(program) is None:
                at = ("flows", entries[flow.id], key)
                yield Problem(
                    f"flow {flow.id} needs the program {program!r}",
                    f"it is not on the PATH ({key} = {line!r})",
                    _install(program),
                    key=dotted(at),
                    place=scenario.source.place(at),
                )


def _install(program: str) -> str:
    # A path would be a package of the scenario's author, and a name may be a whole command line.
    return f"install it, e.g. sudo apt-get install {program}" if _PACKAGE.fullmatch(program) else "install it"


_PACKAGE: Final = re.compile(r"[a-z0-9][a-z0-9+.-]*")


def check_cpus(scenario: Scenario, plan: Plan) -> Iterator[Problem]:
    """CPUs of nodes that this process may not use, and shares of a CPU that this machine does not give."""
    limited = [node.name for node in plan.nodes if isinstance(node, HostNode | RouterNode) and node.cpu_ppm is not None]
    if limited and (refusal := core.cpu_share_refusal()) is not None:
        what, why, hint = refusal
        for name in limited:
            finding = Finding(("topology", "nodes", name, "cpu"), f"{what} ({why})", "", hint)
            yield scenario.source.problem(finding)
    allowed = os.sched_getaffinity(0)
    for node in plan.nodes:
        for cpu in node.cpus if isinstance(node, HostNode | RouterNode) else ():
            if cpu not in allowed:
                names = ", ".join(map(str, sorted(allowed)))
                at = ("topology", "nodes", node.name, "cpus")
                what = f"this machine does not let dumbbell use CPU {cpu}"
                yield scenario.source.problem(Finding(at, what, f"some of {names}", ""))


def refuse_cpus(scenario: Scenario, plan: Plan, what: str) -> Iterator[Problem]:
    """CPUs of nodes, and shares of one, where an engine has none to choose from or to share out; `what` says that."""
    for node in plan.nodes:
        if not isinstance(node, HostNode | RouterNode):
            continue
        for key, given in (("cpus", bool(node.cpus)), ("cpu", node.cpu_ppm is not None)):
            if given:
                hint = f"leave {key} out, or run it with --engine emulate"
                yield scenario.source.problem(Finding(("topology", "nodes", node.name, key), what, "", hint))


def _program(line: str) -> str | None:
    """The program that a shell command line starts, or `None` where only a shell can tell."""
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    if not words or any(character in words[0] for character in "=$;|&(<>`"):
        return None
    return None if words[0] in _SHELL_WORDS else words[0]


_SHELL_WORDS: Final = frozenset(
    ["cd", "exec", "export", "for", "if", "set", "trap", "ulimit", "umask", "until", "while"]
)
