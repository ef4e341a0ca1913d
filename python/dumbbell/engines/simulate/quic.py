"""Runs with QUIC flows: the simulator with stacks of others is part of another program, `dumbbell-quic`."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

from dumbbell.engines.events import Event
from dumbbell.engines.protocol import Batch, Judging
from dumbbell.engines.realm.quic import check_quic
from dumbbell.errors import Problem
from dumbbell.plan.parts import kind
from dumbbell.plan.types import Plan
from dumbbell.quic.program import NAME, program, to_get
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.source import Finding


def builds(plan: Plan) -> list[str]:
    """The builds of the program that the QUIC flows of `plan` ask for; empty without such flows."""
    found = (kind(flow).quic_stack(flow.workload) for flow in plan.flows)
    return sorted({stack.build for stack in found if stack is not None})


def builds_of(text: str) -> list[str]:
    """The same of a plan as JSON."""
    # Most plans have no such flow, and need not be read for this.
    if '"stack"' not in text:
        return []
    workloads = (flow["workload"] for flow in json.loads(text)["flows"])
    return sorted({one["stack"].partition("@")[2] for one in workloads if "stack" in one})


def check(scenario: Scenario, plan: Plan) -> Iterator[Problem]:
    """QUIC flows that this machine can't simulate."""
    yield from check_quic(scenario, plan)
    asked = builds(plan)
    if len(asked) > 1:
        entries = {one.id: one.entry for one in resolve(scenario).connections}
        stacks = {entries[flow.id]: kind(flow).quic_stack(flow.workload) for flow in plan.flows}
        entry = next(entry for entry, stack in stacks.items() if stack is not None and stack.build != asked[0])
        what = "one build simulates a run, and its flows ask for several"
        hint = "simulate each build in a run of its own, or run it with --engine emulate or --engine virtual"
        yield scenario.source.problem(Finding(("flows", entry, "stack"), what, "", hint))


def simulate(plan: Plan, directory: Path, tell: Callable[[Event], bool]) -> bool:
    """Carry out the plan in `directory`, as `core.simulate` does. Returns whether it was interrupted."""
    (build,) = builds(plan)
    return _converse(_program(build), ["simulate", str(directory)], None, tell, None)


def simulate_many(batch: Batch, threads: int, judging: Judging, tell: Callable[[Event], bool]) -> None:
    """Carry out the runs that the batch's directory lacks, as `core.simulate_many` does: one build after the other."""
    # A plan without QUIC flows is any program's.
    asked = [builds_of(text) for text in batch.plans]
    first = next(builds[0] for builds in asked if builds)
    of_plans = [builds[0] if builds else first for builds in asked]
    of_runs = [of_plans[run[1]] for run in batch.runs]
    before: Progress = dict.fromkeys(_COUNTED, 0)
    for build in dict.fromkeys(of_runs):
        last = dict(before)
        goes_on = True

        def tell_all(event: Event, before: Progress = before, last: Progress = last) -> bool:
            nonlocal goes_on
            last |= {key: before[key] + event[key] for key in _COUNTED}
            goes_on = tell({**event, **last, "of": len(batch.runs)}) and goes_on
            return goes_on

        own = [one == build for one in of_runs]
        message = _message(batch, threads, judging, own)
        _converse(_program(build), ["simulate-many"], message, tell_all, judging)
        if not goes_on:
            return
        before = last


Progress = dict[str, float]
_COUNTED: Final = ("runs", "found", "failed", "packets", "simulated_s", "cpu_s", "wall_s")
"""Keys of progress that add up over builds."""


def _message(batch: Batch, threads: int, judging: Judging, own: Sequence[bool]) -> str:
    asked = {
        "plans": batch.plans,
        "runs": batch.runs,
        "directory": str(batch.directory),
        "shard_runs": batch.shard_runs,
        "threads": threads,
        "first": batch.first,
        "objects": {name: content.hex() for name, content in batch.objects},
        "screen": [judging.limited_share, judging.window_packets],
    }
    return json.dumps(asked if all(own) else asked | {"own": own})


def _program(build: str) -> str:
    path = program(build)
    if path is None:
        raise RuntimeError(f"simulating QUIC flows: this machine lacks {NAME}\nhint: {to_get()}")
    return path


def _converse(
    program: str, words: Sequence[str], first: str | None, tell: Callable[[Any], bool], judging: Judging | None
) -> bool:
    """Start the program, and answer its lines until it has ended. Raises `RuntimeError` as the core does."""
    command = [program, *words]
    if not os.access(program, os.X_OK):
        raise RuntimeError(f"simulating QUIC flows: there is no program {program}\nhint: {to_get()}")
    pipe = subprocess.PIPE
    # Ctrl-C in a terminal is for this process, which asks the program to stop.
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True) as process:
        assert process.stdin is not None, "it is a pipe"
        assert process.stdout is not None, "it is a pipe"
        try:
            if first is not None:
                _answer(process.stdin, first)
            for line in process.stdout:
                said, value = _understood(program, line)
                if said == "ended":
                    return bool(value)
                if said == "failed":
                    raise RuntimeError(value)
                if said == "judge":
                    assert judging is not None, "only a batch asks for verdicts"
                    answer: object = judging.judge(*value)
                else:
                    answer = tell({"event": "progress"} | value)
                _answer(process.stdin, json.dumps(answer))
        except BaseException:
            process.kill()
            raise
    if process.returncode < 0:
        name = signal.Signals(-process.returncode).name
        hint = "\nhint: the kernel does so when memory runs out, and dmesg tells" if name == "SIGKILL" else ""
        raise RuntimeError(f"simulating QUIC flows: {program} was killed by {name}{hint}")
    why = f"{program} ended before its work was done, with exit code {process.returncode}"
    raise RuntimeError(f"simulating QUIC flows: {why}\nhint: {to_get()}")


def _understood(program: str, line: str) -> tuple[str, Any]:
    try:
        ((said, value),) = json.loads(line).items()
    except (AttributeError, ValueError):
        why = f"{program} is of another version, or no {NAME}: it printed {line.strip()[:60]!r}"
        raise RuntimeError(f"simulating QUIC flows: {why}\nhint: {to_get()}") from None
    return said, value


def _answer(pipe: IO[str], text: str) -> None:
    # A program that has ended reads nothing; its exit code tells more.
    with contextlib.suppress(BrokenPipeError):
        pipe.write(text + "\n")
        pipe.flush()
