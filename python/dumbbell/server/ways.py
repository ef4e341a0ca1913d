"""Colours and ways of flows on the drawing, by the plan, which takes longer than the drawing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from dumbbell.plan.network import network
from dumbbell.plan.parts import group
from dumbbell.plan.types import Flow, Link, Plan
from dumbbell.report.groups import of_flows
from dumbbell.server.messages import Drawing, DrawnFlow

MOST: Final = 40
"""Entries of `[[flows]]` that get colours and ways: a drawing shows fewer."""


def led(drawing: Drawing, plan: Plan) -> Drawing:
    """Returns the drawing with each flow's colour in plots, and the nodes of its way."""
    if not 0 < len(drawing.flows) <= MOST:
        return drawing
    entries: defaultdict[str, list[Flow]] = defaultdict(list)
    for flow in plan.flows:
        entries[group(flow)].append(flow)
    colours = {flow: (one.light, one.dark) for one in of_flows(plan.flows, {}) for flow in one.flows}
    found = network(plan)

    def complete(drawn: DrawnFlow) -> DrawnFlow:
        flows = entries.get(drawn.name)
        if not flows:
            return drawn
        known = {colours[flow.id] for flow in flows}
        light, dark = known.pop() if len(known) == 1 else ("", "")
        ways = {tuple(found.path(flow).there) for flow in flows}
        via = _nodes([plan.links[place] for place in ways.pop()]) if len(ways) == 1 else []
        return drawn.model_copy(update={"light": light, "dark": dark, "via": via})

    return drawing.model_copy(update={"flows": [complete(one) for one in drawing.flows]})


def _nodes(links: Sequence[Link]) -> list[str]:
    return [link.from_ for link in links] + [link.to for link in links[-1:]]


def carried(drawing: Drawing | None, before: Drawing | None) -> Drawing | None:
    """Returns the drawing with what an earlier one has of the same flows, until the plan is known."""
    if drawing is None or before is None:
        return drawing
    nodes = {node.name for node in drawing.nodes}
    known = {(one.name, one.sender, one.receiver): one for one in before.flows}

    def complete(drawn: DrawnFlow) -> DrawnFlow:
        old = known.get((drawn.name, drawn.sender, drawn.receiver))
        if old is None or not nodes.issuperset(old.via):
            return drawn
        return drawn.model_copy(update={"light": old.light, "dark": old.dark, "via": old.via})

    return drawing.model_copy(update={"flows": [complete(one) for one in drawing.flows]})
