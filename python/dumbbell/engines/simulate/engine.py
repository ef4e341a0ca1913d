"""The simulation engine: see whether the simulator can carry out a plan, and let it.

It works in this process, without a privilege, a kernel or a clock, on any platform that the core is built for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbell.core import function
from dumbbell.engines import names
from dumbbell.engines.protocol import OnEvent, Outcome
from dumbbell.engines.signals import ENDED_AT_ONCE, taken_over
from dumbbell.engines.simulate import refusals
from dumbbell.errors import Interrupted, Problem, RunFailed
from dumbbell.scenario.model import Scenario


class SimulateEngine:
    """Linux's TCP as we model it, over the links of emulation, in virtual time."""

    name = names.SIMULATE

    def check(self, scenario: Scenario, plan: Mapping[str, Any], text: str | None = None) -> list[Problem]:
        """What of `plan` the simulator can't do; the same on every machine. `text`: the plan as JSON, if known."""
        try:
            # A setting of all hosts is a problem of each.
            return list(dict.fromkeys(refusals.check(scenario, plan, text)))
        except RunFailed as error:
            return list(error.problems)

    def execute(self, plan: Mapping[str, Any], directory: Path, lock: int, on_event: OnEvent) -> Outcome:
        """Carry out `plan`. The first Ctrl-C stops early and keeps what was simulated, the second ends at once."""
        stop = _Stop(on_event)
        simulate = function("simulate")
        with taken_over(stop.ask):
            on_event({"event": "simulating"})
            try:
                interrupted = simulate(str(directory), plan["simulate"]["tso"], stop.go_on)
            except RuntimeError as error:
                said, _, hint = str(error).partition("\nhint: ")
                what, _, why = said.partition(": ")
                raise RunFailed(what, why, hint) from error
        return Outcome(bool(interrupted))


class _Stop:
    """Passes on what the simulator tells, and tells it when to stop."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self._asked = False
        self._told = False

    def ask(self) -> None:
        """A signal has come. This may be in the midst of anything."""
        if self._asked:
            raise Interrupted(ENDED_AT_ONCE)
        self._asked = True

    def go_on(self, text: str) -> bool:
        """The simulator tells an event, and asks whether to go on."""
        self._on_event(json.loads(text))
        if self._asked and not self._told:
            self._told = True
            self._on_event({"event": "stopping"})
        return not self._asked
