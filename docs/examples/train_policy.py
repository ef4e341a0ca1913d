"""Trains a linear policy by the cross-entropy method, in minutes: python docs/examples/train_policy.py policy.json

Each generation draws candidates around a mean, simulates each in all training networks, and moves the mean to the best
of them (Rubinstein and Kroese, The Cross-Entropy Method, 2004).
"""

from __future__ import annotations

import sys
import time
from itertools import product
from typing import Any

import numpy as np

from dumbbell import gym
from dumbbell.gym.policy import Policy

INTERVAL = "1 rtt"
ROUNDS = 150
NETWORKS = [
    {
        "topology.bottleneck.rate": f"{rate} Mbit/s",
        "topology.rtt": f"{rtt} ms",
        "topology.bottleneck.buffer": f"{buffer} bdp",
        # Each episode takes about as many steps.
        "duration": f"{ROUNDS * rtt} ms",
    }
    for rate, rtt, buffer in product((4, 12, 24), (20, 60), (0.5, 2))
]
SCENARIO: dict[str, Any] = {
    "name": "training",
    "duration": "4 s",
    "topology": {"kind": "path", "rtt": "40 ms", "bottleneck": {"rate": "12 Mbit/s", "buffer": "1 bdp"}},
    "flows": [{"id": "mine", "from": "h1", "to": "h2", "cc": "cubic"}],
    "record": {"packets": False},
}
CANDIDATES, BEST, GENERATIONS = 24, 6, 30
LEAST_SPREAD = 0.02


def train(generations: int = GENERATIONS, seed: int = 1) -> Policy:
    """The policy after so many generations."""
    rng = np.random.default_rng(seed)
    policy = Policy.zero(interval=INTERVAL)
    mean, spread = np.zeros(policy.parameters.size), np.full(policy.parameters.size, 0.5)
    count = CANDIDATES * len(NETWORKS)
    env = gym.make_vector(SCENARIO, count, flow="mine", interval=INTERVAL)
    for generation in range(generations):
        drawn = mean + spread * rng.normal(size=(CANDIDATES, mean.size))
        rewards = evaluate(env, [policy.with_parameters(one) for one in drawn], seed + generation)
        best = drawn[np.argsort(rewards)[-BEST:]]
        mean, spread = best.mean(axis=0), np.maximum(best.std(axis=0), LEAST_SPREAD)
        print(f"generation {generation + 1}: best {rewards.max():.3f}, median {np.median(rewards):.3f}", flush=True)
    return policy.with_parameters(mean)


def evaluate(env: Any, policies: list[Policy], seed: int) -> np.ndarray[Any, Any]:
    """The mean reward per simulated second of each policy over all training networks."""
    seeds = [seed * 1000 + i for _ in policies for i in range(len(NETWORKS))]
    seen, _ = env.reset(seed=seeds, options={"networks": NETWORKS * len(policies)})
    total, seconds, goes_on = np.zeros(len(seeds)), np.zeros(len(seeds)), np.ones(len(seeds), dtype=bool)
    while goes_on.any():
        parts = np.split(seen, len(policies))
        action = np.concatenate([policy(part) for policy, part in zip(policies, parts, strict=True)])
        seen, reward, terminated, truncated, _ = env.step(action)
        total += np.where(goes_on, reward, 0)
        seconds += np.where(goes_on, seen[:, 1], 0)
        goes_on &= ~(terminated | truncated)
    per_second = (total / np.maximum(seconds, 1e-9)).reshape(len(policies), -1)
    return per_second.mean(axis=1)


if __name__ == "__main__":
    began = time.process_time()
    trained = train()
    trained.write(sys.argv[1])
    print(f"{sys.argv[1]}: {time.process_time() - began:.0f} CPU s")
