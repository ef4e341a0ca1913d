"""Routers with daemons in a scenario: what the plan holds, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphs import flow, graph, link

from dumbbell.engines.registry import engine
from dumbbell.errors import ScenarioError
from dumbbell.plan.expand import expand
from dumbbell.plan.types import Plan, RouterNode
from dumbbell.plan.view import tables
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.file.writing import write

TEXT = graph(
    link("h1", "r1", addresses=["10.0.0.10/16", "10.0.0.1/16"]),
    link("r1", "r2", addresses=["10.9.0.1/16", "10.9.0.2/16"], rate="10 Mbit/s", delay="5 ms", buffer="50 packets"),
    link("r2", "h2", addresses=["10.1.0.1/16", "10.1.0.10/16"]),
    flow("h1", "h2"),
    nodes={name: {"asn": asn, "routing": ["bgp"]} for name, asn in (("r1", 100), ("r2", 200))},
    wait="20 s",
)
R1 = 'r1 = { kind = "router", asn = 100, routing = ["bgp"] }'
LINE = TEXT.splitlines().index(R1) + 1


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def planned(text: str) -> Plan:
    Path("my.toml").write_text(text)
    return expand(load("my.toml"))


def router(plan: Plan, name: str) -> RouterNode:
    (found,) = (node for node in plan.nodes if node.name == name)
    assert isinstance(found, RouterNode)
    return found


def test_the_seeds_example_is_two_numbers() -> None:
    plan = planned(TEXT)
    r1 = router(plan, "r1")
    assert r1.routes == ()
    assert r1.routing is not None
    assert r1.routing.daemons == ("bgpd",)
    assert r1.routing.expect == ("10.1.0.0/16",)
    assert "neighbor 10.9.0.2 remote-as 200" in r1.routing.config
    assert plan.wait is not None
    assert plan.wait.limit_ns == 20 * 10**9
    shown = [table for table in tables(plan, 0) if table.title == "r1: zebra, bgpd"]
    assert ["router bgp 100"] in shown[0].rows


def test_without_daemons_nothing_is_waited_for() -> None:
    for given in ("", ', routing = "static"'):
        plan = planned(
            TEXT.replace(', asn = 100, routing = ["bgp"]', given).replace(', asn = 200, routing = ["bgp"]', "")
        )
        assert plan.wait is None
        assert router(plan, "r1").routing is None
        assert router(plan, "r1").routes


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ('asn = 100, routing = ["bpg"]', "topology.nodes.r1.routing: no protocol bpg"),
        ('routing = ["bgp"]', "BGP without an AS"),
        ('asn = 100, routing = ["eigrp"]', "no configuration of eigrp can be worked out"),
        ('asn = 100, routing = ["bgp"], peers = ["r3"]', "r3 is not a neighbour of r1"),
        ('asn = 100, routing = ["bgp"], networks = ["10.0.0.1/16"]', "has host bits set"),
        ('asn = 0, routing = ["bgp"]', "asn"),
    ],
)
def test_what_cannot_be_obeyed_is_refused_with_its_place(keys: str, said: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        planned(TEXT.replace(R1, f'r1 = {{ kind = "router", {keys} }}'))
    told = str(caught.value)
    assert told.startswith(f"my.toml:{LINE}: ")
    assert said in told


def test_a_file_of_the_users_own_goes_into_the_plan_and_into_the_runs_directory() -> None:
    Path("mine.conf").write_text("router eigrp 1\n network 10.0.0.0/8\n")
    text = TEXT.replace(R1, 'r1 = { kind = "router", routing = ["eigrp"], frr = "mine.conf" }')
    routing = router(planned(text), "r1").routing
    assert routing is not None
    assert routing.config == "router eigrp 1\n network 10.0.0.0/8\n"
    assert routing.daemons == ("staticd", "eigrpd")
    Path("kept").mkdir()
    write(load("my.toml"), Path("kept"))
    assert "mine.conf" in Path("kept/scenario.toml").read_text()
    again = router(expand(load("kept/scenario.toml")), "r1").routing
    assert again == routing


def test_a_simulation_has_no_daemons_and_says_so() -> None:
    plan = planned(TEXT)
    told = [one for one in engine("simulate").check(load("my.toml"), plan) if one.key.endswith("routing")]
    assert [one.key for one in told] == ["topology.nodes.r1.routing", "topology.nodes.r2.routing"]
    assert "a simulation has no routing daemons" in told[0].wrong
