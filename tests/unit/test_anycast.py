"""Subnets that are in several places: what the plan holds, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphs import flow, graph, link
from refused import refused

from dumbbell.plan.expand import expand
from dumbbell.plan.types import Plan, RouterNode
from dumbbell.plan.wire import text as text_of
from dumbbell.scenario.file.loading import load

ANYCAST = 'anycast = ["192.0.2.0/24"]'


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def two_places(routing: str = "ospf") -> str:
    """A server behind each of two routers, with one address."""
    return graph(
        link("a", "r1"),
        link("b", "r2"),
        link("r1", "r3"),
        link("r2", "r3"),
        link("h1", "r3"),
        flow("h1", "a"),
        nodes={
            **{name: {"address": "192.0.2.10/24"} for name in ("a", "b")},
            **{f"r{i}": {"asn": 64511 + i} for i in (1, 2, 3) if routing == "bgp"},
        },
        routing=[routing],
        anycast=["192.0.2.0/24"],
    )


def planned(text: str) -> Plan:
    Path("my.toml").write_text(text)
    return expand(load("my.toml"))


@pytest.mark.parametrize("routing", ["ospf", "isis", "rip", "bgp"])
def test_two_hosts_have_one_address_and_every_other_router_expects_its_subnet(routing: str) -> None:
    plan = planned(two_places(routing))
    assert plan.anycast == ("192.0.2.0/24",)
    assert [node.address for node in plan.nodes if node.kind == "host"] == ["192.0.2.10", "192.0.2.10", "10.0.0.10"]
    expects = {one.name: one.routing.expect for one in plan.nodes if isinstance(one, RouterNode) and one.routing}
    assert "192.0.2.0/24" in expects["r3"]
    assert "192.0.2.0/24" not in (*expects["r1"], *expects["r2"])


def test_other_plans_do_not_know_the_key() -> None:
    text = two_places().replace(f"{ANYCAST}\n", "").replace('b = { address = "192.0.2.10/24" }', "b = {}")
    assert "anycast" not in text_of(planned(text))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (f"{ANYCAST}\n", "", "b: a has the same address, 192.0.2.10"),
        (ANYCAST, 'anycast = ["192.0.3.0/24"]', "no link has addresses in the subnet 192.0.3.0/24"),
        ('b = { address = "192.0.2.10/24" }', "b = {}", "one link alone has addresses in the subnet 192.0.2.0/24"),
        ('routing = ["ospf"]\n', "", "r1 has no routing daemon"),
        ('b = { address = "192.0.2.10/24"', 'b = { address = "192.0.2.130/25"', "overlaps with 192.0.2.0/24"),
    ],
)
def test_what_cannot_be_is_refused(old: str, new: str, said: str) -> None:
    text = two_places()
    assert old in text
    assert said in refused(text.replace(old, new))
