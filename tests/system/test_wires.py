"""Lab networks by the real kernel: hosts and routers with several interfaces, and wires between them for any frame.

The plans are written by hand: what follows from a scenario is tested where scenarios are.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars
from harness import Place

Json = dict[str, Any]


@dataclass(frozen=True)
class Carried:
    """The records of a plan that was carried out."""

    directory: Path

    def json(self, name: str) -> Json:
        """A file of evidence."""
        found: Json = json.loads((self.directory / name).read_text())
        return found

    def said(self, flow: str) -> str:
        """The output of a program."""
        return (self.directory / "logs" / f"{flow}.stdout").read_text()

    def packets(self) -> polars.DataFrame:
        """The rows of packets."""
        return polars.read_parquet(self.directory / "packets.parquet")


def carry_out(place: Place, plan: Json) -> Carried:
    """Carry out a plan by the emulator."""
    directory = place.directory / "run"
    directory.mkdir()
    directory.chmod(0o777)
    (directory / "plan.json").write_text(json.dumps(plan))
    words = [*place.command(), str(directory)]
    words[words.index("dumbbell")] = "dumbbell.engines.realm.helper"
    with subprocess.Popen(
        words, cwd=place.directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = process.stdout.read()
    assert process.returncode == 0, said
    return Carried(directory)


def node(kind: str, name: str, address: str, *interfaces: str, routes: dict[str, str] | None = None) -> Json:
    """A node whose interfaces have these addresses, several of one with a space between them."""
    number = sum(name.encode()) % 256
    return {
        "kind": kind,
        "name": name,
        "address": address,
        "sysctl": {},
        "interfaces": [
            {"name": f"eth{i}", "mac": f"02:00:00:{ord(name[0]):02x}:{number:02x}:{i:02x}", "addresses": one.split()}
            for i, one in enumerate(interfaces)
        ],
        "routes": [{"to": to, "via": via.split()} for to, via in (routes or {}).items()],
    }


def switch(name: str) -> Json:
    return {"kind": "switch", "name": name}


def cable(a: str, b: str, **keys: Any) -> list[Json]:
    """Both links of a cable between `NODE INTERFACE` and `NODE INTERFACE`, or `SWITCH`."""

    def link(from_: str, to: str) -> Json:
        (start, *leaves), (end, *reaches) = from_.split(), to.split()
        made = {"name": f"{start}-{end}", "from": start, "to": end, "rate_bps": None, "overhead_bytes": 0}
        made |= {"buffer": "unlimited", "delay_ns": 0, **keys}
        return made | {
            key: one
            for key, (one,) in [("from_interface", leaves or [None]), ("to_interface", reaches or [None])]
            if one
        }

    return [link(a, b), link(b, a)]


def plan_of(nodes: list[Json], links: list[Json], flows: list[Json], duration_ms: int = 1000, **keys: Any) -> Json:
    times = {"start_ns": 0, "stop_ns": duration_ms * 10**6}
    return {
        "name": "wires",
        "duration_ns": duration_ms * 10**6,
        "seed": 1,
        "nodes": nodes,
        "links": links,
        "flows": [{**times, **flow} for flow in flows],
        "record": {"sample_interval_ns": 10**7, "packets": True, "acks": "off"},
        "emulate": {"ring_bytes": 1 << 24, "spin_ns": 50_000, "arena_bytes": 1 << 26},
        **keys,
    }


PROGRAMS_MS = 6_000
"""Time for programs to start and to end, on a busy machine too."""


def command(id_: str, from_: str, to: str, port: int, client: str, server: str | None = None) -> Json:
    """A flow of Python programs, which have `socket` and `PORT`; the server runs at `to`."""

    def line(program: str) -> str:
        return f"python3 -c {shlex.quote(f'import socket, time; PORT = {port}; {program}')}"

    workload = {"kind": "command", "command": line(client), "server_command": server and line(server)}
    return {"id": id_, "from": from_, "to": to, "port": port, "workload": workload}


def assert_accounted_for(carried: Carried) -> None:
    """Each frame left, was dropped, or is inside, and each row of a link is a packet that it counted."""
    network = carried.json("emulator.json")
    came = sum(network[f"{what}_packets"] for what in ("entered", "duplicated", "flooded"))
    assert came == sum(network[f"{what}_packets"] for what in ("left", "dropped", "filtered", "inside"))
    assert network["unroutable_packets"] == network["oversize_packets"] == network["send_errors"] == 0
    rows = Counter(carried.packets()["link"].cast(polars.String).to_list())
    for link in network["links"]:
        assert rows.get(link["name"], 0) in (0, link["arrived_packets"] + link["duplicated"])
    for interface in carried.json("lab.json")["interfaces"]:
        assert [interface[key] for key in ("rx_dropped", "tx_dropped", "rx_errors", "tx_errors")] == [0] * 4, interface


HOPS = {"rate_bps": 20_000_000, "delay_ns": 2_000_000, "buffer": {"bytes": 30_000}}


def line_of_routers() -> tuple[list[Json], list[Json]]:
    """h1 - r1 - r2 - h2, each cable with 20 Mbit/s and 2 ms."""
    nodes = [
        node("host", "h1", "10.1.0.10", "10.1.0.10/24", routes={"0.0.0.0/0": "10.1.0.1"}),
        node("host", "h2", "10.2.0.10", "10.2.0.10/24", routes={"0.0.0.0/0": "10.2.0.1"}),
        node("router", "r1", "10.9.0.1", "10.1.0.1/24", "10.0.12.1/30", routes={"10.2.0.0/24": "10.0.12.2"}),
        node("router", "r2", "10.9.0.2", "10.2.0.1/24", "10.0.12.2/30", routes={"10.1.0.0/24": "10.0.12.1"}),
    ]
    links = [
        *cable("h1 eth0", "r1 eth0", **HOPS),
        *cable("r1 eth1", "r2 eth1", **HOPS),
        *cable("r2 eth0", "h2 eth0", **HOPS),
    ]
    return nodes, links


def test_a_flow_crosses_two_routers_and_each_packet_has_a_row_per_link_and_one_id(anyone: Place) -> None:
    workload = {"kind": "tcp", "cc": "reno", "bytes": None, "ecn": False}
    flow = {"id": "f1", "from": "h1", "to": "h2", "port": 5001, "workload": workload}
    carried = carry_out(anyone, plan_of(*line_of_routers(), [flow], duration_ms=2000))
    assert_accounted_for(carried)
    data = carried.packets().filter(polars.col("flow") == "f1").filter(polars.col("payload_bytes") > 0)
    ways: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for id_, link, seq in (
        data.sort("arrival_ns").select("packet", polars.col("link").cast(polars.String), "tcp_seq").rows()
    ):
        ways[id_].append((link, seq))
    whole = [way for way in ways.values() if [link for link, _ in way] == ["h1-r1", "r1-r2", "r2-h2"]]
    # 3,300 are what the links take; a busy machine sends less.
    assert len(whole) > 300
    assert all(len({seq for _, seq in way}) == 1 for way in whole)
    # What is not whole was dropped, or is on its way at the end.
    cut = [way for way in ways.values() if way not in whole]
    dropped = carried.json("emulator.json")["dropped_packets"]
    assert len(cut) <= dropped + carried.json("emulator.json")["inside_packets"]
    received = carried.json("traffic.json")["flows"][0]["received_bytes"]
    assert received > 300_000


ASK = """c = socket.create_connection(({to!r}, PORT), 30); begin = time.monotonic(); c.sendall(b"abc")
print(c.recv(9).decode(), time.monotonic() - begin, open("/proc/net/arp").read())"""
"""A client that sends three bytes, and prints the answer, the time that it took, and the neighbours."""

ANSWER = """s = socket.create_server(("", PORT), family=socket.{family})
c, _ = s.accept(); c.sendall(c.recv(9)[::-1]); c.recv(9)"""

HEAR = """s = socket.socket(type=socket.SOCK_DGRAM); s.bind(("", PORT)); s.settimeout(5); print(s.recv(99).decode())"""


def test_neighbours_are_asked_for_and_ipv6_and_broadcasts_cross_two_switches(anyone: Place) -> None:
    nodes = [
        node("host", "h1", "10.0.0.1", "10.0.0.1/24 fd00::1/64"),
        node("host", "h2", "10.0.0.2", "10.0.0.2/24 fd00::2/64"),
        node("host", "h3", "10.0.0.3", "10.0.0.3/24 fd00::3/64"),
        switch("s1"),
        switch("s2"),
    ]
    links = [
        *cable("h1 eth0", "s1"),
        *cable("h3 eth0", "s1"),
        *cable("s1", "s2", delay_ns=3_000_000),
        *cable("s2", "h2 eth0"),
    ]
    shout = """s = socket.socket(type=socket.SOCK_DGRAM); s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
