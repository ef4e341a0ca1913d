"""FRR itself reads the configurations that are generated, and names the line of one that it does not understand."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from graphs import flow, graph, link

from dumbbell.engines import routing
from dumbbell.plan import expand
from dumbbell.routing import configurations, frr
from dumbbell.routing.model import Network
from dumbbell.routing.registry import GENERATED
from dumbbell.scenario.file.loading import load
from tests.unit.routed import bgp, network

LINKS = [("r1", "r2"), ("r2", "r3"), ("r1", "r3")]


def texts(of: Network) -> dict[str, str]:
    return {name: one.text for name, one in configurations(of).items()}


@pytest.mark.parametrize("timers", ["fast", "standard"])
@pytest.mark.parametrize("protocol", [name for name in GENERATED if name not in ("bfd", "bgp")])
def test_interior_protocols(protocol: str, timers: str) -> None:
    keys = {name: {"protocols": ("bfd", protocol), "timers": timers} for name in ("r1", "r2", "r3")}
    made = texts(network(keys, LINKS, ["r1"], ipv6=True))
    assert len(made) == 3
    assert frr.complaints(made) == []


def test_bgp_with_policies_reflectors_and_ipv6() -> None:
    keys: dict[str, Any] = {
        "r1": bgp(64512, also=("ospf",), clients=frozenset({"r2"})),
        "r2": bgp(64512, also=("ospf", "bfd"), relations={"r3": "customer"}),
        "r3": bgp(4200000000, also=("bfd",), relations={"r2": "provider"}, networks=(ip_network("2001:db8::/48"),)),
    }
    assert frr.complaints(texts(network(keys, LINKS, ["r1", "r3"], ipv6=True))) == []


def test_the_line_that_is_wrong_is_named_in_each_text() -> None:
    found = frr.complaints(
        {
            "r1": "router bgp 100\n neighbor 10.0.0.2 remote-as 200\n",
            "r2": "router bgp 200\n neighbour 10.0.0.1 remote-as 100\n network 10.1.0.0/16\n",
            "r3": "interface eth0\n ip ospf area 0\nexit\nrouter ospf\n ospf router-id nonsense\n",
        }
    )
    assert [(one.router, one.line, one.text) for one in found] == [
        ("r2", 2, "neighbour 10.0.0.1 remote-as 100"),
        ("r3", 5, "ospf router-id nonsense"),
    ]
    assert all(one.said for one in found)


def test_daemons_that_are_not_there_are_named() -> None:
    assert frr.lacking(("zebra", "bgpd")) == []
    assert frr.lacking(("zebra", "nosuchd")) == ["nosuchd"]


@pytest.mark.parametrize("has_mpls", [False, True])
def test_labels_need_a_kernel_with_mpls(has_mpls: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(routing, "_MPLS", tmp_path if has_mpls else tmp_path / "none")
    Path("r1.conf").write_text("mpls ldp\n router-id 10.255.0.1\nexit\n")
    nodes = {"r1": {"routing": ["ldp"], "frr": "r1.conf"}}
    Path("my.toml").write_text(graph(link("h1", "r1"), link("r1", "h2"), flow("h1", "h2"), nodes=nodes))
    scenario = load("my.toml")
    told = [one.text() for one in routing.check_routers(scenario, expand(scenario))]
    assert len(told) == (0 if has_mpls else 1)
    assert all("has no MPLS, which ldp" in text for text in told)
