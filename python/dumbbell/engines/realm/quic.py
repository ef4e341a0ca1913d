"""The program of QUIC flows and other builds of it: what plans ask for, and what this machine has."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace

from dumbbell.errors import Problem
from dumbbell.plan.parts import kind
from dumbbell.plan.types import Plan
from dumbbell.quic.program import NAME, VARIABLE, Unusable, program, stacks, to_build, to_get
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.source import Finding
from dumbbell.scenario.traffic.kinds.flow import Stack


def check_quic(scenario: Scenario, plan: Plan) -> Iterator[Problem]:
    """Stacks that flows ask for and this machine lacks."""
    entries = {one.id: one.entry for one in resolve(scenario).connections}
    asked = {entries[flow.id]: needed for flow in plan.flows if (needed := kind(flow).quic_stack(flow.workload))}
    for build in dict.fromkeys(needed.build for needed in asked.values()):
        yield from _check_build(scenario, build, {at: needed for at, needed in asked.items() if needed.build == build})


def _check_build(scenario: Scenario, build: str, asked: Mapping[int, Stack]) -> Iterator[Problem]:
    path, there, why = program(build), None, f"no {NAME} beside Python or on the PATH"
    hint = to_build(next(iter(asked.values())).name, build) if build else to_get()
    try:
        there = None if path is None else stacks(path)
    except Unusable as error:
        why = str(error)
    if there is None:
        at, what = ("flows", next(iter(asked)), "protocol"), "this machine lacks the program of QUIC flows"
        if build:
            at, what = (*at[:2], "stack"), f"this machine lacks the build {build!r} of the program of QUIC flows"
        yield scenario.source.problem(Finding(at, f"{what} ({why})", "", hint))
        return
    for entry, stack in asked.items():
        if stack.cc not in there.get(stack.name, ()):
            has = "; ".join(f"{name}: {', '.join(names)}" for name, names in there.items())
            what = f"{path} has no {stack.name} with {stack.cc}"
            yield scenario.source.problem(Finding(("flows", entry, "stack"), what, has, hint))


def settled(plan: Plan) -> Plan:
    """The plan with the hash of the programs that its QUIC flows run: another build's runs are others.

    A plan without such flows is unchanged, and so is one with a program that is missing: `check_quic` refuses that.
    """
    hashes = []
    for path in map(program, sorted({one.build for one in _asked(plan)})):
        try:
            if path is None:
                return plan
            found = os.stat(path)
            hashes.append(_sha256(path, found.st_ino, found.st_size, found.st_mtime_ns))
        except OSError:
            return plan
    if not hashes:
        return plan
    joined = hashes[0] if len(hashes) == 1 else hashlib.sha256(" ".join(hashes).encode()).hexdigest()
    return replace(plan, emulate=replace(plan.emulate, quic_sha256=joined))


@functools.lru_cache(maxsize=8)
def _sha256(path: str, *_identity: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _asked(plan: Plan) -> list[Stack]:
    return [stack for flow in plan.flows if (stack := kind(flow).quic_stack(flow.workload))]


def offer(plan: Plan) -> None:
    """Tell processes that this one starts where the program is, if the plan needs it."""
    if _asked(plan) and (path := program()) is not None:
        # The same for all runs of this process: nothing is lost if two set it at once.
        os.environ[VARIABLE] = path
