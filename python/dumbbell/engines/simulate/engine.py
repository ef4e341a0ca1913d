"""The simulation engine: see whether the simulator can carry out a plan, and let it.

It works in this process, without a privilege, a kernel or a clock, on any platform that the core is built for. Runs
with QUIC flows are the exception: the program with the stacks carries them out.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from dumbbell.core import core
from dumbbell.engines.events import Event
from dumbbell.engines.protocol import Batch, Judging, Outcome
from dumbbell.engines.realm import algorithms
from dumbbell.engines.simulate import quic, refusals
from dumbbell.engines.simulate.capabilities import CAPABILITIES
from dumbbell.engines.work import Tell, Worker
from dumbbell.errors import Problem, RunFailed
from dumbbell.plan.types import Plan
from dumbbell.scenario.model import Scenario


class SimulateEngine:
    """Linux's TCP as we model it, over the links of emulation, in virtual time."""

    capabilities = CAPABILITIES

    def check(self, scenario: Scenario, plan: Plan, text: str | None = None) -> list[Problem]:
        """The parts of `plan` that the simulator can't carry out; the same on every machine. `text`: the plan as JSON,
        if known."""
        try:
            # A setting of all hosts is a problem of each.
            return list(dict.fromkeys(refusals.check(scenario, plan, text)))
        except RunFailed as error:
            return list(error.problems)

    def prepare(self, plan: Plan, directory: Path, lock: int) -> Worker:
        """A run of `plan`."""

        def work(tell: Tell) -> Outcome:
            algorithms.prepare(plan, directory)
            tell({"event": "simulating"})
            try:
                if quic.builds(plan):
                    interrupted = quic.simulate(plan, directory, tell)
                else:
                    interrupted = core.simulate(directory, plan.simulate.tso, lambda text: tell(json.loads(text)))
            except RuntimeError as error:
                said, _, hint = str(error).partition("\nhint: ")
                what, _, why = said.partition(": ")
                raise RunFailed(what, why, hint) from error
            return Outcome(interrupted)

        return Worker(
            work, "a simulated run is the same each time, and an order comes at a time that nobody can repeat"
        )

    def run_batch(self, batch: Batch, threads: int, judging: Judging, tell: Callable[[Event], bool]) -> None:
        """Simulate the runs of a batch that its directory lacks; see `BatchEngine`."""
        if any(map(quic.builds_of, batch.plans)):
            quic.simulate_many(batch, threads, judging, tell)
            return
        core.simulate_many(
            batch.plans,
            batch.runs,
            batch.directory,
            lambda text: tell(json.loads(text)),
            shard_runs=batch.shard_runs,
            objects=dict(batch.objects),
            threads=threads,
            first=batch.first,
            judge=judging.judge,
            screen=(judging.limited_share, judging.window_packets),
        )


def create() -> SimulateEngine:
    """The engine, as the registry asks for it."""
    return SimulateEngine()
