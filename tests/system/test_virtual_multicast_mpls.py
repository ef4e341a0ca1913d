"""Features of our own kernel beyond this machine's, by real daemons: multicast by PIM, labels by LDP."""

from __future__ import annotations

import sys

import polars as pl
import pytest
from graphs import flow, graph, link, program
from harness import Place

from dumbbell.engines.names import VIRTUAL

ENGINE = ("--engine", VIRTUAL)
HOSTS = {"h1": {"address": "10.1.0.10/24"}, "h2": {"address": "10.2.0.10/24"}}

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
print("from", receiver.recvfrom(100)[1][0], flush=True)
"""


def test_labels_of_ldp_carry_packets_across_a_router(here: Place) -> None:
    for number in (1, 2, 3):
        router = f"10.255.0.{number}"
        lines = ["interface lo", " ip ospf area 0", "exit"]
        for interface in ("eth0", "eth1"):
            lines += [f"interface {interface}", " ip ospf area 0", " ip ospf network point-to-point"]
            lines += [" ip ospf hello-interval 1", " ip ospf dead-interval 3", " mpls enable", "exit"]
        lines += ["router ospf", f" ospf router-id {router}", "exit"]
        lines += ["mpls ldp", f" router-id {router}", " address-family ipv4", f"  discovery transport-address {router}"]
        lines += ["  interface eth0", "  exit", "  interface eth1", "  exit", " exit-address-family", "exit", ""]
        (here.directory / f"r{number}.conf").write_text("\n".join(lines))
    labels = {'"net.mpls.platform_labels"': "1000"}
    routers = {
        f"r{number}": {
            "kind": "router", "routing": ["ospf", "ldp"], "frr": f"r{number}.conf", "id": f"10.255.0.{number}",
            "sysctl": labels,
        }
        for number in (1, 2, 3)
    }  # fmt: skip
    text = graph(
        link("h1", "r1"),
        link("r1", "r2", "first", delay="1 ms"),
        link("r2", "r3", "second", delay="1 ms"),
        link("r3", "h2"),
        flow("h1", "h2", protocol="ping", interval="100 ms", start="20 s"),
        nodes={**HOSTS, **routers},
        duration="25 s",
        wait="1 min",
    )
    run = here.run(text, *ENGINE)
    assert run.packets is not None
    late = run.packets.filter(pl.col("sent_ns") > 20 * 10**9)
    count = {key: len(rows) for key, rows in late.group_by("link", "flow")}
    # A packet with a label belongs to no flow in the records. The last router but one takes it away (RFC 3031, 3.16).
    assert ("first", "f1") not in count
    labelled = late.filter(pl.col("link") == "first", pl.col("size_bytes") == 98 + 4)
    assert len(labelled) == count["second", "f1"] == count["first-reverse", "f1"] == 50


@pytest.mark.thorough
def test_multicast_reaches_who_has_joined_by_pim(here: Place) -> None:
    rp = "ip pim rp 10.255.0.2 239.0.0.0/8\n"
    pim, igmp = (f"interface {{}}\n ip pim\n {word}\nexit\n" for word in ("ip pim hello 1", "ip igmp"))
    ways = "ip route 10.2.0.0/24 10.0.12.2\nip route 10.255.0.2/32 10.0.12.2\n"
    own = {
        "r1": ways + rp + pim.format("eth0") + pim.format("eth1"),
        "r2": "ip route 10.1.0.0/24 10.0.12.1\n" + rp + pim.format("eth0") + pim.format("lo") + igmp.format("eth1"),
    }
    for name, config in own.items():
        (here.directory / f"{name}.conf").write_text(config)
    (here.directory / "sender.py").write_text(SENDER)
    (here.directory / "receiver.py").write_text(RECEIVER)
    text = graph(
        link("h1", "r1"),
        link("r1", "r2", addresses=["10.0.12.1/24", "10.0.12.2/24"]),
        link("r2", "h2"),
        flow("h1", "h2", protocol="ping", interval="1 s"),
        program("h2", f"{sys.executable} {here.directory}/receiver.py", name="receiver"),
        program("h1", f"{sys.executable} {here.directory}/sender.py", name="sender"),
        nodes={
            **HOSTS,
            "r1": {"kind": "router", "routing": ["pim"], "frr": "r1.conf"},
            "r2": {"kind": "router", "routing": ["pim"], "frr": "r2.conf", "id": "10.255.0.2"},
        },
        duration="30 s",
        wait="1 min",
    )
    run = here.run(text, *ENGINE)
    said = "".join(file.read_text() for file in (run.directory / "logs").rglob("receiver*"))
    assert "from 10.1.0.10" in said, [str(file) for file in (run.directory / "logs").rglob("*")]