s.sendto(b"everybody", ("10.0.0.255", PORT))"""
    flows = [
        command("v4", "h1", "h2", 7001, ASK.format(to="h2"), ANSWER.format(family="AF_INET")),
        command("v6", "h1", "h2", 7002, ASK.format(to="fd00::2"), ANSWER.format(family="AF_INET6")),
        command("all2", "h1", "h2", 7003, shout, HEAR),
        command("all3", "h1", "h3", 7003, "pass", HEAR),
    ]
    carried = carry_out(anyone, plan_of(nodes, links, flows, duration_ms=PROGRAMS_MS, neighbours="real"))
    assert_accounted_for(carried)
    answer, took, neighbours = carried.said("v4").split(maxsplit=2)
    assert answer == "cba"
    assert float(took) > 0.006
    assert "02:00:00:68:9a:00" in neighbours, "h2's MAC address was learned by ARP"
    answer, took, _ = carried.said("v6").split(maxsplit=2)
    assert answer == "cba"
    assert float(took) > 0.006
    assert carried.said("all2.server") == carried.said("all3.server") == "everybody\n"
    assert carried.json("emulator.json")["flooded_packets"] > 0


def test_a_link_goes_down_and_a_route_of_two_next_hops_shares_the_flows(anyone: Place) -> None:
    nodes = [
        node("host", "h1", "10.1.0.10", "10.1.0.10/24", routes={"0.0.0.0/0": "10.1.0.1"}),
        node("host", "h2", "10.2.0.10", "10.2.0.10/24", routes={"0.0.0.0/0": "10.2.0.1"}),
        node(
            "router",
            "r1",
            "10.9.0.1",
            "10.1.0.1/24",
            "10.0.1.1/30",
            "10.0.2.1/30",
            routes={"10.2.0.0/24": "10.0.1.2 10.0.2.2"},
        ),
        node(
            "router", "r2", "10.9.0.2", "10.2.0.1/24", "10.0.1.2/30", "10.0.2.2/30", routes={"10.1.0.0/24": "10.0.1.1"}
        ),
    ]
    first = cable("r1 eth1", "r2 eth1", delay_ns=1_000_000)
    second = [{**link, "name": f"{link['name']}-second"} for link in cable("r1 eth2", "r2 eth2", delay_ns=1_000_000)]
    links = [*cable("h1 eth0", "r1 eth0"), *first, *second, *cable("r2 eth0", "h2 eth0")]
    workload = {"kind": "udp", "rate_bps": 400_000, "payload_bytes": 200, "bytes": None}
    flows = [{"id": f"f{n}", "from": "h1", "to": "h2", "port": 5000 + n, "workload": workload} for n in range(24)]
    down = [{"at_ns": 500_000_000, "link": {**first[0], "up": False}}]
    carried = carry_out(anyone, plan_of(nodes, links, flows, events=down))
    assert_accounted_for(carried)
    rows = carried.packets().with_columns(
        polars.col("link").cast(polars.String), polars.col("fate").cast(polars.String)
    )
    used = {
        link: set(rows.filter(polars.col("link") == link)["flow"].cast(polars.String))
        for link in ("r1-r2", "r1-r2-second")
    }
    # By a hash of the ports: each flow keeps to one, and it is not the same for all.
    assert used["r1-r2"]
    assert used["r1-r2-second"]
    assert not used["r1-r2"] & used["r1-r2-second"]
    fates = rows.filter((polars.col("link") == "r1-r2") & (polars.col("arrival_ns") > 500_000_000))["fate"]
    assert set(fates) == {"dropped-down"}


TAGGED = """
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); s.bind(("eth0", 0))
s.send(bytes.fromhex("02000068 9a00 02000068 9900 8100 0007 0800") + b"tagged" * 10)"""

TAG = """
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)); s.setsockopt(263, 8, 1); s.settimeout(9)
ready = socket.socket(type=socket.SOCK_DGRAM); ready.bind(("", PORT))
while True:
    frame, said, *_ = s.recvmsg(2000, 100)
    if b"tagged" in frame: break
