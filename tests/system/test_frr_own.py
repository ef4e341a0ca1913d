"""Daemons of FRRouting with configurations of the user's own: static routes, policies, multicast."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest
from graphs import flow, graph, link
from harness import Place, until

import dumbbell
from dumbbell.engines.names import VIRTUAL

HOSTS = {
    "h1": {"address": "10.1.0.10/24"},
    "h2": {"address": "10.2.0.10/24"},
    "h3": {"address": "10.3.0.10/24"},
}


def written(place: Place, **texts: str) -> None:
    for name, text in texts.items():
        (place.directory / f"{name}.conf").write_text(text)


def test_policies_lead_the_packets_of_one_interface_another_way(here: Place) -> None:
    """Static routes and policies decide where packets go: in virtual time it is the same each time."""
    policy = "pbr-map detour seq 10\n match dst-ip 10.2.0.0/24\n set nexthop 10.0.13.3\nexit\n"
    written(
        here,
        r1=f"ip route 10.2.0.0/24 10.0.12.2\n{policy}interface eth0\n pbr-policy detour\nexit\n",
        r2="ip route 10.1.0.0/24 10.0.12.1\nip route 10.3.0.0/24 10.0.12.1\n",
        r3="ip route 10.2.0.0/24 10.0.23.2\n",
    )
    text = graph(
        link("h1", "r1"),
        link("h3", "r1"),
        link("r1", "r2", "direct", addresses=["10.0.12.1/24", "10.0.12.2/24"], delay="1 ms"),
        link("r1", "r3", "detour", addresses=["10.0.13.1/24", "10.0.13.3/24"], delay="1 ms"),
        link("r3", "r2", addresses=["10.0.23.3/24", "10.0.23.2/24"], delay="1 ms"),
        link("r2", "h2"),
        flow("h1", id="led", protocol="udp", rate="100 kbit/s"),
        flow("h3", id="plain", protocol="udp", rate="100 kbit/s"),
        nodes={
            **HOSTS,
            "r1": {"routing": ["pbr"], "frr": "r1.conf"},
            **{r: {"frr": f"{r}.conf"} for r in ("r2", "r3")},
        },
        duration="1 s",
    )
    run = here.run(text, "--engine", VIRTUAL)
    assert run.verdict == "valid", run.summary["reasons"]
    assert run.packets is not None
    assert run.routes is not None
    ways = run.packets.group_by("flow").agg(pl.col("link").cast(pl.String).unique().sort())
    assert dict(ways.iter_rows()) == {"led": ["detour", "r3-r2"], "plain": ["direct"]}
    assert set(run.routes.filter(pl.col("protocol") == "static")["router"]) == {"r1", "r2", "r3"}


SENDER = """
import itertools, socket, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 8)
for number in itertools.count():
    sender.sendto(str(number).encode(), ("239.1.2.3", 5000))
    time.sleep(0.1)
"""
RECEIVER = """
import socket
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("", 5000))
member = socket.inet_aton("239.1.2.3") + socket.inet_aton("10.2.0.10")
receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
receiver.settimeout(60)
print(receiver.recvfrom(100)[1][0])
"""


def test_multicast_reaches_who_has_joined_by_pim(here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    rp = "ip pim rp 10.255.0.2 239.0.0.0/8\n"
    pim, igmp = (f"interface {{}}\n ip pim\n {word}\nexit\n" for word in ("ip pim hello 1", "ip igmp"))
    ways = "ip route 10.2.0.0/24 10.0.12.2\nip route 10.255.0.2/32 10.0.12.2\n"
    written(
        here,
        r1=ways + rp + pim.format("eth0") + pim.format("eth1"),
        r2="ip route 10.1.0.0/24 10.0.12.1\n" + rp + pim.format("eth0") + pim.format("lo") + igmp.format("eth1"),
    )
    text = graph(
        link("h1", "r1"),
        link("r1", "r2", addresses=["10.0.12.1/24", "10.0.12.2/24"]),
        link("r2", "h2"),
        nodes={
            **{host: HOSTS[host] for host in ("h1", "h2")},
            "r1": {"routing": ["pim"], "frr": "r1.conf"},
            "r2": {"routing": ["pim"], "frr": "r2.conf", "id": "10.255.0.2"},
        },
        duration=None,
    )
    with dumbbell.Lab(here.directory / here.write(text)) as lab:
        until(lambda: "10.255.0.2" in lab["r1"].run("ip route").stdout, 60, "the way to the rendezvous point")
        sender = lab["h1"].start([sys.executable, "-c", SENDER])
        try:
            assert lab["h2"].run([sys.executable, "-c", RECEIVER], timeout_s=90).stdout == "10.1.0.10\n"
            assert "239.1.2.3" in lab["r2"].vtysh("show ip mroute")
        finally:
            sender.stop()


def test_routers_find_each_others_hosts_by_babel(here: Place) -> None:
    """Babel speaks over IPv6, and has routes of both versions (RFC 8966)."""
    own = "router babel\n network eth0\n network eth1\n redistribute ipv4 connected\nexit\n"
    for interface in ("eth0", "eth1"):
        own += f"interface {interface}\n babel hello-interval 100\n babel update-interval 500\nexit\n"
    written(here, r1=own, r2=own)
    run = here.run(
        graph(
            link("h1", "r1"),
            link("r1", "r2", "core", addresses=["10.0.12.1/24", "10.0.12.2/24"], delay="1 ms"),
            link("r2", "h2"),
            flow("h1", "h2", protocol="udp", rate="100 kbit/s"),
            nodes={
                **{host: HOSTS[host] for host in ("h1", "h2")},
                **{r: {"routing": ["babel"], "frr": f"{r}.conf"} for r in ("r1", "r2")},
            },
            duration="2 s",
            ipv6=True,
            wait="60 s",
        )
    )
    assert run.routes is not None
    learned = run.routes.filter(pl.col("protocol") == "babel", pl.col("change") == "added")
    assert {("r1", "10.2.0.0/24"), ("r2", "10.1.0.0/24")} <= set(learned.select("router", "prefix").iter_rows())
    assert (run.directory / "logs" / "r1" / "babeld.log").exists()
    assert run.flows["received_bytes"].item() > 0


def test_nhrp_runs_with_a_configuration_of_the_users_own(
    here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its next hops are those of GRE tunnels, which not all kernels have: the daemon takes its text, and answers."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    text = "interface eth1\n ip nhrp network-id 7\n ip nhrp holdtime 60\nexit\nip route 10.2.0.0/24 10.0.12.2\n"
    written(here, r1=text)
    network = graph(
        link("h1", "r1"),
        link("r1", "r2", addresses=["10.0.12.1/24", "10.0.12.2/24"]),
        nodes={"h1": HOSTS["h1"], "r1": {"routing": ["nhrp"], "frr": "r1.conf"}},
        duration=None,
    )
    with dumbbell.Lab(here.directory / here.write(network)) as lab:
        until(lambda: "10.2.0.0/24" in lab["r1"].run("ip route").stdout, 60, "the static route beside it")
        assert "ip nhrp network-id 7" in lab["r1"].vtysh("show running-config")
        assert "nhrpd" in lab["r1"].vtysh("show daemons")
        lab["r1"].daemon("nhrpd", up=False)
        until(lambda: "nhrpd" not in lab["r1"].vtysh("show daemons"), 60, "its end")
