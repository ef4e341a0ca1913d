"""Networks of tests of training environments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dumbbell import gym
from dumbbell.gym.policy import Policy
from dumbbell.records import Run


def one(**more: Any) -> dict[str, Any]:
    """A flow through 10 Mbit/s, 40 ms, and a buffer of a BDP."""
    bottleneck = {"rate": "10 Mbit/s", "buffer": "1 bdp"}
    return {
        "name": "one",
        "duration": "4 s",
        "topology": {"kind": "path", "rtt": "40 ms", "bottleneck": bottleneck},
        "flows": [{"id": "mine", "from": "h1", "to": "h2", "cc": "cubic"}],
        "record": {"packets": False},
        **more,
    }


def two() -> dict[str, Any]:
    """Two flows through 10 Mbit/s, and a third with an algorithm of its own. One of them is complete before the end."""
    return {
        "name": "two",
        "duration": "3 s",
        "topology": {
            "kind": "dumbbell",
            "pairs": 3,
            "rtt": "40 ms",
            "bottleneck": {"rate": "10 Mbit/s", "buffer": "1 bdp"},
        },
        "flows": [
            {"id": "a", "from": "s1", "to": "r1", "cc": "cubic"},
            {"id": "b", "from": "s2", "to": "r2", "cc": "cubic", "bytes": "300 kB", "start": "100 ms"},
            {"id": "third", "from": "s3", "to": "r3", "cc": "cubic"},
        ],
    }


def calm(interval: str = "1 rtt") -> Policy:
    """A linear policy that grows until 12 of its packets wait, and yields to losses."""
    weights = np.array([[0.0, -0.1, -2.0, -0.5, -0.16]])
    return Policy.made([(weights, np.array([0.12]))], interval)


def held(policy: Policy, network: dict[str, Any], folder: Path) -> tuple[float, float]:
    """The figures of a flow that a policy holds for 10 s."""
    env = gym.make(one(duration="10 s"), flow="mine", interval=policy.interval, paces=policy.paces, networks=[network])
    seen, _ = env.reset(seed=1)
    ends = [False, False]
    while not any(ends):
        seen, _, *ends, _ = env.step(policy(seen))
    return figures(env.write(folder / "held", report=False))


def figures(run: Run) -> tuple[float, float]:
    """Goodput in bit/s and median RTT in ms of the first flow."""
    flow = run.summary["flows"][0]
    return flow["goodput_bps"], flow["rtt_ms"]["p50"]
