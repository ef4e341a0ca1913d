"""A scenario with every default filled in and every name looked up: the plan is written from nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from weakref import ref

from dumbbell.errors import ScenarioError
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.algorithms import check_algorithms
from dumbbell.scenario.resolve.connections import Connection, used
from dumbbell.scenario.resolve.drawn.network import outline
from dumbbell.scenario.resolve.flows import resolve_flows
from dumbbell.scenario.resolve.labels import Label, Labelled, labelled
from dumbbell.scenario.resolve.network import Network, resolve_network
from dumbbell.scenario.resolve.programs import check_programs
from dumbbell.scenario.resolve.settings import check_settings
from dumbbell.scenario.source import Finding, Key


@dataclass(frozen=True)
class Resolved:
    """A scenario that can be planned."""

    network: Network
    connections: tuple[Connection, ...]
    """The flows of the plan, in the order of their entries."""
    labels: Mapping[Key, Label]
    """Place that names a congestion control -> its label in flows, plan and records."""
    sysctls: Mapping[str, Mapping[str, str]]
    """The scenario's own settings of each host: those of all hosts, then the host's, which win."""

    def label(self, connection: Connection) -> str | None:
        """Label of the connection's congestion control; none without one."""
        if connection.cc is None:
            return None
        found = self.labels[connection.cc]
        return found.label if isinstance(found, Labelled) else found


def resolve(scenario: Scenario) -> Resolved:
    """Resolve a scenario, once. Raises `ScenarioError` with all that is wrong with it, in the order of its keys."""
    # A copy that pydantic makes with other values keeps the original's.
    if scenario._resolved is None or scenario._resolved[0]() is not scenario:
        scenario._resolved = ref(scenario), _resolve(scenario)
    return scenario._resolved[1]


def _resolve(scenario: Scenario) -> Resolved:
    wrong: list[Finding] = []
    found = outline(scenario, wrong)
    network = None if found is None else resolve_network(scenario, found, wrong)
    connections = resolve_flows(scenario, found, wrong)
    algorithms = used(connections)
    labels = labelled(algorithms)
    wrong += [] if found is None else check_programs(scenario, found.nodes, connections)
    wrong += check_algorithms(scenario, algorithms, labels)
    wrong += check_settings(scenario)
    if wrong or network is None:
        raise ScenarioError([scenario.source.problem(finding) for finding in wrong])
    return Resolved(network, tuple(connections), labels, _sysctls(scenario))


def _sysctls(scenario: Scenario) -> dict[str, dict[str, str]]:
    all_hosts, single = scenario.hosts.sysctl, scenario.hosts.single
    return {host: {**all_hosts, **(single[host].sysctl if host in single else {})} for host in scenario.topology.hosts}
