"""Networks of other programs: imported, each comes up as a lab and does what it does there."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from random import Random

import pytest
from harness import Place
from others import FORMATS
from stages import thorough_after


def mininet(hosts: Mapping[str, int], links: str) -> str:
    """A file of MiniEdit with two switches.

    Args:
        hosts: the number of each.
        links: their ends, such as `h1-s1 h2-s2`.
    """
    pairs = (link.split("-") for link in links.split())
    return json.dumps(
        {
            "application": {"ipBase": "10.0.0.0/8"},
            "hosts": [{"number": str(n), "opts": {"hostname": name, "nodeNum": n}} for name, n in hosts.items()],
            "switches": [{"number": str(n), "opts": {"hostname": f"s{n}", "nodeNum": n}} for n in (1, 2)],
            "links": [{"src": a, "dest": b, "opts": {}} for a, b in pairs],
        }
    )


FAST_OSPF = (
    "".join(
        f"interface {name}\n ip ospf hello-interval 1\n ip ospf dead-interval 3\nexit\n" for name in ("eth0", "eth1")
    )
    + "router ospf\n network 10.0.0.0/8 area 0.0.0.0\n"
)
OSPF = {
    "lab.conf": 'r1[0]="A"\nr1[1]="B"\nr2[0]="A"\nr2[1]="B"\n',
    "r1.startup": "ip address add 10.0.0.1/24 dev eth0\nip address add 10.0.1.1/24 dev eth1\n"
    "ip address add 10.1.1.1/24 dev lo\nsystemctl start frr\n",
    "r2.startup": "ip address add 10.0.0.2/24 dev eth0\nip address add 10.0.1.2/24 dev eth1\n"
    "ip address add 10.1.2.1/24 dev lo\nsystemctl start frr\n",
    "r1/etc/frr/frr.conf": FAST_OSPF,
    "r2/etc/frr/frr.conf": FAST_OSPF,
}
BRIDGE = {
    "lab.conf": 'pc1[0]="A"\npc2[0]="B"\nb1[0]="A"\nb1[1]="B"\n',
    "pc1.startup": "ip address add 10.0.0.1/24 dev eth0\n",
    "pc2.startup": "ip address add 10.0.0.2/24 dev eth0\n",
    "b1.startup": "ip link add name mainbridge type bridge\nip link set dev eth0 master mainbridge\n"
    "ip link set dev eth1 master mainbridge\nip link set up dev mainbridge\n",
}
SHAPED = {
    "lab.conf": 'r1[0]="A"\npc1[0]="A"\n',
    "pc1.startup": "ip address add 10.0.0.2/24 dev eth0\n",
    "r1.startup": "ip address add 10.0.0.1/24 dev eth0\ntc qdisc add dev eth0 root handle 1: netem delay 10ms\n"
    "tc qdisc add dev eth0 parent 1: handle 2: tbf rate 256kbit burst 1600 limit 3000\n",
}


def up(user: Place, file: str, files: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Import a file among others, and start what it became."""
    for name, text in files.items():
        path = user.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    made = user.invoke("import", file, "--output", "made.toml")
    assert made.returncode == 0, made.stderr
    done = user.invoke("lab", "up", "made.toml", "--detach")
    assert done.returncode == 0, (user.directory / "made.toml").read_text() + done.stderr
    return made


def ping(user: Place, host: str, to: str, wait_s: int = 10) -> float | None:
    """The round trip to a host or an address, in milliseconds; none if nothing comes back in `wait_s`."""
    done = user.invoke("lab", "exec", host, "ping", "-c", "1", "-W", str(wait_s), "-s", "1000", to)
    found = re.search(r"time=([\d.]+) ms", done.stdout)
    return float(found[1]) if found else None


