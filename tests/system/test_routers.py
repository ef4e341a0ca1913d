"""Runs with routing daemons: FRRouting in the routers of a lab, by root and by an ordinary user."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from graphs import event, flow, graph, link
from harness import Place, until
from stages import thorough_after

import dumbbell

TWO = graph(
    link("h1", "r1", addresses=["10.0.0.10/16", "10.0.0.1/16"]),
    link(
        "r1", "r2", "core", addresses=["10.9.0.1/16", "10.9.0.2/16"], rate="10 Mbit/s", delay="5 ms",
        buffer="50 packets",
    ),
    link("r2", "h2", addresses=["10.1.0.1/16", "10.1.0.10/16"]),
    flow("h1", "h2", cc="cubic"),
    nodes={name: {"asn": asn, "routing": ["bgp"]} for name, asn in (("r1", 100), ("r2", 200))},
    wait="30 s",
)  # fmt: skip


def triangle(protocol: str) -> str:
    """Three routers, of which the link between two falls silent under a flow."""
    return graph(
        link("h1", "r1"),
        link("h2", "r2"),
        link("r1", "r2", "core", rate="10 Mbit/s", delay="2 ms", buffer="50 packets"),
        link("r2", "r3"),
        link("r1", "r3", delay="1 ms"),
        flow("h1", "h2", cc="cubic"),
        event("2 s", link="core", up=False),
        event("2 s", link="core-reverse", up=False),
        nodes={name: {"routing": [protocol, "bfd"]} for name in ("r1", "r2", "r3")},
        duration="6 s",
    )


def test_two_autonomous_systems_learn_of_each_others_hosts(anyone: Place) -> None:
    run = anyone.run(TWO)
    assert run.flows["received_bytes"][0] > 0
    checks = {reason["check"] for reason in run.summary["reasons"]}
    # Frames before time 0 are in the books, too.
    assert not checks & {"interfaces", "conservation", "unroutable"}
    assert run.routes is not None
    learned = run.routes.filter(pl.col("protocol") == "bgp")
    # Before time 0: then all is there.
    assert set(learned.select("router", "prefix", "via").iter_rows()) == {
        ("r1", "10.1.0.0/16", "10.9.0.2"),
        ("r2", "10.0.0.0/16", "10.9.0.1"),
    }
    assert learned["time_ns"].max() < 0  # type: ignore[operator]
    assert (run.directory / "logs" / "r1" / "bgpd.log").exists()


@pytest.mark.real_time
@pytest.mark.parametrize("protocol", thorough_after(1, ["ospf", "isis"]))
def test_packets_go_round_a_link_that_falls_silent(anyone: Place, protocol: str) -> None:
    run = anyone.run(triangle(protocol))
    assert run.routes is not None
    changed = run.routes.filter(pl.col("time_ns") > 0, pl.col("router") == "r1")
    assert changed.height
    assert run.packets is not None
    by = run.packets.filter(pl.col("link") == "r1-r3")
    data = by.filter(pl.col("flow") == "f1")
    # All is silent for a while, and then the flow goes on by the other way.
    assert data.height > 100
    (told,) = run.summary["rerouting"]
    assert told["events"] == ["core down", "core-reverse down"]
    # When the flow goes on is up to the machine; in virtual time it is exact.
    assert [outage["flow"] for outage in told["outages_s"]] == ["f1"]


def test_a_daemon_that_is_killed_takes_its_routes_along(ordinary: Place) -> None:
    run = ordinary.run(TWO.replace('"2 s"', '"5 s"') + event("1 s", router="r2", daemon="bgpd", up=False))
    (told,) = run.summary["rerouting"]
    assert (told["events"], told["routers"]) == (["r2 bgpd killed"], 2)
    assert run.routes is not None
    lost = run.routes.filter(pl.col("time_ns") > 0, pl.col("change") == "removed")
    assert set(lost.select("router", "prefix").iter_rows()) == {("r1", "10.1.0.0/16"), ("r2", "10.0.0.0/16")}


def test_what_never_converges_fails_and_says_what_is_missing(here: Place) -> None:
    text = TWO.replace('buffer = "50 packets"', 'buffer = "50 packets"\nloss = "100 %"').replace('"30 s"', '"4 s"')
    done = here.invoke("run", here.write(text), "--quiet")
    assert done.returncode == 1
    assert "routing has not converged within 4 s" in done.stderr
    assert "r1 has no route to 10.1.0.0/16; r2 has no route to 10.0.0.0/16" in done.stderr


def test_a_line_that_frr_does_not_understand_is_named_before_the_run(ordinary: Place) -> None:
    (ordinary.directory / "mine.conf").write_text("router bgp 100\n neighbour 10.9.0.2 remote-as 200\n")
    text = TWO.replace('asn = 100, routing = ["bgp"]', 'asn = 100, routing = ["bgp"], frr = "mine.conf"')
    done = ordinary.invoke("run", ordinary.write(text), "--quiet")
    assert done.returncode == 2
    assert "mine.conf:2: r1: FRR does not understand `neighbour 10.9.0.2 remote-as 200`" in done.stderr


def test_other_daemons_run_with_a_configuration_of_the_users_own(here: Place) -> None:
    eigrp = "interface eth1\n bandwidth 10000\nexit\nrouter eigrp 1\n network 10.0.0.0/8\nexit\n"
    (here.directory / "eigrp.conf").write_text(eigrp)
    keys = 'routing = ["eigrp", "vrrp"], frr = "eigrp.conf"'
    text = TWO.replace('asn = 100, routing = ["bgp"]', keys).replace('asn = 200, routing = ["bgp"]', keys)
    run = here.run(text)
    assert (run.directory / "logs" / "r1" / "eigrpd.log").exists()
    assert (run.directory / "logs" / "r1" / "vrrpd.log").exists()
    assert run.routes is not None
    assert "10.1.0.0/16" in run.routes.filter(pl.col("protocol") == "eigrp")["prefix"].to_list()


def test_ospf_knows_of_a_pulled_cable_without_waiting_for_hellos(
    here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Routers would miss hellos for ten minutes. The interface says it at once."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    wires = {"r1": ("eth1", "eth2"), "r2": ("eth1", "eth2"), "r3": ("eth0", "eth1")}
    for router, interfaces in wires.items():
        patient = ("network point-to-point", "hello-interval 1", "dead-interval 600")
        lines = [f"interface {one}\n" + "".join(f" ip ospf {line}\n" for line in patient) for one in interfaces]
        text = "".join([*lines, "router ospf\n network 0.0.0.0/0 area 0\n"])
        (here.directory / f"{router}.conf").write_text(text)
    network = graph(
        link("h1", "r1"),
        link("h2", "r2"),
        link("r1", "r2", "core"),
        link("r2", "r3"),
        link("r1", "r3"),
        nodes={router: {"routing": ["ospf"], "frr": f"{router}.conf"} for router in wires},
        duration=None,
    )
    with dumbbell.Lab(here.directory / here.write(network)) as lab:

        def reached() -> bool:
            return lab.ping_all(timeout_s=0.5).dropped_percent == 0

        until(reached, 60, "the first routes")
        lab.link("core").down()
        assert {state["carrier"] for state in lab.link("r1", "r2").state.values()} == {"lost"}
        for router in ("r1", "r2"):
            assert "NO-CARRIER" in lab[router].run("ip link show eth1").stdout
        until(reached, 60, "the way over r3")
        lab.link("core").up()
        assert "NO-CARRIER" not in lab["r1"].run("ip link show eth1").stdout
