"""Programs of flows: whether this machine has them."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from typing import Final

from dumbbell.errors import Problem
from dumbbell.plan.types import CommandWorkload, Plan
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.source import dotted


def check_programs(scenario: Scenario, plan: Plan) -> Iterator[Problem]:
    """Programs that flows need and this machine lacks."""
    entries = {one.id: one.entry for one in resolve(scenario).connections}
    for flow in plan.flows:
        if not isinstance(flow.workload, CommandWorkload):
            continue
        for key, line in (("command", flow.workload.command), ("server_command", flow.workload.server_command)):
            program = _program(line) if line else None
            if program and shutil.which(program) is None:
                at = ("flows", entries[flow.id], key)
                yield Problem(
                    f"flow {flow.id} needs the program {program!r}",
                    f"it is not on the PATH ({key} = {line!r})",
                    f"install it, e.g. sudo apt-get install {program}",
                    key=dotted(at),
                    place=scenario.source.place(at),
                )


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