LOOSE = "topology: {nodes: {a: {kind: linux}, b: {kind: nokia_srlinux}, c: {kind: linux}}, links: []}"
RING = {
    "lab.conf": 'pc1[0]="A"\npc2[0]="B"\n' + "".join(f's{n}[0]="{"AB"[n % 2]}"\ns{n}[1]="C"\n' for n in (1, 2, 3)),
    "pc1.startup": "ip address add 10.0.0.1/24 dev eth0\n",
    "pc2.startup": "ip address add 10.0.0.2/24 dev eth0\n",
}


@pytest.fixture
def lab(apart: Place) -> Iterator[Place]:
    yield apart
    apart.invoke("lab", "down", "--all")


def test_a_host_on_two_switches_of_mininet_is_in_two_segments(lab: Place) -> None:
    made = up(lab, "two.mn", {"two.mn": mininet({"h1": 1, "h2": 2, "h3": 3}, "h1-s1 s1-h3 h3-s2 s2-h2")})
    assert "a host joins two segments" in made.stderr
    assert ping(lab, "h1", "10.0.0.3") is not None
    assert ping(lab, "h1", "10.0.0.2", wait_s=1) is None


def test_two_islands_of_mininet_keep_their_addresses(lab: Place) -> None:
    made = up(lab, "two.mn", {"two.mn": mininet({"h2": 2, "h1": 1, "h3": 3}, "s1-h1 s2-h2 s2-h3")})
    assert "2 parts of the network are not joined by any link" in made.stderr
    assert ping(lab, "h2", "10.0.0.3") is not None
    assert ping(lab, "h2", "10.0.0.1", wait_s=1) is None
    why = lab.invoke("lab", "shell", "-c", "why h1 h2").stdout
    assert "no links lead from h1 to h2" in why, why


@pytest.mark.thorough
def test_routers_of_kathara_alone_have_their_own_configuration(lab: Place) -> None:
    up(lab, "lab.conf", OSPF)
    begun = time.monotonic()
    while ping(lab, "r1", "10.1.2.1", wait_s=1) is None:
        assert time.monotonic() < begun + 90, lab.invoke("lab", "exec", "r1", "ip", "route").stdout
        time.sleep(1)
    assert "proto ospf" in lab.invoke("lab", "exec", "r1", "ip", "route").stdout


def test_a_machine_of_kathara_that_bridges_is_a_switch(lab: Place) -> None:
    up(lab, "lab.conf", BRIDGE)
    assert ping(lab, "pc1", "10.0.0.2") is not None


@pytest.mark.real_time
def test_qdiscs_of_kathara_shape_one_direction(lab: Place) -> None:
    """1,042 bytes take 33 ms at 256 kbit/s, and 10 ms of delay, one way; nothing back."""
    up(lab, "lab.conf", SHAPED)
    ping(lab, "r1", "10.0.0.2")
    assert 42 < ping(lab, "r1", "10.0.0.2") < 60
    text = (lab.directory / "made.toml").read_text()
    assert 'reverse = { rate = "unlimited", buffer = "unlimited", delay = "0 ms" }' in text


def test_nodes_of_containerlab_without_links_meet_in_the_management_network(lab: Place) -> None:
    made = up(lab, "net.clab.yml", {"net.clab.yml": LOOSE})
    assert "nodes without a link meet at a switch" in made.stderr
    assert "0% dropped" in lab.invoke("lab", "shell", "-c", "pingall").stdout


def test_machines_of_kathara_that_can_only_bridge_are_switches_in_a_loop(lab: Place) -> None:
    made = up(lab, "lab.conf", RING)
    assert "are switches" in made.stderr
    assert "bridges with a spanning tree" in made.stderr
    assert ping(lab, "pc1", "10.0.0.2") is not None


@pytest.mark.parametrize("form", thorough_after(2, FORMATS))
@pytest.mark.parametrize("seed", thorough_after(1, [1, 2]))
def test_any_import_comes_up(lab: Place, form: str, seed: int) -> None:
    files = FORMATS[form](Random(seed))
    up(lab, next(iter(files)), files)
    assert lab.invoke("lab", "shell", "-c", "nodes").returncode == 0
