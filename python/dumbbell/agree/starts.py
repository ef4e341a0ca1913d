"""Moves the starts of flows by chance.

Without random loss, repetitions of a run in virtual time are one run. If a few packets decide how it goes on, one
engine may take one way and the other another. With starts that differ a little, each engine shows all its ways.
"""

from __future__ import annotations

from random import Random

from dumbbell.scenario import Scenario


def moved(scenario: Scenario, seed: int, most_ns: int) -> list[str]:
    """Settings, as after `--set`, that start each flow of a scenario up to `most_ns` later.

    A delay depends on the seed and the flow's place alone, so all engines have the same ones.
    """
    if most_ns == 0:
        return []
    delays = [Random(f"{seed}/{place}").randint(0, most_ns) for place in range(len(scenario.flows))]
    pairs = enumerate(zip(scenario.flows, delays, strict=True))
    return [f"flows.{place}.start={flow.start + delay} ns" for place, (flow, delay) in pairs]
