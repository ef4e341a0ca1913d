"""Finds keys of a scenario that only a kernel supports, with their places."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, TypedDict

from dumbbell.cc.bundled import KERNEL, SIMULATED
from dumbbell.core import core
from dumbbell.engines.realm.outside import refuse_outside
from dumbbell.engines.realm.programs import refuse_cpus
from dumbbell.engines.realm.routing import refuse_routers
from dumbbell.engines.simulate import quic
from dumbbell.errors import Problem, RunFailed
from dumbbell.plan import wire
from dumbbell.plan.algorithms import closest, objects
from dumbbell.plan.nodes import steered
from dumbbell.plan.parts import kind
from dumbbell.plan.types import BridgeNode, HostNode, Plan, SwitchNode
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.source import Finding, Key, dotted


class Refusal(TypedDict):
    """A refusal of the simulator, of a flow or a host, as the core gives it."""

    what: str
    why: str
    hint: str
    flow: str | None
    host: str | None


def check(scenario: Scenario, plan: Plan, text: str | None = None) -> Iterator[Problem]:
    """All refusals. `text`: the plan as JSON, if there is one already. Raises `RunFailed` if the core is missing."""
    text = text or wire.text(plan)
    programs: dict[str, bytes | bytearray] = {}
    for at, found in resolve(scenario).labels.items():
        try:
            programs |= objects([found])
        except RunFailed as error:
            yield Problem.at(scenario.source.place(at), error.what, error.why, error.hint, dotted(at))
            return
    if quic.builds(plan):
        yield from quic.check(scenario, plan)
        # The core has no stacks, and refuses flows that need one.
        text = wire.text(
            replace(plan, flows=tuple(one for one in plan.flows if not kind(one).quic_stack(one.workload)))
        )
    told: list[Refusal] = json.loads(core.simulate_check(text, plan.simulate.tso, programs))
    # Connections of one entry have the same problems.
    first: dict[Key, Refusal] = {}
    for one in told:
        first.setdefault(_key(scenario, one), one)
    for key, one in first.items():
        problem = scenario.source.problem(Finding(key, "it can't be simulated", "", _hint(one)))
        yield replace(problem, why=f"{one['what']}: {one['why']}")
    for at, settings in scenario.hosts.sysctls:
        for name, (what, hint) in _ONLY_KERNELS.items():
            if name in settings:
                hint = f"{hint}, or run it with --engine emulate or --engine virtual"
                yield scenario.source.problem(Finding((*at, "sysctl", name), what, "", hint))
    hint = "leave routing out, and it has the routes of the shortest paths; or run it with --engine emulate"
    yield from refuse_routers(scenario, plan, "a simulation has no routing daemons", hint)
    hosts = {node.name for node in plan.nodes if isinstance(node, HostNode)}
    at_hosts = {link.name for link in plan.links if {link.from_, link.to} & hosts}
    for i, event in enumerate(scenario.events):
        if event.carrier == "lost" and event.link in at_hosts:
            hint = "leave carrier out: the link drops its packets; or run it with --engine emulate"
            what = "a host's TCP notices that its interface has no carrier, and a simulated one does not"
            yield scenario.source.problem(Finding(("events", i, "carrier"), what, "", hint))
    for i, event in enumerate(scenario.events):
        if event.link in _of_trees(plan) and ("up" in event.model_fields_set or event.down_for is not None):
            hint = "run it with --engine emulate or --engine virtual, or leave stp out"
            what = "bridges find another spanning tree when a link goes down, and a simulated one stays as it is"
            yield scenario.source.problem(Finding(("events", i), what, "", hint))
    for name in steered(plan, resolve(scenario).network.nodes):
        what = "in a simulation packets take the shortest paths, and these routes lead elsewhere"
        hint = "leave routes out, give the links costs, or run it with --engine emulate or --engine virtual"
        yield scenario.source.problem(Finding(("topology", "nodes", name, "routes"), what, "", hint))
    for i in range(len(scenario.programs)):
        hint = "leave it out, or run it with --engine emulate or --engine virtual"
        yield scenario.source.problem(Finding(("programs", i), "a simulation runs no programs", "", hint))
    yield from refuse_cpus(scenario, plan, "a simulation runs no programs")
    yield from refuse_outside(scenario, plan)
    if scenario.emulate.whole_bursts:
        hint = "run it with --engine emulate, or leave whole_bursts out"
        finding = Finding(("emulate", "whole_bursts"), "in a simulation links carry single segments", "", hint)
        yield scenario.source.problem(finding)
    if scenario.emulate.kernel is not None:
        hint = "run it with --engine virtual, or leave emulate.kernel out"
        yield scenario.source.problem(Finding(("emulate", "kernel"), "a simulation has no kernel", "", hint))
    if scenario.emulate.links != "ours":
        hint = "run it with --engine virtual, or leave emulate.links out"
        yield scenario.source.problem(Finding(("emulate", "links"), "a simulation has no kernel", "", hint))


def _of_trees(plan: Plan) -> set[str]:
    """The links between switches, of which one has a part in a spanning tree."""
    switches = {node.name for node in plan.nodes if isinstance(node, BridgeNode | SwitchNode)}
    trees = {node.name for node in plan.nodes if isinstance(node, BridgeNode) and node.stp}
    return {link.name for link in plan.links if (ends := {link.from_, link.to}) <= switches and ends & trees}


def _hint(problem: Refusal) -> str:
    """The hint on what to do, with the algorithm that was probably meant."""
    name = problem["what"].removeprefix("the congestion control ")
    close = closest(name, SIMULATED) if name != problem["what"] and name not in KERNEL else None
    return f"did you mean {close}? Otherwise, {problem['hint']}" if close else str(problem["hint"])


_ONLY_KERNELS: Final = {
    "net.ipv4.tcp_ecn": ("a simulated flow asks for ECN by itself", "set ecn on the flows"),
}
"""Settings that every plan has and the simulator does without: the scenario's own value, and what to use instead."""


def _key(scenario: Scenario, problem: Refusal) -> Key:
    """The place in the scenario of what the simulator can't do."""
    if problem["host"] is not None:
        return _setting(scenario, problem["host"], problem["what"])
    if problem["flow"] is None:
        return ()
    one = next(one for one in resolve(scenario).connections if one.id == problem["flow"])
    if one.flow.instead is not None:
        return ("flows", one.entry, one.flow.instead)
    return one.cc or ("flows", one.entry)


def _setting(scenario: Scenario, host: str, what: str) -> Key:
    """The sysctl that `what` names: the host's own, which win, or all hosts'."""
    tables = [(at, settings) for at, settings in scenario.hosts.sysctls if at in (("hosts",), ("hosts", host))]
    found = [(*at, "sysctl", name) for at, settings in reversed(tables) for name in settings if name in what]
    # One name may begin like another.
    return max(found, key=lambda key: len(str(key[-1])), default=("hosts",))
