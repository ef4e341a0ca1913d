"""Programs of a scenario: what they become in the plan, and which are refused."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from graphs import flow, graph, link, program
from refused import refused

from dumbbell.engines.registry import engine
from dumbbell.plan.expand import expand
from dumbbell.plan.types import ExitReady, HostNode, Plan, TcpReady, UdpReady
from dumbbell.plan.view import tables
from dumbbell.plan.wire import document, parsed
from dumbbell.scenario.file.loading import load

NETWORK = link("h1", "s1"), link("s1", "h2"), flow()
BOTH = {
    "p1": program("h1", "ip route replace blackhole 10.9.0.0/16", ready="exit"),
    "web": program("h2", "python3 -m http.server 80", name="web", ready="tcp 80"),
    "p3": program("h2", "sleep 9", ready="udp 53"),
    "p4": program("h1", "sleep 9"),
}


def planned(*tables: str, nodes: Mapping[str, Mapping[str, Any]] | None = None) -> Plan:
    return expand(load(tomllib.loads(graph(*NETWORK, *tables, nodes=nodes))))


def test_programs_keep_their_order_and_say_what_is_waited_for() -> None:
    plan = planned(*BOTH.values())
    assert [one.name for one in plan.programs] == list(BOTH)
    assert [one.ready for one in plan.programs] == [ExitReady(), TcpReady(port=80), UdpReady(port=53), None]
    assert parsed(document(plan)) == plan
    (table,) = [table for table in tables(plan, 0) if table.title == "Programs"]
    assert [row[3] for row in table.rows] == ["at its end", "tcp 80", "udp 53", "-"]


def test_a_plan_without_programs_says_nothing_of_them() -> None:
    found = document(planned())
    assert "programs" not in found
    assert all(not {"cpus", "cpu_ppm"} & set(node) for node in found["nodes"])


def test_the_cpus_of_a_node_are_sorted_numbers() -> None:
    plan = planned(nodes={"h2": {"cpus": [3, 0, 3]}})
    assert [node.cpus for node in plan.nodes if isinstance(node, HostNode)] == [(), (0, 3)]
    (table,) = [table for table in tables(plan, 0) if table.title == "CPUs of programs"]
    assert table.rows == [["h2", "0, 3", "no limit"]]


def test_a_share_of_a_cpu_is_a_number_of_millionths() -> None:
    plan = planned(nodes={"h1": {"cpu": "12.5 %"}})
    assert [node.cpu_ppm for node in plan.nodes if isinstance(node, HostNode)] == [125_000, None]
    (table,) = [table for table in tables(plan, 0) if table.title == "CPUs of programs"]
    assert table.rows == [["h1", "all", "12.5 %"]]


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (program("h3"), 'programs.0.node = "h3": unknown node\n  expected one of h1, h2'),
        (program("s1"), 'programs.0.node = "s1": s1 is a switch, which runs no programs\n  expected one of h1, h2'),
        (program("h1", name="f1"), 'programs.0.name = "f1": a flow is named f1, too\n  expected a name of its own'),
        (program("h1", name="p2") + program("h2"), "a program is named p2, too"),
        (
            program("h1", ready="80"),
            'programs.0.ready = "80": neither a port nor an end\n'
            '  expected a protocol and a port, or the word exit\nhint: write "tcp 80", "udp 53" or "exit"',
        ),
        (program("h1", ready="tcp 0"), "neither a port nor an end"),
    ],
)
def test_a_wrong_program_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str, expected: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert expected in refused(graph(*NETWORK, wrong))


def test_engines_refuse_what_they_cannot_do() -> None:
    lacking = max(os.sched_getaffinity(0)) + 1
    nodes = {"h2": {"cpus": [lacking]}}
    scenario = load(tomllib.loads(graph(*NETWORK, program("h1", "no-such-program -x"), nodes=nodes)))
    plan = expand(scenario)
    said = [f"{one.key}: {one.what}; {one.hint}" for one in engine("emulate").check(scenario, plan)]
    assert any("programs.0.command: program p1 needs 'no-such-program'" in one for one in said), said
    assert any(f"topology.nodes.h2.cpus: this machine does not let dumbbell use CPU {lacking}" in one for one in said)
    said = [one.what for one in engine("simulate").check(scenario, plan)]
    assert "scenario: programs.0: a simulation runs no programs" in said
    assert "scenario: topology.nodes.h2.cpus: a simulation runs no programs" in said
