"""The way of a lab to this machine's network, which opens only if the user agrees."""

from __future__ import annotations

from dumbbell.errors import InputError
from dumbbell.scenario.file.started import has_agreed, way_outside
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.topology.nodes import Router


def ways(scenario: Scenario) -> list[str]:
    """Says through which router a lab of the scenario reaches this machine's network; empty if it does not."""
    nodes = scenario.topology.drawing.nodes
    return [way_outside(name) for name, node in nodes.items() if isinstance(node, Router) and node.nat]


def check_agreed(scenario: Scenario, agree: bool) -> None:
    """Refuses a lab that reaches this machine's network, unless the user agrees now (`agree`), or has agreed to it.

    Raises:
        InputError: nobody has agreed.
    """
    found = ways(scenario)
    if not agree and not all(map(has_agreed, found)):
        what = f"{scenario.source.name} opens a way that you have not agreed to"
        raise InputError(what, "\n".join(found), "Lab(..., agree=True), or dumbbell lab up --agree")
