"""Routing daemons of a lab whose nodes and links come and go, on FRRouting and real namespaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from graphs import graph, link
from harness import Place, until
from stages import thorough_after

import dumbbell
from dumbbell.errors import RunFailed
from dumbbell.labs.configurations import typed
from dumbbell.labs.live import Live
from dumbbell.labs.record import save

PATIENCE_S = 60


def network(routing: list[str], **topology: Any) -> str:
    """h1 - r1 - r2 - h2."""
    links = (link("h1", "r1"), link("r1", "r2", "core", delay="1 ms"), link("r2", "h2"))
    return graph(*links, name="grow", duration=None, routing=routing, wait="60 s", **topology)


def reach(lab: Live, from_: str, to: str, ip: int = 4) -> None:
    """Wait until routing leads a ping there and back."""
    address = lab.network.address(to, ip)
    until(lambda: lab[from_].run(f"ping -c1 -W1 {address}").returncode == 0, PATIENCE_S, f"a way from {from_} to {to}")


def ways(lab: Live, router: str, prefix: str = "") -> str:
    return lab[router].run(f"ip route show {prefix}").stdout


def subnet(lab: Live, node: str) -> str:
    """The prefix of a node's first interface, as its kernel has it."""
    return lab[node].run("ip route show proto kernel").stdout.split()[0]


def test_ospf_leads_to_a_new_router_and_forgets_it(apart: Place) -> None:
    with dumbbell.Lab(apart.write(network(["ospf"]))) as lab:
        lab.add_router("r3")
        lab.add_link("r3", "r2", delay="1 ms")
        lab.add_host("h3")
        lab.add_link("h3", "r3")
        reach(lab, "h1", "h3")
        prefix = subnet(lab, "h3")
        assert "proto ospf" in ways(lab, "r1", prefix)
        # A second way takes over once the first is removed.
        lab.add_link("r1", "r3", delay="1 ms")
        lab.link("core").remove()
        reach(lab, "h1", "h2")
        assert typed(lab.path) == {}, "each runs what is planned"
        lab["r1"].daemon("ospfd", up=False)
        lab["r1"].daemon("ospfd", up=True)
        until(lambda: typed(lab.path) == {}, PATIENCE_S, "the configuration of the network of now")
        save(lab.path, Path("saved.toml"))
        stations = {name: lab.network.interfaces(name) for name in lab.network.stations}
        reach(lab, "h1", "h2")
        lab.add_link("r1", "r2")
        lab.remove("h3")
        lab.remove("r3")
        until(lambda: not ways(lab, "r1", prefix), PATIENCE_S, "the end of the route")
        reach(lab, "h1", "h2")
        assert typed(lab.path) == {}
        # Another router of this name has nothing of the first one.
        lab.add_router("r3")
        lab.add_link("r3", "r1")
        until(lambda: "proto ospf" in ways(lab, "r3", subnet(lab, "h2")), PATIENCE_S, "a route of the new r3")
        assert typed(lab.path) == {}
    with dumbbell.Lab("saved.toml") as again:
        assert again.ping_all().received == 6
        now = {name: again.network.interfaces(name) for name in again.network.stations}
        assert {name: [own for _, own in held] for name, held in now.items()} == {
            name: [own for _, own in held] for name, held in stations.items()
        }
        assert typed(again.path) == {}


