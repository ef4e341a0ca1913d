"""Asks FRRouting on this machine about a plan's routers, before a run starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dumbbell.errors import Place, Problem
from dumbbell.kernels import Kernel
from dumbbell.plan.types import Plan, RouterNode, Routing
from dumbbell.routing import frr
from dumbbell.routing.kernel import needed
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.topology.nodes import Router


def routers(plan: Plan) -> dict[str, Routing]:
    """The routers with daemons, by name."""
    return {node.name: node.routing for node in plan.nodes if isinstance(node, RouterNode) and node.routing is not None}


def refuse_routers(scenario: Scenario, plan: Plan, what: str, hint: str) -> Iterator[Problem]:
    """The problem of an engine that runs no routing daemons with each router that has some."""
    for key in _keys(scenario, routers(plan)):
        yield scenario.source.problem(Finding(key, what, "", hint))


def check_routers(scenario: Scenario, plan: Plan, kernel: Kernel | None = None) -> Iterator[Problem]:
    """Daemons that this machine or the kernel lacks, and lines that FRR does not understand.

    Args:
        scenario: whose keys are named.
        plan: of it.
        kernel: that runs the daemons; `None`: this machine's.

    Raises:
        RunFailed: FRR's shell cannot be run.
    """
    found = routers(plan)
    if not found:
        return
    lacking = {name: frr.lacking(("zebra", *routing.daemons)) for name, routing in found.items()}
    for name, missing in lacking.items():
        if missing:
            what = f"this machine lacks {', '.join(missing)}"
            yield scenario.source.problem(Finding((*_NODES, name, "routing"), what, "", frr.PACKAGE))
        yield from (scenario.source.problem(one) for one in _kernel_lacks(name, found[name].daemons, kernel))
    if any(lacking.values()):
        return
    for one in frr.complaints({name: routing.config for name, routing in found.items()}):
        yield _complaint(scenario, one)


_NODES: Key = ("topology", "nodes")


def _kernel_lacks(router: str, daemons: Iterable[str], kernel: Kernel | None) -> Iterator[Finding]:
    for daemon, feature in needed(daemons):
        at: Key = (*_NODES, router, "routing")
        if kernel is None and not feature.shown_by.exists():
            yield Finding(at, f"this machine's kernel has no {feature.name}, which {daemon} needs", "", feature.fix)
        elif kernel is not None and (missing := kernel.lacks(feature.options)):
            what = f"the kernel {kernel.name} has no {feature.name} ({', '.join(missing)}), which {daemon} needs"
            yield Finding(at, what, "", f"{feature.build}; then --kernel own")


def _keys(scenario: Scenario, routers: Iterable[str]) -> list[Key]:
    """The keys that give the routers their protocols."""
    if scenario.topology.drawing.routing:
        return [("topology", "routing")]
    return [(*_NODES, name, "routing") for name in routers]


def _complaint(scenario: Scenario, complaint: frr.Complaint) -> Problem:
    node = scenario.topology.drawing.nodes[complaint.router]
    wrong = f"{complaint.router}: FRR does not understand `{complaint.text}`"
    if isinstance(node, Router) and node.frr is not None:
        place = Place(str(scenario.source.folder / node.frr.name), complaint.line)
        key = f"topology.nodes.{complaint.router}.frr"
        return Problem.at(place, wrong, complaint.said, "the line is checked by `vtysh --dryrun`", key)
    hint = 'write the configuration yourself: frr = "FILE"'
    finding = Finding((*_NODES, complaint.router, "routing"), f"{wrong}: {complaint.said}", "", hint)
    return scenario.source.problem(finding)
