"""A scenario with every default filled in and every name looked up: the plan is written from nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from weakref import ref

from dumbbell.cc.core import parameters_of
from dumbbell.cc.parameters import misfits
from dumbbell.errors import ScenarioError
from dumbbell.frozen import dataclass
from dumbbell.hints import nearest, some
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.connections import Connection, used
from dumbbell.scenario.resolve.drawn.network import outline
from dumbbell.scenario.resolve.flows import check_number, resolve_flows
from dumbbell.scenario.resolve.labels import Label, Labelled, labelled
from dumbbell.scenario.resolve.links import check_steps
from dumbbell.scenario.resolve.network import Network, resolve_network
from dumbbell.scenario.resolve.programs import check_programs
from dumbbell.scenario.source import MOST_FINDINGS, Finding, Key
from dumbbell.scenario.topology.hosts import Hosts
from dumbbell.scenario.traffic.algorithms import Algorithm


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
    wrong = list[Finding]()
    _refuse(scenario, check_number(scenario))
    found = outline(scenario, wrong)
    _refuse(scenario, check_steps(scenario, found.links) if found else ())
    network = None if found is None else resolve_network(scenario, found, wrong)
    connections = resolve_flows(scenario, found, wrong)
    algorithms = used(connections)
    labels = labelled(algorithms)
    wrong += [] if found is None else islice(check_programs(scenario, found.nodes, connections), MOST_FINDINGS)
    wrong += islice(check_algorithms(scenario, algorithms, labels), MOST_FINDINGS)
    wrong += islice(check_settings(scenario), MOST_FINDINGS)
    _refuse(scenario, wrong)
    assert network is not None, "what makes no network is wrong"
    return Resolved(network, tuple(connections), labels, _sysctls(scenario))


def _refuse(scenario: Scenario, findings: Iterable[Finding]) -> None:
    """Raise `ScenarioError` if anything is wrong: at once where the rest would take more memory than there is."""
    if problems := [scenario.source.problem(finding) for finding in islice(findings, MOST_FINDINGS)]:
        raise ScenarioError(problems)


def _sysctls(scenario: Scenario) -> dict[str, dict[str, str]]:
    all_hosts, single = scenario.hosts.sysctl, scenario.hosts.single
    return {host: {**all_hosts, **(single[host].sysctl if host in single else {})} for host in scenario.topology.hosts}


def check_settings(scenario: Scenario) -> Iterator[Finding]:
    """Problems of `[hosts]`, `[emulate]` and `[record]`."""
    yield from _hosts(scenario)
    yield from _emulate(scenario)
    if scenario.record.sample_interval > scenario.duration:
        yield Finding(("record", "sample_interval"), "longer than the run", f"at most {scenario.duration}")
    # A lab without flows may get some later.
    if scenario.record.acks is True and scenario.flows and not any(flow.has_segments for flow in scenario.flows):
        hint = 'write acks = "auto", or leave acks out: every flow is sampled all the same'
        yield Finding(("record", "acks"), "no flow has ACKs of TCP to record", "a flow that may use TCP", hint)


def _hosts(scenario: Scenario) -> Iterator[Finding]:
    known = scenario.topology.hosts
    for name in scenario.hosts.single:
        if name not in known:
            hint = nearest(name, [*known, *Hosts.model_fields])
            yield Finding(("hosts", name), "unknown host", some(known), hint)


def _emulate(scenario: Scenario) -> Iterator[Finding]:
    given = scenario.emulate
    for key, asked in (("merge", bool(given.merge)), ("whole_bursts", given.whole_bursts)):
        if asked and given.path == "wire":
            hint = 'write path = "gso", or leave path out'
            yield Finding(("emulate", key), "there are no bursts on a wire", 'path = "gso"', hint)


def check_algorithms(
    scenario: Scenario, used: Mapping[Key, Algorithm], labels: Mapping[Key, Label]
) -> Iterator[Finding]:
    """Problems of the congestion controls that can be found on any machine."""
    for at, algorithm in used.items():
        yield from _parameters((*at, "parameters"), algorithm)
        yield from _ecn(at, scenario, algorithm)
    yield from _labels(labels)


def _parameters(at: Key, algorithm: Algorithm) -> Iterator[Finding]:
    known = algorithm.file.program.parameters if algorithm.file else parameters_of(algorithm.bundled)
    if known is None:
        return  # The kernel's own; or the core is not built, and no run will start.
    for one in misfits(str(algorithm), known, algorithm.parameters):
        yield Finding((*at, one.name), one.wrong, one.expected, one.hint)


def _ecn(at: Key, scenario: Scenario, algorithm: Algorithm) -> Iterator[Finding]:
    i = at[1]
    flow = scenario.flows[int(i)]
    if flow.negotiates_ecn is None:
        return
    if algorithm.bundled in ("bbr2", "bbr3") and algorithm.parameters.get("ecn") is True and not flow.negotiates_ecn:
        what = f"{algorithm} should answer marks, but the flow does not negotiate ECN"
        yield Finding((*at, "parameters", "ecn"), what, "ecn = true on the flow, too", "add ecn = true")
    if algorithm.needs_ecn and "ecn" in flow.model_fields_set and not flow.negotiates_ecn:
        yield Finding(("flows", i, "ecn"), f"{algorithm} always negotiates ECN", "true", "leave ecn out")


def _labels(labels: Mapping[Key, Label]) -> Iterator[Finding]:
    seen: dict[str, Labelled] = {}
    for at, found in labels.items():
        if isinstance(found, Labelled):
            first = seen.setdefault(found.label, found)
            if _what(first) != _what(found):
                hint = "give one of the files another name"
                yield Finding(at, f"two programs would be called {found.label}", "a name each", hint)


def _what(labelled: Labelled) -> tuple[object, ...]:
    """Key by which two algorithms of one label are the same."""
    program = labelled.algorithm.file.program if labelled.algorithm.file is not None else None
    return labelled.algorithm.bundled, labelled.algorithm.own, labelled.file, program, labelled.algorithm.parameters
