"""The simulator as a training environment: Gymnasium's API for one flow, PettingZoo's parallel API for several.

    from dumbbell import gym
    env = gym.make("mine.toml", flow="f1", networks=[{"topology.rtt": "20 ms"}, {"topology.rtt": "80 ms"}])
    seen, info = env.reset(seed=1)
    seen, reward, terminated, truncated, info = env.step([0.1])

The packages `gymnasium` and `pettingzoo` come with the extra `dumbbell[gym]`; policies and their export need neither.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from dumbbell.command import extra
from dumbbell.errors import InputError

if TYPE_CHECKING:
    from dumbbell.gym.networks import Changes, Networks
    from dumbbell.gym.parallel import ParallelEnvironment
    from dumbbell.gym.reward import Reward
    from dumbbell.gym.single import Environment
    from dumbbell.gym.vector import VectorEnvironment
    from dumbbell.scenario import Scenario

    Source = str | os.PathLike[str] | Mapping[str, Any] | Scenario

TIMEOUT: Final = "200 ms"
"""Default time without an ACK after which a step ends: Linux's least retransmission timeout."""


def make(
    scenario: Source,
    *,
    flow: str,
    interval: str = "10 ms",
    timeout: str = TIMEOUT,
    paces: bool = False,
    networks: Changes | None = None,
    reward: Reward | None = None,
) -> Environment:
    """One flow of a scenario as an environment of Gymnasium. Other flows keep their algorithms.

    Args:
        scenario: a bundled scenario's name, a file, a dict of the same shape, or a `Scenario`.
        flow: the entry of the flow, one connection of TCP.
        interval: time between two decisions: `"10 ms"`, `"0.5 rtt"` (smoothed RTTs), or `"ack"` for each ACK.
        timeout: a step ends without a decision when no ACK has come for so long.
        paces: actions have a second number, for the pacing rate.
        networks: overrides of the scenario, of which `reset` draws one, or a function that draws one from a generator.
        reward: a reward of your own, of an array whose last axis is an observation; `reward.reward` by default.

    Raises:
        InputError: Gymnasium is not installed, there is no such flow, or the scenario cannot be simulated.
    """
    require("gymnasium")
    from dumbbell.gym.reward import reward as usual
    from dumbbell.gym.single import Environment

    return Environment(_networks(scenario, [flow], interval, timeout, paces, networks), reward or usual)


def make_vector(
    scenario: Source,
    count: int,
    *,
    flow: str,
    interval: str = "10 ms",
    timeout: str = TIMEOUT,
    paces: bool = False,
    networks: Changes | None = None,
    reward: Reward | None = None,
    threads: int | None = None,
) -> VectorEnvironment:
    """`count` environments as `make` makes them, stepped together on `threads` threads; on all cores by default.

    One that has ended is reset by its next step (`AutoresetMode.NEXT_STEP`). Raises as `make`.
    """
    require("gymnasium")
    from dumbbell.gym.reward import reward as usual
    from dumbbell.gym.vector import VectorEnvironment

    found = _networks(scenario, [flow], interval, timeout, paces, networks)
    return VectorEnvironment(found, reward or usual, count, threads or len(os.sched_getaffinity(0)))


def make_parallel(
    scenario: Source,
    *,
    flows: Sequence[str],
    interval: str = "10 ms",
    timeout: str = TIMEOUT,
    paces: bool = False,
    networks: Changes | None = None,
    reward: Reward | None = None,
) -> ParallelEnvironment:
    """Flows of a scenario as agents of PettingZoo: each connection of the entries `flows` is one.

    A step ends when the decisions of all agents that are open are due: one that is due earlier waits, and its interval
    goes on meanwhile. Raises as `make`, also if PettingZoo is not installed.
    """
    require("pettingzoo")
    from dumbbell.gym.parallel import ParallelEnvironment
    from dumbbell.gym.reward import reward as usual

    return ParallelEnvironment(_networks(scenario, flows, interval, timeout, paces, networks), reward or usual)


def _networks(
    scenario: Source, flows: Sequence[str], interval: str, timeout: str, paces: bool, changes: Changes | None
) -> Networks:
    from dumbbell.gym.networks import Networks
    from dumbbell.gym.terms import Terms
    from dumbbell.scenario.file.loading import read

    return Networks(read(scenario), tuple(flows), Terms.parse(interval, timeout, paces), changes)


def require(package: str) -> None:
    """Raises `InputError` if a package of the extra is not installed."""
    from importlib.util import find_spec

    if find_spec(package) is None:
        raise InputError("training environments need more packages", f"{package} is not installed", extra("gym"))
