"""Random networks in the formats of other programs, with all that such files have in them, sound or not.

Each has a host or a router at least: nothing can be made of switches alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

Files = Mapping[str, str]
"""Path -> text. The first is imported; the others lie beside it."""

_SUBNETS: Final = ("10.0.0.{}/24", "10.0.1.{}/24", "10.0.0.{}/8", "192.168.0.{}/30", "fd00::{}/64")
_NAMES: Final = ("h{}", "r-{}", "a.very.long.name.of.node.{}", "node_{}", "{}")


def address(random: Random) -> str:
    """An address of few subnets, so that many collide."""
    return random.choice(_SUBNETS).format(random.randint(1, 6))


def names(random: Random, most: int) -> list[str]:
    """Names of up to `most` nodes."""
    form = random.choice(_NAMES)
    return [form.format(number) for number in range(random.randint(1, most))]


def _pairs(random: Random, of: list[str]) -> list[tuple[str, str]]:
    """Ends of links: of a node to itself, several between the same two, none at some nodes."""
    return [(random.choice(of), random.choice(of)) for _ in range(random.randint(0, 2 * len(of)))]


def commands(random: Random, interfaces: int) -> list[str]:
    """Random lines of a machine's start-up script."""
    found = []
    for _ in range(random.randint(0, 6)):
        at, hop = f"eth{random.randint(0, interfaces)}", address(random).partition("/")[0]
        found.append(
            random.choice(
                [
                    f"ip address add {address(random)} dev {at}",
                    f"ifconfig {at} {hop} netmask 255.255.255.0 up",
                    f"ip address add {address(random)} dev lo",
                    f"ip route add default via {hop}",
                    f"route add -net 10.0.1.0/24 gw {hop}",
                    f"tc qdisc add dev {at} root netem delay {random.randint(0, 90)}ms 5ms loss 1%",
                    f"tc qdisc add dev {at} root tbf rate {random.randint(1, 900)}kbit burst 1600 limit 3000",
                    "brctl addbr b", f"brctl addif b {at}", "sysctl -w net.ipv4.ip_forward=1", "systemctl start frr",
                ]
            )
        )  # fmt: skip
    return found


def miniedit(random: Random) -> Files:
    """A file of MiniEdit."""
    every = names(random, 7)
    cut = random.randint(1, len(every))
    hosts = [_mn(random, name, number) for number, name in enumerate(every[:cut], 1)]
    switches = [_mn_switch(random, name, number) for number, name in enumerate(every[cut:], 1)]
    links = [{"src": a, "dest": b, "opts": _mn_link(random)} for a, b in _pairs(random, every)]
    found = {"version": "2", "application": {"ipBase": random.choice(["10.0.0.0/8", "10.0.0.0/24"])}, "controllers": []}
    return {"net.mn": json.dumps({**found, "hosts": hosts, "switches": switches, "links": links})}


def _mn(random: Random, name: str, number: int) -> dict[str, Any]:
    options: dict[str, Any] = {"hostname": name, "nodeNum": number, "sched": "host"}
    if random.random() < 0.4:
        options["ip"] = address(random) if random.random() < 0.7 else f"10.0.0.{number}"
        options["ip"] = options["ip"] if ":" not in options["ip"] else "10.0.0.0"
    if random.random() < 0.3:
        options["defaultRoute"] = f"10.0.0.{random.randint(1, 6)}"
    return {"number": str(number), "x": "1.0", "y": "1.0", "opts": options}


def _mn_switch(random: Random, name: str, number: int) -> dict[str, Any]:
    kind = random.choice(["legacySwitch", "legacyRouter", "default", "ovs"])
    options = {"hostname": name, "nodeNum": number, "switchType": kind, "controllers": []}
    return {"number": str(number), "x": "1.0", "y": "1.0", "opts": options}


def _mn_link(random: Random) -> dict[str, Any]:
    every = {
        "bw": random.choice([1, "2.5", 1000]), "delay": f"{random.randint(0, 100)}ms", "loss": random.randint(0, 5),
        "jitter": "3ms", "max_queue_size": random.randint(1, 1000),
    }  # fmt: skip
    return {key: value for key, value in every.items() if random.random() < 0.4}


def containerlab(random: Random) -> Files:
    """A file of containerlab, with configurations of FRR."""
    every, files = names(random, 7), dict[str, str]()
    nodes = {}
    for name in every:
        kind = random.choice(["linux", "linux", "bridge", "nokia_srlinux", "ovs-bridge"]) if nodes else "linux"
        nodes[name] = {"kind": kind, "exec": commands(random, 3)}
        if random.random() < 0.3:
            nodes[name] |= {"image": "frrouting/frr", "binds": [f"{name}.conf:/etc/frr/frr.conf"]}
            files[f"{name}.conf"] = frr(random)
    links: list[dict[str, Any]] = []
    for number, (a, b) in enumerate(_pairs(random, every)):
        links.append({"endpoints": [f"{a}:eth{number}", f"{b}:eth{number + 1}"]})
        if random.random() < 0.3:
            links[-1]["mtu"] = random.randint(500, 9500)
        if random.random() < 0.3:
            links[-1]["ipv4"] = [address(random), address(random)]
    links.append({"endpoints": [f"{every[0]}:eth99", "host:x"]})
    return {"net.clab.yml": json.dumps({"topology": {"nodes": nodes, "links": links}}), **files}


def kathara(random: Random) -> Files:
    """A lab of Kathará, with configurations of FRR. Its machines have no dots in their names."""
    every = [name.replace(".", "") for name in names(random, 7)]
    lines, files = [], {}
    for name in every:
        interfaces = random.randint(0, 3)
        lines += [f'{name}[{number}]="{random.choice("ABCD")}"' for number in range(interfaces)]
        lines.append(f'{name}[image]="kathara/frr"')
        files[f"{name}.startup"] = "\n".join(commands(random, interfaces)) + "\n"
        if random.random() < 0.3:
            files[f"{name}/etc/frr/frr.conf"] = frr(random)
    return {"lab.conf": "\n".join(lines) + "\n", **files}


def frr(random: Random) -> str:
    """A configuration of FRR."""
    parts = [
        f"interface eth{random.randint(0, 2)}\n ip address {random.choice(_SUBNETS[:2]).format(7)}\nexit",
        "router ospf\n network 10.0.0.0/8 area 0\nexit",
        "router bgp 100\n no bgp ebgp-requires-policy\nexit",
        "log file /var/log/frr/frr.log",
        "no such command",
    ]
    return "\n".join(part for part in parts if random.random() < 0.4) + "\n"


def graphml(random: Random) -> Files:
    """A file of GraphML, as networkx writes it."""
    import networkx

    graph = networkx.MultiGraph()
    every = names(random, 12)
    for name in every:
        graph.add_node(name, label=random.choice(["Berlin", "São Paulo, BR", name]), Latitude=random.uniform(-90, 90))
        if random.random() < 0.5:
            graph.nodes[name]["Longitude"] = random.uniform(-180, 180)
    for a, b in _pairs(random, every):
        graph.add_edge(a, b, LinkSpeedRaw=random.choice([1e6, 1e9, 1e10]))
    return {"net.graphml": "\n".join(networkx.generate_graphml(graph))}


FORMATS: Final[dict[str, Callable[[Random], Files]]] = {
    one.__name__: one for one in (miniedit, containerlab, kathara, graphml)
}
"""Format -> a random network in it."""