@pytest.mark.parametrize(
    "routing",
    thorough_after(1, [["bgp", "ospf", "bfd"], ["isis", "ospf6", "bfd"], ["rip", "ripng"], ["bgp"]]),
    ids="-".join,
)
def test_protocols_follow_links(apart: Place, routing: list[str]) -> None:
    keys = {"asn": 65000} if "bgp" in routing else {}
    nodes = {f"r{number}": {"kind": "router", **keys} for number in (1, 2)}
    if routing == ["bgp"]:
        nodes["r2"]["asn"] = 65002
    with dumbbell.Lab(apart.write(network(routing, ipv6=True, nodes=nodes))) as lab:
        assert typed(lab.path) == {}
        if routing == ["bgp"]:
            # Its neighbour becomes its provider, whose route map passes nothing on that is paid for.
            lab.add_router("r3", asn=65003, customers=["r2"])
        else:
            lab.add_router("r3", **keys)
        lab.add_link("r2", "r3")
        lab.add_link("r3", lab.add_host("h3"))
        for ip in (4, 6) if "ospf" not in routing else (4,):
            reach(lab, "h1", "h3", ip)
        assert typed(lab.path) == {}
        lab.remove("h3")
        lab.add_link("r1", "r3", name="other")
        lab.link("core").remove()
        reach(lab, "h1", "h2")
        lab.add_link("r1", "r2")
        lab.remove("r3")
        reach(lab, "h1", "h2")
        assert typed(lab.path) == {}


def test_a_lab_without_daemons_gets_some(apart: Place) -> None:
    """The process that has daemons starts with the first of them, and takes orders and records as any other."""
    text = graph(link("h1", "r1"), link("r1", "h2"), name="none", duration=None)
    with dumbbell.Lab(apart.write(text)) as lab:
        for name in ("r2", "r3"):
            lab.add_router(name, routing=["ospf"])
        lab.add_link("r1", "r2")
        lab.add_link("r2", "r3")
        until(lambda: "proto ospf" in ways(lab, "r3"), PATIENCE_S, "a route of r3")
        lab["r2"].daemon("ospfd", up=False)
        until(lambda: "proto ospf" not in ways(lab, "r3"), PATIENCE_S, "the end of the route")
        with lab.record("routes") as record:
            lab["r2"].daemon("ospfd", up=True)
            until(lambda: "proto ospf" in ways(lab, "r3"), PATIENCE_S, "a route of r3")
        routes = record.run.routes
        assert routes is not None
        rows = routes.filter((routes["router"] == "r3") & (routes["protocol"] == "ospf"))
        assert set(rows["change"]) == {"added", "removed"}
        assert set(rows["interface"].drop_nulls()) == {"eth0"}


def test_what_a_user_has_written_stays_and_is_told(apart: Place) -> None:
    own = "hostname r1\ninterface eth0\n ip ospf area 0\nexit\ninterface eth1\n ip ospf area 0\nexit\n"
    Path("r1.conf").write_text(own)
    nodes = {"r1": {"kind": "router", "routing": ["ospf"], "frr": "r1.conf"}}
    with dumbbell.Lab(apart.write(network(["ospf"], nodes=nodes))) as lab:
        lab["r2"].vtysh("configure terminal", "interface eth0", "description mine")
        lab.add_router("r3")
        before = lab["r1"].vtysh("show running-config")
        with pytest.warns(UserWarning, match=r"r1: eth2 is new; its configuration is yours.* r1 vtysh"):
            lab.add_link("r3", "r1")
        assert lab["r1"].vtysh("show running-config") == before
        said = apart.invoke("lab", "shell", "-c", "remove r3")
        assert "r1: eth2 is gone; its configuration is yours" in said.stdout, said.stdout + said.stderr
        lab.add_router("r4")
        lab.add_link("r4", "r2")
        shown = lab["r2"].vtysh("show running-config")
        assert "description mine" in shown
        assert shown.count("ip ospf area 0") == 4


def test_a_line_that_daemons_do_not_take_is_told(apart: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from dumbbell.labs import routers

    monkeypatch.setattr(routers, "_PATIENCE_S", 2.0)
    monkeypatch.setattr(routers, "done", lambda _: ["interface eth2", " ip ospf bogus"])
    with dumbbell.Lab(apart.write(network(["ospf"]))) as lab:
        lab.add_host("h3")
        with pytest.raises(
            RunFailed, match=r"(?s)a part was refused.*r1: FRRouting does not take `interface eth2 / ip"
        ):
            lab.add_link("h3", "r1")
        assert "h3" in lab.nodes
