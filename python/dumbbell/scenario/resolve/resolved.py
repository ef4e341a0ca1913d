"""A scenario with every default filled in and every name looked up: the plan is written from nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dumbbell.errors import ScenarioError
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.algorithms import check_algorithms
from dumbbell.scenario.resolve.bottleneck import NAMES, directions
from dumbbell.scenario.resolve.connections import Connection, used
from dumbbell.scenario.resolve.flows import resolve_flows
from dumbbell.scenario.resolve.labels import Label, Labelled, labelled
from dumbbell.scenario.resolve.network import Network, resolve_network
from dumbbell.scenario.resolve.settings import check_settings
from dumbbell.scenario.source import Finding, Key


@dataclass(frozen=True)
class Resolved:
    """A scenario that can be planned."""

    scenario: Scenario = field(compare=False)
    """As it was written."""
    network: Network
    connections: tuple[Connection, ...]
    """The flows of the plan, in the order of their entries."""
    labels: Mapping[Key, Label]
    """What flows, plan and records call each congestion control that is used, by the place that names it."""

    def label(self, connection: Connection) -> str | None:
        """What the connection's congestion control is called; none without one."""
        if connection.cc is None:
            return None
        found = self.labels[connection.cc]
        return found.label if isinstance(found, Labelled) else found


def resolve(scenario: Scenario) -> Resolved:
    """Resolve a scenario, once. Raises `ScenarioError` with all that is wrong with it, in the order of its keys."""
    found = scenario._resolved
    # A copy that pydantic makes with other values keeps the original's.
    if not isinstance(found, Resolved) or found.scenario is not scenario:
        found = scenario._resolved = _resolve(scenario)
    return found


def _resolve(scenario: Scenario) -> Resolved:
    wrong: list[Finding] = []
    start = dict(zip(NAMES, directions(scenario.topology, scenario.duration), strict=True))
    network = resolve_network(scenario, start, wrong)
    connections = resolve_flows(scenario, start, wrong)
    algorithms = used(connections)
    labels = labelled(algorithms)
    wrong += check_algorithms(scenario, algorithms, labels)
    wrong += check_settings(scenario)
    if wrong:
        raise ScenarioError([scenario.source.problem(finding) for finding in wrong])
    return Resolved(scenario, network, tuple(connections), labels)
