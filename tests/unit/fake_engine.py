"""An engine that writes known records at once, for tests of what runs many runs."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import known_run

from dumbbell.engines.names import EMULATE
from dumbbell.engines.protocol import Outcome
from dumbbell.engines.registry import capabilities
from dumbbell.engines.work import Tell, Worker
from dumbbell.errors import Interrupted, Problem, RunFailed
from dumbbell.plan.types import Plan

Files = dict[str, Any]


def scenario(name: str = "synthetic", seed: int = 1) -> dict[str, Any]:
    """A scenario whose plan fits the known records: two flows on a path, for 2 s."""
    return {
        "name": name,
        "duration": "2 s",
        "seed": seed,
        "topology": {"kind": "path", "rtt": "20 ms", "bottleneck": {"rate": "10 Mbit/s", "buffer": "1 bdp"}},
        "flows": [{"from": "h1", "to": "h2", "cc": cc} for cc in ("cubic", "bbr")],
    }


class FakeEngine:
    """`outcomes` gives the outcome of each execution in turn: `valid`, `invalid` or `failed`, or `interrupted` by
    Ctrl-C, after which it goes on until it is ended. Then all are valid.

    `change` gets the plan and may alter the files of a run.
    """

    def __init__(
        self,
        outcomes: Sequence[str] = (),
        name: str = EMULATE,
        change: Callable[[Plan, Files], None] = lambda plan, files: None,
        problems: Sequence[Problem] = (),
    ) -> None:
        self.capabilities = capabilities(name)
        self.executed: list[tuple[str, int]] = []
        """Name and seed of each plan, in order."""
        self.most_at_once = 0
        self.outcomes = iter(outcomes)
        self.change, self._problems = change, problems
        self._now = 0
        self._turn = threading.Lock()

    def check(self, scenario: Any, plan: Plan, text: str | None = None) -> list[Problem]:
        """Returns the problems that the engine was given."""
        return list(self._problems)

    def prepare(self, plan: Plan, directory: Path, lock: int) -> Worker:
        """Write the records."""
        return Worker(lambda tell: self._work(plan, directory, tell), "there is no link")

    def _work(self, plan: Plan, directory: Path, tell: Tell) -> Outcome:
        with self._turn:
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            self.executed.append((plan.name, plan.seed))
            outcome = next(self.outcomes, "valid")
        try:
            return self._execute(outcome, plan, directory, tell)
        finally:
            with self._turn:
                self._now -= 1

    def _execute(self, outcome: str, plan: Plan, directory: Path, tell: Tell) -> Outcome:
        progress = {"event": "progress", "time_ns": 0, "flows": [], "links": []}
        tell(progress)
        if outcome == "interrupted":
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(3000):
                time.sleep(0.01)
                if not tell(progress):
                    raise Interrupted("the run was interrupted")
            raise AssertionError("nobody ends the run")
        if outcome == "failed":
            raise RunFailed("the lab fell over")
        simulated = self.capabilities.batches
        files = known_run.simulator_output() if simulated else known_run.engine_output()
        files["plan.json"] = known_run.PLAN | {"name": plan.name, "seed": plan.seed}
        if outcome == "invalid":
            files["emulator.json"]["ring_drops"] = 1
        self.change(plan, files)
        known_run.write(directory, files)
        return Outcome(interrupted=False)
