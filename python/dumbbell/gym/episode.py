"""An episode's account, and its records as an ordinary run."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from dumbbell.core import core
from dumbbell.engines.protocol import Outcome
from dumbbell.engines.realm import algorithms
from dumbbell.engines.registry import engine
from dumbbell.engines.work import Tell, Worker
from dumbbell.errors import InputError, Problem, RunFailed
from dumbbell.gym.networks import ENGINE, LABEL, Episode, Networks
from dumbbell.pipeline.results import Run
from dumbbell.pipeline.run import run
from dumbbell.plan.types import Plan
from dumbbell.records.files import write_json
from dumbbell.scenario.file.loading import checked
from dumbbell.scenario.model import Scenario

Decisions = Mapping[str, Sequence[tuple[int, int, int | None]]]
"""By flow: ACKs before a decision, window and pacing rate in 1/1024."""

FILE: Final = "decisions.json"
"""Decisions in a run's directory."""


def refuse_several(networks: Networks) -> None:
    """Raises `InputError` if several connections are held."""
    if len(networks.agents) != 1:
        many = ", ".join(networks.agents)
        raise InputError(f"{many}: one flow can be held here", "", "gym.make_parallel holds several")


def info(episode: Episode) -> dict[str, Any]:
    """The network and the seed of an episode."""
    return {"network": dict(episode.network.change), "seed": episode.seed}


def account(episode: Episode) -> dict[str, Any]:
    """The account at an episode's end: simulated time in s, and payload that each flow's receiver got, bytes."""
    received = dict(zip(episode.network.flows, episode.run.received_bytes(), strict=True))
    return {**info(episode), "time_s": episode.run.now_ns() / 1e9, "received_bytes": received}


def ended(episode: Episode) -> list[bool]:
    """Which of the held flows have ended before the scenario."""
    is_before = episode.run.now_ns() < episode.network.duration_ns
    return [is_before and has_ended for has_ended in episode.run.ended()]


def write(networks: Networks, episode: Episode, directory: str | os.PathLike[str], report: bool) -> Run:
    """Simulate an episode once more, with its decisions, and write its records. Raises as `dumbbell.run`."""
    decisions: Decisions = dict(zip(episode.network.flows, episode.run.decisions(), strict=True))
    digest = hashlib.sha256(json.dumps(decisions, sort_keys=True).encode()).hexdigest()
    # The name tells episodes apart, and no engine takes it for an algorithm of its own.
    draft = networks.held_as(episode.network.change, f"{LABEL}-{digest[:8]}", {"seed": episode.seed})
    return run(checked(draft), directory=directory, engine=Replay(decisions), report=report)


class Replay:
    """The simulator, with flows that follow decisions."""

    def __init__(self, decisions: Decisions) -> None:
        """The decisions of all flows that are held."""
        self._decisions = decisions
        self.capabilities = engine(ENGINE).capabilities

    def check(self, scenario: Scenario, plan: Plan, text: str | None = None) -> list[Problem]:
        """None: the scenario was simulated before."""
        return []

    def prepare(self, plan: Plan, directory: Path, lock: int) -> Worker:
        """A run of `plan`."""

        def work(tell: Tell) -> Outcome:
            algorithms.prepare(plan, directory)
            write_json(directory / FILE, self._decisions)
            made: dict[str, Any] = dict(self._decisions)
            try:
                stopped = core.simulate_held(directory, plan.simulate.tso, made, lambda text: tell(json.loads(text)))
            except RuntimeError as error:
                what, _, why = str(error).partition(": ")
                raise RunFailed(what, why) from error
            return Outcome(stopped)

        return Worker(work, "decisions are replayed")
