"""The word `why`: which node or link drops packets, for each reason that it knows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from graphs import graph, link
from harness import Place

import dumbbell
from dumbbell.labs.shell.shell import Shell

LINE = graph(
    link("h1", "r1"),
    link("r1", "r2", "core", delay="1 ms"),
    link("r2", "h2"),
    name="line",
    duration=None,
    ipv6=True,
)


@pytest.fixture
def lab(apart: Place) -> Iterator[dumbbell.Lab]:
    with dumbbell.Lab(apart.write(LINE)) as up:
        yield up


class Asked:
    """Answer of the shell to `why`."""

    def __init__(self, lab: dumbbell.Lab, said: pytest.CaptureFixture[str]) -> None:
        self._shell, self._said = Shell(lab), said

    def __call__(self, line: str = "why h1 h2", code: int = 1) -> str:
        assert self._shell.interact([line]) == code
        captured = self._said.readouterr()
        assert captured.err == ""
        return captured.out


@pytest.fixture
def why(lab: dumbbell.Lab, capsys: pytest.CaptureFixture[str]) -> Asked:
    return Asked(lab, capsys)


@pytest.mark.parametrize("ip", [4, 6])
def test_a_policy_that_drops_is_named(lab: dumbbell.Lab, why: Asked, ip: int) -> None:
    flag = "-6 " if ip == 6 else ""
    assert why(f"why {flag}h1 h2", 0).startswith("h2 answers h1: ")
    source = lab.network.address("h1", ip)
    lab["r1"].run(f"ip -{ip} rule add from {source} prohibit", check=True)
    said = why(f"why {flag}h1 h2")
    assert f"r1 drops packets from h1 to h2 by a policy: from {source} prohibit" in said
    assert "has no route" not in said
    lab["r1"].run(f"ip -{ip} rule del from {source} prohibit", check=True)
    why(f"why {flag}h1 h2", 0)


def test_a_policy_that_leads_packets_in_a_circle_is_seen(lab: dumbbell.Lab, why: Asked) -> None:
    """Route tables say nothing of it: only packets of one source go back."""
    back = lab.network.interfaces("r1")[1][1][0].partition("/")[0]
    lab["r2"].run(f"ip route add default via {back} table 7", check=True)
    lab["r2"].run(f"ip rule add from {lab['h1'].address} table 7", check=True)
    assert "packets from h1 to h2 run in a circle: r1 -> r2 -> r1" in why()


@pytest.mark.parametrize("ip", [4, 6])
def test_a_ttl_that_runs_out_is_seen_where_it_does(lab: dumbbell.Lab, why: Asked, ip: int) -> None:
    own = "net.ipv4.ip_default_ttl=2" if ip == 4 else "net.ipv6.conf.eth0.hop_limit=2"
    lab["h1"].run(f"sysctl -w {own}", check=True)
    said = why(f"why {'-6 ' if ip == 6 else ''}h1 h2")
    assert f"packets from h1 to h2 expire at r2: their {'hop limit' if ip == 6 else 'TTL'} has run out" in said
    assert "h2 to h1" not in said


def test_an_mtu_on_the_way_that_the_sender_hears_of_is_no_fault(lab: dumbbell.Lab, why: Asked) -> None:
    for router, interface in (("r1", "eth1"), ("r2", "eth0")):
        lab[router].run(f"ip link set {interface} mtu 1000", check=True)
    said = why(code=0)
    assert "packets of more than 1000 bytes from h1 to h2 do not fit into eth1 of r1; h1 knows it by ICMP" in said


def test_an_mtu_of_which_the_sender_does_not_hear_is_a_black_hole(lab: dumbbell.Lab, why: Asked) -> None:
    for router, interface in (("r1", "eth1"), ("r2", "eth0")):
        lab[router].run(f"ip link set {interface} mtu 1000", check=True)
    # Nothing of r1's own reaches h1.
    lab["r1"].run("nft add table inet own", check=True)
    lab["r1"].run("nft add chain inet own out '{ type filter hook output priority 0; }'", check=True)
    lab["r1"].run("nft add rule inet own out icmp type destination-unreachable drop", check=True)
    said = why()
    assert said.startswith("h2 answers h1: ")
    assert "do not fit into eth1 of r1, and h1 does not hear of it" in said
    assert "(DF) are lost" in said


@pytest.mark.parametrize(
    ("node", "hook", "said"),
    [
        ("r1", "forward", "r1 takes packets from h1 to h2 at eth0, and does not send them on"),
        ("h2", "input", "h2 takes pings of h1, and does not answer"),
        ("h1", "output", "h1 sends no pings to h2"),
    ],
)
def test_a_firewall_is_named_with_its_rule(lab: dumbbell.Lab, why: Asked, node: str, hook: str, said: str) -> None:
    lab[node].run("nft add table inet wall", check=True)
    lab[node].run(f"nft add chain inet wall here '{{ type filter hook {hook} priority 0; }}'", check=True)
    lab[node].run("nft add rule inet wall here icmp type echo-request counter drop", check=True)
    found = why()
    assert said in found
    assert "its firewall has: inet wall, here: icmp type echo-request counter packets" in found
    lab[node].run("nft delete table inet wall", check=True)
    why(code=0)


def test_a_node_that_drops_without_a_word_is_named(lab: dumbbell.Lab, why: Asked) -> None:
    lab["h2"].run("sysctl -w net.ipv4.icmp_echo_ignore_all=1", check=True)
    assert "h2 takes pings of h1, and does not answer\n" in why()
