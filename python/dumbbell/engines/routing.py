"""What FRRouting on this machine says of a plan's routers, before a run starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from dumbbell.errors import Place, Problem
from dumbbell.plan.types import Plan, RouterNode, Routing
from dumbbell.routing import frr
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.topology.drawing import Drawn
from dumbbell.scenario.topology.nodes import Router


def routers(plan: Plan) -> dict[str, Routing]:
    """The routers with daemons, by name."""
    return {node.name: node.routing for node in plan.nodes if isinstance(node, RouterNode) and node.routing is not None}


def refuse_routers(scenario: Scenario, plan: Plan, what: str, hint: str) -> Iterator[Problem]:
    """The problem of an engine that runs no routing daemons with each router that has some."""
    for key in _keys(scenario, routers(plan)):
        yield scenario.source.problem(Finding(key, what, "", hint))


def check_routers(scenario: Scenario, plan: Plan) -> Iterator[Problem]:
    """Daemons that this machine lacks, and lines that FRR does not understand. Raises `RunFailed`."""
    found = routers(plan)
    if not found:
        return
    lacking = {name: frr.lacking(("zebra", *routing.daemons)) for name, routing in found.items()}
    for name, missing in lacking.items():
        if missing:
            what = f"this machine lacks {', '.join(missing)}"
            yield scenario.source.problem(Finding((*_NODES, name, "routing"), what, "", frr.PACKAGE))
        elif "ldpd" in found[name].daemons and not _MPLS.exists():
            what, hint = "this machine's kernel has no MPLS, which ldp labels packets for", "sudo modprobe mpls_router"
            yield scenario.source.problem(Finding((*_NODES, name, "routing"), what, "", hint))
    if any(lacking.values()):
        return
    for one in frr.complaints({name: routing.config for name, routing in found.items()}):
        yield _complaint(scenario, one)


_NODES: Key = ("topology", "nodes")
_MPLS = Path("/proc/sys/net/mpls")


def _keys(scenario: Scenario, found: Iterable[str]) -> list[Key]:
    """The keys that give the routers their protocols."""
    if isinstance(scenario.topology, Drawn) and scenario.topology.routing:
        return [("topology", "routing")]
    return [(*_NODES, name, "routing") for name in found]


def _complaint(scenario: Scenario, one: frr.Complaint) -> Problem:
    topology = scenario.topology
    node = topology.drawing.nodes[one.router] if isinstance(topology, Drawn) else None
    wrong = f"{one.router}: FRR does not understand `{one.text}`"
    if isinstance(node, Router) and node.frr is not None:
        place = Place(str(scenario.source.folder / node.frr.name), one.line)
        key = f"topology.nodes.{one.router}.frr"
        return Problem.at(place, wrong, one.said, "the line is checked by `vtysh --dryrun`", key)
    hint = 'write the configuration yourself: frr = "FILE"'
    finding = Finding((*_NODES, one.router, "routing"), f"{wrong}: {one.said}", "", hint)
    return scenario.source.problem(finding)
