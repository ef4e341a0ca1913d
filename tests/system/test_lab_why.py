"""The word `why`: which node or link drops packets, for each reason that it knows."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from harness import Place
from why_faults import LINE, LONG, NETWORKS, Fault

import dumbbell
from dumbbell.labs.shell.shell import Shell
from dumbbell.labs.why.explain import explain


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


def test_a_policy_that_leads_packets_in_a_circle_is_seen(lab: dumbbell.Lab, why: Asked) -> None:
    """Route tables say nothing of it: only packets of one source go back."""
    back = lab.network.interfaces("r1")[1][1][0].partition("/")[0]
    lab["r2"].run(f"ip route add default via {back} table 7", check=True)
    lab["r2"].run(f"ip rule add from {lab['h1'].address} table 7", check=True)
    assert "packets from h1 to h2 run in a circle: r1 -> r2 -> r1" in why()


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
    "kind", [pytest.param(kind, marks=[pytest.mark.thorough] if kind in LONG else []) for kind in NETWORKS]
)
def test_each_fault_is_named_and_what_why_says_mends_it(
    apart: Place, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    """All faults of a kind, one after the other in one lab, which each mend leaves as it was."""
    network, faults = NETWORKS[kind]
    with dumbbell.Lab(apart.write(network)) as lab:
        shell = Shell(lab)
        for fault in faults:
            _wait_for_answers(lab, fault)
            assert [shell.interact([line]) for line in fault.lines] == [0] * len(fault.lines), fault
            found = explain(lab, "h1", "h2", fault.ip)
            text = found.text("h1", "h2")
            assert found.are_lost, (fault, text)
            assert [part for part in fault.said if part not in text] == [], (fault, text)
            mends = list(dict.fromkeys(mend for one in found.findings for mend in one.mends))
            assert mends, (fault, text)
            assert [shell.interact([mend]) for mend in mends] == [0] * len(mends), (fault, mends)
            _wait_for_answers(lab, fault)
            capsys.readouterr()


def _wait_for_answers(lab: dumbbell.Lab, fault: Fault) -> None:
    """Routing daemons take seconds, as packets do that a slow link still has."""
    for _ in range(60):
        if (found := explain(lab, "h1", "h2", fault.ip)).rtt_ns is not None:
            return
        time.sleep(0.5)
    raise AssertionError((fault, found.text("h1", "h2")))


def test_an_address_that_another_node_has_is_no_fault_of_neighbours(lab: dumbbell.Lab, why: Asked) -> None:
    lab["r2"].run(["ip", "addr", "add", f"{lab['h1'].address}/32", "dev", "lo"], check=True)
    said = why()
    assert f"r2 has h1's address {lab['h1'].address}, too, at lo\n  mend: r2 ip addr del" in said
    assert "00:00:00:00:00:00" not in said


def test_an_address_of_a_neighbour_is_named_though_the_owner_may_answer(lab: dumbbell.Lab) -> None:
    """Which of both answers the next question by ARP is chance; h3 is beside the way, and not on it."""
    lab["h3"].run(f"ip addr add {lab['h1'].address}/24 dev eth0", check=True)
    lab["h3"].run("ip addr add 10.1.0.1/24 dev eth0", check=True)
    findings = explain(lab, "h1", "h2").text("h1", "h2")
    assert f"h3 has h1's address {lab['h1'].address}, too, at eth0\n  mend: h3 ip addr del" in findings
    assert "h3 has r1's address 10.1.0.1, too, at eth0\n  mend: h3 ip addr del 10.1.0.1/24 dev eth0" in findings


def test_pings_of_a_router_are_known_by_what_they_carry(lab: dumbbell.Lab, why: Asked) -> None:
    """r1 sends from the address of the interface that it takes, and address translation hides h1's."""
    lab["r2"].run("nft add table inet wall", check=True)
    lab["r2"].run("nft add chain inet wall here '{ type filter hook forward priority 0; }'", check=True)
    lab["r2"].run("nft add rule inet wall here icmp type echo-request drop", check=True)
    drops = "r2 takes packets from {} to h2 at eth0, and does not send them on; its firewall has: inet wall, here"
    assert drops.format("r1") in why("why r1 h2")
    lab["r1"].run("nft add table ip nat", check=True)
    lab["r1"].run("nft add chain ip nat out '{ type nat hook postrouting priority 100; }'", check=True)
    lab["r1"].run("nft add rule ip nat out oifname eth1 masquerade", check=True)
    assert drops.format("h1") in why("why h1 h2")


def test_a_firewall_that_lets_pings_pass_is_named(lab: dumbbell.Lab, why: Asked) -> None:
    lab["r1"].run("nft add table inet wall", check=True)
    lab["r1"].run("nft add chain inet wall here '{ type filter hook forward priority 0; }'", check=True)
    lab["r1"].run("nft add rule inet wall here ip protocol tcp drop", check=True)
    said = why(code=0)
    assert said.startswith("h2 answers h1: ")
    assert "r1's firewall may drop some packets, though not these pings: inet wall, here: ip protocol tcp drop" in said


def test_why_as_another_user(user: Place) -> None:
    """The ordinary user's namespaces allow the same questions; the lab outlives errors of every word."""
    lines = [
        "h2 ip link set eth0 down", "why h1 h2", "why h1", "why h1 nobody", "why h1 s1", "link core loss=200 %",
        "source /", "py 1 / 0", "h2 ip link set eth0 up", "h2 ip route replace default via 10.0.0.5", "why h1 h2",
    ]  # fmt: skip
    words = [word for line in lines for word in ("-c", line)]
    done = user.invoke("lab", "up", user.write(LINE), *words)
    assert "h2's interface eth0 is down\n  mend: h2 ip link set eth0 up" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("h2 answers h1: ")
    assert "Traceback" not in done.stderr