print(frame[14:20].decode(), int.from_bytes(said[0][2][16:18], "little"))"""
"""The kernel keeps the tag of a frame beside it (`struct tpacket_auxdata`). The run begins when the port is bound."""


def test_the_tag_of_a_vlan_crosses(anyone: Place) -> None:
    nodes = [node("host", f"h{n}", f"10.0.0.{n}", f"10.0.0.{n}/24") for n in (1, 2)]
    links = cable("h1 eth0", "h2 eth0", **HOPS)
    carried = carry_out(anyone, plan_of(nodes, links, [command("tag", "h1", "h2", 7001, TAGGED, TAG)], PROGRAMS_MS))
    assert_accounted_for(carried)
    assert carried.said("tag.server") == "tagged 7\n"
    assert carried.packets()["size_bytes"].to_list() == [14 + 4 + 60]


def test_frames_cross_a_line_of_switches(anyone: Place) -> None:
    size = 20
    hosts = [node("host", f"h{n}", f"10.0.0.{n + 1}", f"10.0.0.{n + 1}/24") for n in range(2)]
    switches = [switch(f"s{n}") for n in range(size)]
    links = [link for n in range(size - 1) for link in cable(f"s{n}", f"s{n + 1}")]
    links += [*cable("h0 eth0", "s0"), *cable("h1 eth0", f"s{size - 1}")]
    asked = command("p", "h0", "h1", 7001, ASK.format(to="h1"), ANSWER.format(family="AF_INET"))
    carried = carry_out(anyone, plan_of([*hosts, *switches], links, [asked], PROGRAMS_MS))
    assert_accounted_for(carried)
    assert carried.said("p").startswith("cba")
