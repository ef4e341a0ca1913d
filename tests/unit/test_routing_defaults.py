"""The network's routing protocols and timers are those of routers that have none of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from graphs import flow, graph, link

from dumbbell.engines.registry import engine
from dumbbell.plan.expand import expand
from dumbbell.plan.types import RouterNode
from dumbbell.scenario.file.loading import load


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def routers(text: str) -> dict[str, RouterNode]:
    Path("my.toml").write_text(text)
    nodes: Any = expand(load("my.toml")).nodes
    return {node.name: node for node in nodes if isinstance(node, RouterNode)}


def line(**topology: Any) -> str:
    nodes = {"r2": {"routing": ["rip"], "timers": "standard"}, "r3": {"routing": "static"}}
    links = (link("h1", "r1"), link("r1", "r2"), link("r2", "r3"), link("r3", "h2"))
    return graph(*links, flow("h1", "h2"), nodes=nodes, **topology)


def test_a_router_of_its_own_mind_keeps_it() -> None:
    found = routers(line(routing=["ospf", "bfd"]))
    of = {name: router.routing.daemons if router.routing else () for name, router in found.items()}
    assert of == {"r1": ("bfdd", "ospfd"), "r2": ("ripd",), "r3": ()}
    assert found["r3"].routes


def test_timers_are_the_networks_or_the_routers_own() -> None:
    found = routers(line(routing=["ospf"], timers="standard"))
    assert found["r1"].routing is not None
    assert "hello-interval" not in found["r1"].routing.config
    assert found["r2"].routing is not None
    assert "timers basic" not in found["r2"].routing.config


def test_a_preset_can_have_routing_daemons() -> None:
    text = 'name = "x"\nduration = "2 s"\n[topology]\nkind = "fat-tree"\nk = 2\nrouting = ["ospf"]\n'
    found = routers(text + '[[flows]]\nfrom = "h1-1-1"\nto = "h2-1-1"\n')
    assert found
    assert all(router.routing is not None for router in found.values())


def test_an_engine_without_daemons_names_the_one_key_that_asks_for_them() -> None:
    Path("my.toml").write_text(line(routing=["ospf"]))
    scenario = load("my.toml")
    told = [one for one in engine("simulate").check(scenario, expand(scenario)) if one.key.endswith("routing")]
    assert [one.key for one in told] == ["topology.routing"]
