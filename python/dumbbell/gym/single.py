"""One flow as an environment of Gymnasium."""

from __future__ import annotations

import os
from typing import Any

import gymnasium
from gymnasium.error import ResetNeeded

from dumbbell.gym import episode, spaces
from dumbbell.gym.networks import Episode, Networks
from dumbbell.gym.reward import Array, Reward
from dumbbell.pipeline.results import Run


class Environment(gymnasium.Env[Array, Array]):
    """A flow whose window an agent sets, as `gym.make` makes it. An episode is the scenario's duration."""

    def __init__(self, networks: Networks, reward: Reward) -> None:
        """The only connection that `networks` holds. Raises `InputError` if there are several."""
        self._networks, self._reward = networks, reward
        self.metadata = {"render_modes": []}
        episode.refuse_several(networks)
        self.observation_space, self.action_space = spaces.observations(), spaces.actions(networks.terms)
        self._episode: Episode | None = None
        self._is_over = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Draw a network, and simulate it until the first decision is due. `info` names the network and its seed.

        `options={"network": {...}}` gives the network's overrides, and none is drawn.
        """
        super().reset(seed=seed)
        self._episode = self._networks.begin(self.np_random, (options or {}).get("network"))
        seen, (self._is_over,) = spaces.stepped([self._episode], None)
        return seen[0, 0], episode.info(self._episode)

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Take an action, and simulate until the next decision is due.

        It is terminated when a flow with a size is complete, truncated when the scenario's time is over.
        Raises `InputError` if the action is not what the action space asks for.
        """
        if self._episode is None or self._is_over:
            raise ResetNeeded("the episode is over, or none has begun: call reset()")
        given = spaces.numbers(action, 1, self._networks.terms)
        seen, (self._is_over,) = spaces.stepped([self._episode], given)
        ended = self._is_over and all(episode.ended(self._episode))
        info = episode.account(self._episode) if self._is_over else {}
        return seen[0, 0], float(self._reward(seen[0, 0])), ended, self._is_over and not ended, info

    def write(self, directory: str | os.PathLike[str] = "runs", report: bool = True) -> Run:
        """Write the episode as an ordinary run, until its end: after an early stop, the last window holds."""
        if self._episode is None:
            raise ResetNeeded("no episode has begun: call reset()")
        return episode.write(self._networks, self._episode, directory, report)
