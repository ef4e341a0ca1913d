"""Tells whether a scenario leaves anything to chance."""

from __future__ import annotations

from dumbbell.scenario.links.losses import LossTrace, Periodic
from dumbbell.scenario.links.queues import Dualpi2, Pie
from dumbbell.scenario.links.red import Red
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.connections import is_drawn
from dumbbell.scenario.resolve.direction import Direction
from dumbbell.scenario.resolve.resolved import resolve


def is_random(scenario: Scenario) -> bool:
    """True if the seed decides on packets or flows: random loss, jitter, a queue that drops at random, random arrivals.

    What a machine or a congestion control does by chance does not count. Raises `ScenarioError`.
    """
    links = resolve(scenario).network.links
    return is_drawn(scenario) or any(_draws(state) for link in links for _, state in link.states)


def tied(scenario: Scenario) -> list[str]:
    """Names of flows with different congestion controls that start at the same instant, if nothing is random.

    The order in the file then decides which of them sends first. Raises `ScenarioError`.
    """
    if is_random(scenario):
        return []
    by_start: dict[int, dict[str, str]] = {}
    for one in resolve(scenario).connections:
        if one.algorithm is not None:
            by_start.setdefault(one.start, {}).setdefault(str(one.algorithm), one.group)
    return next((list(names.values()) for names in by_start.values() if len(names) > 1), [])


def _draws(link: Direction) -> bool:
    slots = link.slots is not None and len(set(link.slots.intervals)) > 1
    queue = isinstance(link.queue, Red | Pie | Dualpi2)
    parts = (link.jitter, link.reorder, link.duplicate, link.corrupt, link.mark)
    lost = any(not isinstance(loss, Periodic | LossTrace) for loss in link.loss)
    return slots or lost or queue or any(part is not None for part in parts)
