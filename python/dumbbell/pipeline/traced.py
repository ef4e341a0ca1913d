"""Calls of a user's congestion control in a simulated run: what each read and set."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from dumbbell.cc.compile import compiled
from dumbbell.cc.source import Program
from dumbbell.core import core
from dumbbell.engines.registry import engine
from dumbbell.errors import InputError, RunFailed, ScenarioError
from dumbbell.frozen import dataclass
from dumbbell.hints import nearest, some
from dumbbell.pipeline.planned import planned
from dumbbell.plan import wire
from dumbbell.plan.parts import group
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.resolve.labels import Labelled

CALLBACKS: Final = (
    "init",
    "ssthresh",
    "cong_avoid",
    "cong_control",
    "set_state",
    "cwnd_event",
    "in_ack_event",
    "pkts_acked",
    "undo_cwnd",
    "min_tso_segs",
    "sndbuf_expand",
)
"""Callbacks of the kernel that the simulator calls."""

_STATE: Final = re.compile(
    rb"struct\s++(\w++)\s*+\*\s*+(?:\w++\s*+=|\w++\([^;{}]{0,400}\)\s*+\{\s*+return)\s*+inet_csk_ca\s*+\("
)


@dataclass(frozen=True)
class Wanted:
    """The calls that are wanted."""

    flows: Sequence[str]
    """Ids of flows, or of groups of them; empty: all."""
    callbacks: Sequence[str]
    """Empty: all."""
    from_ns: int
    """The first moment."""
    to_ns: int
    """The moment after the last."""
    changes: bool
    """Only calls that set a field to another value."""
    most: int
    """The most calls."""


@dataclass(frozen=True)
class Traced:
    """The calls that were found."""

    calls: list[dict[str, object]]
    """`time_ns`, `flow`, `call`, `returns`, `fault`, and as lists of lists `arguments`, `read` and `set`."""
    more: bool
    """True if there were more."""
    failure: str | None
    """Why the simulation stopped before its end."""


def trace(scenario: Scenario, wanted: Wanted) -> Traced:
    """Simulate `scenario`, and keep the wanted calls of its users' programs. Nothing is written.

    Raises:
        ScenarioError: it can't be simulated.
        InputError: it has no such flow.
        RunFailed: a program does not compile.
    """
    simulator = engine("simulate")
    plan = planned(simulator, scenario)
    known = list(dict.fromkeys(name for flow in plan.flows for name in (flow.id, group(flow))))
    for name in wanted.flows:
        if name not in known:
            hint = nearest(name, known, some(known))
            raise InputError(f"--flow {name}: the scenario has no such flow", "", hint)
    text = wire.text(plan)
    problems = simulator.check(scenario, plan, text)
    if problems:
        raise ScenarioError(list(problems))
    labels = resolve(scenario).labels.values()
    programs = [one.algorithm.bpf for one in labels if isinstance(one, Labelled) and one.algorithm.bpf is not None]
    objects: dict[str, bytes | bytearray] = {one.program.sha256: _object(one.program) for one in programs}
    try:
        told = core.simulate_traced(text, plan.simulate.tso, objects, json.dumps(asdict(wanted)))
    except RuntimeError as error:
        what, _, why = str(error).partition(": ")
        raise RunFailed(what, why) from error
    return Traced(**json.loads(told))


def _object(program: Program) -> bytes:
    """The program compiled, with a variable whose type tells the names of its private state, if the source shows it."""
    found = _STATE.search(program.content)
    if program.compiled or found is None:
        return compiled(program).object
    # Behind the last line, so that lines keep their numbers.
    named = Program(program.stem, program.content + b"\nstruct %s *db_traced_state;\n" % found[1], compiled=False)
    try:
        return compiled(named).object
    except RunFailed:
        # The structure is not known there.
        return compiled(program).object
