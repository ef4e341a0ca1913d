"""The emulation engine: check that this machine can carry out a plan, then conduct the helper that does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from dumbbell.engines.emulate.capabilities import CAPABILITIES
from dumbbell.engines.realm import algorithms, machine, quic
from dumbbell.engines.realm.conductor import Bounds, Conductor
from dumbbell.engines.realm.outside import refuse_outside
from dumbbell.errors import Problem
from dumbbell.plan.types import Plan
from dumbbell.scenario.model import Scenario

SILENCE_S: Final = {"setting up": 120.0, "running": 30.0, "writing the records": 300.0}
"""The longest time without an event in each phase. There is one every 100 ms while it is running."""
OVERTIME_S: Final = 300.0
"""The time that the traffic may take in all beyond the plan."""
STOPPING_S: Final = 15.0
"""The time that a lab that is still being set up may take to end after the first interrupt."""


class EmulateEngine:
    """Real Linux TCP between network namespaces, over our own link emulator."""

    capabilities = CAPABILITIES

    def __init__(
        self,
        helper: Sequence[str] = machine.HELPER,
        silence_s: Mapping[str, float] = SILENCE_S,
        stopping_s: float = STOPPING_S,
    ) -> None:
        """Use another `helper` command or other bounds only in tests."""
        self._helper = helper
        self._silence_s = silence_s
        self._stopping_s = stopping_s

    def check(self, scenario: Scenario, plan: Plan, text: str | None = None) -> list[Problem]:
        """The problems that keep this machine from carrying out `plan`."""
        return [*refuse_outside(scenario, plan), *machine.check(scenario, plan)]

    def prepare(self, plan: Plan, directory: Path, lock: int) -> Conductor:
        """A run of `plan`."""
        quic.offer(plan)
        bounds = Bounds(self._silence_s, plan.duration_ns / 1e9 + OVERTIME_S, self._stopping_s)
        return Conductor(self._helper, directory, lock, bounds, lambda: algorithms.prepare(plan, directory))


def create() -> EmulateEngine:
    """The engine, as the registry asks for it."""
    return EmulateEngine()
