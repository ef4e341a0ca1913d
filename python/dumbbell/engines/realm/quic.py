"""The program of QUIC flows, `dumbbell-quic`: whether this machine has it, and the stacks that it has."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from dumbbell.errors import Problem
from dumbbell.plan.parts import kind
from dumbbell.plan.types import Plan
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.source import Finding

NAME: Final = "dumbbell-quic"
VARIABLE: Final = "DUMBBELL_QUIC"
"""Environment variable with the path of another build of the program. The crate `traffic` reads it."""
_TIMEOUT_S: Final = 30.0
_CHECKOUT: Final = Path(__file__).parents[4]
HINT: Final = (
    "run: make quic"
    if (_CHECKOUT / "quic" / "Cargo.toml").is_file()
    else f"wheels do not bring it: in a checkout of dumbbell run make quic, and name the program by {VARIABLE}=PATH"
)
"""How to get the program."""


def program() -> str | None:
    """Path of the program: the variable's, or beside Python, which sudo keeps off the PATH, or on the PATH."""
    beside = Path(sys.executable).with_name(NAME)
    return os.environ.get(VARIABLE) or (str(beside) if beside.is_file() else shutil.which(NAME))


def stacks(path: str) -> Mapping[str, tuple[str, ...]]:
    """The stacks of a program with their congestion controls. Raises `OSError` or `ValueError` if it lists none."""
    done = subprocess.run([path, "stacks"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    if done.returncode:
        raise ValueError(f"`{path} stacks` failed: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return {one["name"]: tuple(one["algorithms"]) for one in json.loads(done.stdout)}


def check_quic(scenario: Scenario, plan: Plan) -> Iterator[Problem]:
    """Stacks that flows ask for and this machine lacks."""
    entries = {one.id: one.entry for one in resolve(scenario).connections}
    asked = {entries[flow.id]: needed for flow in plan.flows if (needed := kind(flow).quic_stack(flow.workload))}
    if not asked:
        return
    path, there, why = program(), None, f"no {NAME} beside Python or on the PATH"
    try:
        there = None if path is None else stacks(path)
    except (OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
        why = str(error)
    if there is None:
        at = ("flows", next(iter(asked)), "protocol")
        finding = Finding(at, f"this machine lacks the program of QUIC flows ({why})", "", HINT)
        yield scenario.source.problem(finding)
        return
    for entry, (stack, cc) in asked.items():
        if cc not in there.get(stack, ()):
            has = "; ".join(f"{name}: {', '.join(names)}" for name, names in there.items())
            what = f"{path} has no {stack} with {cc}"
            yield scenario.source.problem(Finding(("flows", entry, "stack"), what, has, HINT))


def settled(plan: Plan) -> Plan:
    """The plan with the hash of the program that its QUIC flows run: another build's runs are others.

    A plan without such flows is unchanged, and so is one whose program is missing: `check_quic` refuses that.
    """
    if not _is_asked(plan) or (path := program()) is None:
        return plan
    try:
        found = os.stat(path)
        told = _sha256(path, found.st_ino, found.st_size, found.st_mtime_ns)
    except OSError:
        return plan
    return replace(plan, emulate=replace(plan.emulate, quic_sha256=told))


@functools.lru_cache(maxsize=8)
def _sha256(path: str, *_identity: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_asked(plan: Plan) -> bool:
    return any(kind(flow).quic_stack(flow.workload) for flow in plan.flows)


def offer(plan: Plan) -> None:
    """Tell processes that this one starts where the program is, if the plan needs it."""
    if _is_asked(plan) and (path := program()) is not None:
        # The same for all runs of this process: nothing is lost if two set it at once.
        os.environ[VARIABLE] = path
