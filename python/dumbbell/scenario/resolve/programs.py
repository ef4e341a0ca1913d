"""Programs whose names or nodes are wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dumbbell.hints import nearest, some
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.connections import Connection
from dumbbell.scenario.resolve.outline import NetworkNode
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.traffic.programs import Program


def named(scenario: Scenario) -> list[tuple[str, Program]]:
    """The programs of a scenario, each with its name."""
    return [(one.name or f"p{number}", one) for number, one in enumerate(scenario.programs, 1)]


def check_programs(
    scenario: Scenario, nodes: Sequence[NetworkNode], connections: Iterable[Connection]
) -> Iterator[Finding]:
    """Programs in nodes that run none, and names that are taken: flows have their files in `logs`, too."""
    known = {node.name: None for node in nodes if node.kind != "switch"}
    taken = {one.id: "a flow" for one in connections}
    for i, (name, program) in enumerate(named(scenario)):
        at: Key = ("programs", i)
        if program.node not in known:
            kind = next((node.kind for node in nodes if node.name == program.node), None)
            what = "unknown node" if kind is None else f"{program.node} is a {kind}, which runs no programs"
            yield Finding((*at, "node"), what, some([*known]), nearest(program.node, known) if kind is None else "")
        if name in taken:
            hint = "give it a name of its own" if program.name is None else ""
            yield Finding((*at, "name"), f"{taken[name]} is named {name}, too", "a name of its own", hint)
        taken.setdefault(name, "a program")
