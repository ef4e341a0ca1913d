from __future__ import annotations

from pathlib import Path
from typing import Any

import known_run

from dumbbell.engines.protocol import Outcome
from dumbbell.engines.work import Tell, Worker
from dumbbell.errors import Problem
from dumbbell.plan.parts import cc
from dumbbell.plan.types import Plan
from toy_engine.capabilities import CAPABILITIES


class ToyEngine:
    capabilities = CAPABILITIES

    def check(self, scenario: Any, plan: Plan, text: str | None = None) -> list[Problem]:
        """Algorithms that it does not have."""
        wrong = {cc(flow) for flow in plan.flows} - {"cubic", "bbr"}
        return [Problem(f"a toy has no {cc}", "it has cubic and bbr") for cc in wrong]

    def prepare(self, plan: Plan, directory: Path, lock: int) -> Worker:
        """Write known records."""

        def work(tell: Tell) -> Outcome:
            tell({"event": "progress", "time_ns": 0, "flows": [], "links": []})
            files = known_run.simulator_output()
            files["toy.json"] = files.pop("simulator.json")
            files["plan.json"] = known_run.PLAN | {"name": plan.name, "seed": plan.seed}
            known_run.write(directory, files)
            return Outcome(interrupted=False)

        return Worker(work, "a toy has no links")


def create() -> ToyEngine:
    """The registry calls this."""
    return ToyEngine()
