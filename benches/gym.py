"""Steps per second of training environments: intervals of 10 ms, one flow through a buffer of a BDP at 40 ms."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benches.table import show
from dumbbell import gym

THREADS = 2


def scenario(rate: int) -> dict[str, Any]:
    """A flow through a link of `rate` Mbit/s for 20 s."""
    bottleneck = {"rate": f"{rate} Mbit/s", "buffer": "1 bdp"}
    return {
        "name": "gym",
        "duration": "20 s",
        "topology": {"kind": "path", "rtt": "40 ms", "bottleneck": bottleneck},
        "flows": [{"id": "mine", "from": "h1", "to": "h2", "cc": "cubic"}],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rates", type=int, nargs="+", default=[10, 20, 50], help="Mbit/s")
    parser.add_argument("--environments", type=int, default=128)
    parser.add_argument("--steps", type=int, default=2000, help="of each environment, resets included")
    options = parser.parse_args()
    rows = []
    for rate in options.rates:
        rows.append(row(f"{rate} Mbit/s, one", rate, 1, options.steps * 5, single))
        rows.append(
            row(f"{rate} Mbit/s, {options.environments} together", rate, options.environments, options.steps, vector)
        )
    columns = ["environments", "steps/s", "steps per CPU s", "2 CPU s", "packets/step", "queue, ms"]
    show(f"Steps at intervals of 10 ms, {THREADS} threads; the window stays near 1.3 BDP", columns, rows)


def row(name: str, rate: int, count: int, steps: int, run: Callable[[int, int, int], list[float]]) -> list[str]:
    """A row of the table."""
    run(rate, count, 1)  # imports, and the network's plan
    cpu, wall = time.process_time(), time.perf_counter()
    packets, rtt = run(rate, count, steps)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    done = steps * count
    figures = [f"{done / wall:,.0f}", f"{done / cpu:,.0f}", f"{2 * done / cpu:,.0f}", f"{packets:.1f}"]
    return [name, *figures, f"{1e3 * (rtt - 0.04):.1f}"]


def single(rate: int, count: int, steps: int) -> list[float]:
    """One environment by `Env.step`; returns packets per step and the mean RTT, s."""
    env = gym.make(scenario(rate), flow="mine")
    seen, _ = env.reset(seed=1)
    window, total = 1.3 * rate * 40 / 12, np.zeros(len(seen))
    for _ in range(steps):
        seen, _, terminated, truncated, _ = env.step([0.1 if seen[10] < window else 0.0])
        total += seen
        if terminated or truncated:
            seen, _ = env.reset()
    return [total[2] / steps, total[5] / steps]


def vector(rate: int, count: int, steps: int) -> list[float]:
    """Many by `VectorEnv.step`."""
    env = gym.make_vector(scenario(rate), count, flow="mine", threads=THREADS)
    seen, _ = env.reset(seed=1)
    window, total = 1.3 * rate * 40 / 12, np.zeros(seen.shape[1])
    for _ in range(steps):
        seen, *_ = env.step(np.where(seen[:, 10:11] < window, 0.1, 0.0))
        total += seen.mean(axis=0)
    return [total[2] / steps, total[5] / steps]


if __name__ == "__main__":
    main()
