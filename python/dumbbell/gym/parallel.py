"""Several flows of one network as agents of PettingZoo."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Space
from pettingzoo import ParallelEnv

from dumbbell.errors import InputError
from dumbbell.gym import episode, spaces
from dumbbell.gym.networks import Episode, Networks
from dumbbell.gym.reward import Array, Reward
from dumbbell.pipeline.results import Run


class ParallelEnvironment(ParallelEnv[str, Array, Array]):  # type: ignore[misc]  # it has no types
    """Flows whose windows agents set, as `gym.make_parallel` makes it; an agent is named after its flow."""

    def __init__(self, networks: Networks, reward: Reward) -> None:
        """The connections that `networks` holds."""
        self._networks, self._reward = networks, reward
        self.metadata = {"name": "dumbbell", "render_modes": []}
        self.possible_agents = list(networks.agents)
        self.agents: list[str] = []
        self._seen, self._acts = spaces.observations(), spaces.actions(networks.terms)
        self._rng = np.random.default_rng()
        self._episode: Episode | None = None

    def observation_space(self, agent: str) -> Space[Array]:
        """The same for each agent."""
        return self._seen

    def action_space(self, agent: str) -> Space[Array]:
        """The same for each agent."""
        return self._acts

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], dict[str, dict[str, Any]]]:
        """Draw a network, and simulate it until the first decisions are due.

        `options={"network": {...}}` gives the network's overrides, and none is drawn.
        """
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._episode = self._networks.begin(self._rng, (options or {}).get("network"))
        self.agents = list(self.possible_agents)
        seen, _ = spaces.stepped([self._episode], None)
        return dict(zip(self.agents, seen[0], strict=True)), {
            agent: episode.info(self._episode) for agent in self.agents
        }

    def step(
        self, actions: dict[str, Array]
    ) -> tuple[dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Take each agent's action, and simulate until the next decisions are due.

        An agent is terminated when its flow has ended, and all are truncated when the scenario's time is over. The
        action of an agent whose observation has `is_due` 0 counts for nothing. Raises `InputError` if an action is
        missing, or is not what the action space asks for.
        """
        if self._episode is None or not self.agents:
            raise ResetNeeded("the episode is over, or none has begun: call reset()")
        seen, (is_over,) = spaces.stepped([self._episode], self._given(actions))
        ended = dict(zip(self.possible_agents, episode.ended(self._episode), strict=True))
        rows = {agent: row for agent, row in zip(self.possible_agents, seen[0], strict=True) if agent in self.agents}
        terminated = {agent: ended[agent] for agent in rows}
        truncated = {agent: is_over and not ended[agent] for agent in rows}
        told = episode.account(self._episode) if is_over else {}
        rewards = {agent: float(self._reward(row)) for agent, row in rows.items()}
        self.agents = [agent for agent in rows if not (terminated[agent] or truncated[agent])]
        return rows, rewards, terminated, truncated, {agent: dict(told) for agent in rows}

    def _given(self, actions: dict[str, Array]) -> Array:
        """A row for each agent; zeros for those that have ended. Raises `InputError`."""
        terms, given = self._networks.terms, np.zeros((len(self.possible_agents), self._networks.terms.width))
        for agent in actions:
            if agent not in self.possible_agents:
                raise InputError(f"an action of {agent}", f"agents are {', '.join(self.possible_agents)}", "")
        for at, agent in enumerate(self.possible_agents):
            if agent in actions:
                given[at] = spaces.numbers(actions[agent], 1, terms)
            elif agent in self.agents:
                raise InputError(
                    f"no action of {agent}", "each agent whose flow is open needs one", "0 keeps the window"
                )
        return given

    def write(self, directory: str | os.PathLike[str] = "runs", report: bool = True) -> Run:
        """Write the episode as an ordinary run."""
        if self._episode is None:
            raise ResetNeeded("no episode has begun: call reset()")
        return episode.write(self._networks, self._episode, directory, report)
