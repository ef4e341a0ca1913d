"""An engine for nodes of a cluster: it writes known records after a while, and notes what it does in a file."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import known_run

from dumbbell.engines.names import EMULATE
from dumbbell.engines.protocol import Outcome
from dumbbell.engines.registry import capabilities
from dumbbell.engines.work import Tell, Worker
from dumbbell.errors import Interrupted, Problem
from dumbbell.plan.types import Plan


class NotingEngine:
    """Takes `lasts_s` for a run, and a minute on the node `slow`. The first run with a seed of `invalid` is so."""

    capabilities = capabilities(EMULATE)

    def __init__(
        self,
        notes: Path,
        lasts_s: float,
        invalid: Sequence[int] = (),
        slow: str = "",
        problems: Sequence[Problem] = (),
    ) -> None:
        self._notes, self._lasts_s, self._slow = notes, lasts_s, slow
        self._invalid, self._problems = invalid, problems

    def check(self, scenario: Any, plan: Plan, text: str | None = None) -> Sequence[Problem]:
        """Returns the problems that the engine was given."""
        return self._problems

    def prepare(self, plan: Plan, directory: Path, lock: int) -> Worker:
        """Note the begin, wait, write the records, note the end."""
        return Worker(lambda tell: self._work(plan, directory, tell), "there is no link")

    def _work(self, plan: Plan, directory: Path, tell: Tell) -> Outcome:
        import ray

        node = ray.get_runtime_context().get_node_id()
        earlier = self.ended()
        self._note("begun", plan.seed, node)
        deadline = time.monotonic() + (60.0 if node == self._slow else self._lasts_s)
        while time.monotonic() < deadline:
            time.sleep(0.02)
            if not tell({"event": "progress", "time_ns": 0, "flows": [], "links": []}):
                self._note("interrupted", plan.seed, node)
                raise Interrupted("the run was interrupted")
        files = known_run.engine_output()
        files["plan.json"] = known_run.PLAN | {"name": plan.name, "seed": plan.seed}
        if plan.seed in self._invalid and plan.seed not in earlier:
            files["emulator.json"]["ring_drops"] = 1
        known_run.write(directory, files)
        self._note("ended", plan.seed, node)
        return Outcome(interrupted=False)

    def noted(self) -> list[tuple[str, int, str]]:
        """The runs that began, ended, or were interrupted, with seed and node, in order."""
        lines = self._notes.read_text().splitlines() if self._notes.exists() else []
        return [(what, int(seed), node) for what, seed, node in map(str.split, lines)]

    def ended(self) -> list[int]:
        """The seeds of runs that are complete."""
        return [seed for what, seed, _ in self.noted() if what == "ended"]

    def _note(self, what: str, seed: int, node: str) -> None:
        notes = os.open(self._notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(notes, f"{what} {seed} {node}\n".encode())
        os.close(notes)
