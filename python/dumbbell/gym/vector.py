"""Many flows, each in a network of its own, as one environment of Gymnasium."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from dumbbell.errors import InputError
from dumbbell.gym import episode, spaces
from dumbbell.gym.networks import Episode, Networks
from dumbbell.gym.reward import Array, Reward


class VectorEnvironment(VectorEnv[Array, Array, Any]):
    """Environments that step together on some threads, as `gym.make_vector` makes it."""

    def __init__(self, networks: Networks, reward: Reward, count: int, threads: int) -> None:
        """`count` environments. Raises `InputError` if `networks` holds several connections, or there are none."""
        episode.refuse_several(networks)
        if count < 1:
            raise InputError(f"{count} environments", "expected at least 1", "gym.make_vector(scenario, 64, flow=...)")
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.num_envs, self._networks, self._reward, self._threads = count, networks, reward, threads
        self.single_observation_space = spaces.observations()
        self.single_action_space = spaces.actions(networks.terms)
        self.observation_space = batch_space(self.single_observation_space, count)
        self.action_space = batch_space(self.single_action_space, count)
        self._rngs: list[np.random.Generator] = []
        self._episodes: list[Episode] = []
        self._over = np.zeros(count, dtype=bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Reset all. A seed is that of the first; each other has one more than the one before.

        `options={"networks": [{...}, ...]}` gives the overrides of each environment's network, and none is drawn now.
        """
        if seed is not None or not self._rngs:
            given = range(seed, seed + self.num_envs) if isinstance(seed, int) else seed or [None] * self.num_envs
            self._rngs = [np.random.default_rng(one) for one in given]
        chosen = (options or {}).get("networks") or [None] * self.num_envs
        if len(chosen) != self.num_envs:
            raise InputError(f"{len(chosen)} networks", f"expected {self.num_envs}, one for each environment", "")
        self._episodes = [self._networks.begin(rng, change) for rng, change in zip(self._rngs, chosen, strict=True)]
        seen, over = spaces.stepped(self._episodes, None, self._threads)
        self._over = np.array(over)
        return seen[:, 0], {}

    def step(self, actions: Array) -> tuple[Array, Any, Any, Any, dict[str, Any]]:
        """Step all, but those that have ended: these are reset."""
        if not self._episodes:
            raise ResetNeeded("no episode has begun: call reset()")
        given = spaces.numbers(actions, self.num_envs, self._networks.terms)
        if not self._over.any():
            seen, over = spaces.stepped(self._episodes, given, self._threads)
        else:
            seen, over = self._reset_ended(given)
        was_over, self._over = self._over, np.array(over)
        reward = np.where(was_over, 0.0, self._reward(seen[:, 0]))
        terminated = np.zeros(self.num_envs, dtype=bool)
        for at in np.flatnonzero(self._over):
            terminated[at] = all(episode.ended(self._episodes[at]))
        return seen[:, 0], reward, terminated, self._over & ~terminated, {}

    def _reset_ended(self, given: Array) -> tuple[Array, list[bool]]:
        fresh = np.flatnonzero(self._over)
        for at in fresh:
            self._episodes[at] = self._networks.begin(self._rngs[at])
        # Nothing is due in an episode that begins, so its action counts for nothing.
        return spaces.stepped(self._episodes, given, self._threads)
