"""Recordings of labs with routers, of IPv6, of datagrams, of a dumbbell: by root and by an ordinary user."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from graphs import graph, link
from harness import Place, until

import dumbbell
from dumbbell.labs import changes
from dumbbell.labs.place import alive

ROUTED = graph(
    link("h1", "r1"),
    link("r1", "r2", "core", rate="20 Mbit/s", delay="2 ms", buffer="100 ms"),
    link("r2", "h2"),
    nodes={router: {"routing": ["ospf", "ospf6"]} for router in ("r1", "r2")},
    name="routed",
    duration=None,
    ipv6=True,
    wait="60 s",
)
EXACT = ("conservation", "packet-log", "interfaces", "ring-drops", "send-errors", "unroutable", "offloads", "sysctls")
"""Checks that no load of the machine can fail."""


def judged(run: dumbbell.Run) -> None:
    checks = {check["check"]: check for check in run.summary["checks"]}
    assert {name: checks[name]["verdict"] for name in EXACT} == dict.fromkeys(EXACT, "valid"), checks
    assert (run.directory / "report.html").exists()


def kept(user: Place, name: str) -> dumbbell.Run:
    (path,) = (user.directory / "kept").glob(f"{name}-*")
    return dumbbell.open(path)


def test_a_recording_with_routing_daemons_has_their_routes_and_flows_of_both_versions(user: Place) -> None:
    done = user.invoke("lab", "up", user.write(ROUTED), "--detach")
    assert done.returncode == 0, done.stderr
    try:
        done = user.invoke("lab", "record", "start", "routed", "--output", "kept")
        assert done.returncode == 0, done.stderr
        lines = (
            "h2 iperf3 -s -D", "h1 sleep 0.3", "h1 iperf3 -6 -c h2 -n 2M", "h1 iperf3 -u -b 2M -t 1 -c h2",
            "daemon r2 ospf6d stop", "h1 sleep 0.2",
        )  # fmt: skip
        done = user.invoke("lab", "shell", *(word for line in lines for word in ("-c", line)))
        assert done.returncode == 0, done.stdout + done.stderr
        done = user.invoke("lab", "record", "stop")
        assert done.returncode == 0, done.stderr
    finally:
        user.invoke("lab", "down", "--all")
    run = kept(user, "routed")
    judged(run)

    # TCP over IPv6; the control connection of the second iperf3 over IPv4; its datagrams.
    flows = {(flow.ip, flow.workload.command): flow for flow in run.plan.flows}  # type: ignore[union-attr]
    six, four, datagrams = (
        flows[key]
        for key in ((6, "a program in the lab"), (4, "a program in the lab"), (4, "a program in the lab, by UDP"))
    )
    assert {(flow.from_, flow.to, flow.port) for flow in (six, four, datagrams)} == {("h1", "h2", 5201)}
    told = {row["id"]: row for row in run.flows.to_dicts()}
    # Sockets are sampled: what came after the last sample before the connection's end is not told.
    assert 200_000 < told[six.id]["received_bytes"] <= 2_000_000 + 100_000
    assert told[six.id]["cc"] is not None
    # 2 Mbit/s for a second; a busy machine may take a part of it.
    assert 100_000 < told[datagrams.id]["received_bytes"] <= 300_000
    core = run.packets.filter(pl.col("link") == "core", pl.col("flow") == datagrams.id)
    assert told[datagrams.id]["sent_bytes"] == core["payload_bytes"].sum()
    assert told[datagrams.id]["queue_p50_ms"] is not None

    # How routing converged before the record, and what happened within it.
    assert run.routes is not None
    assert run.routes["time_ns"].min() < 0  # type: ignore[operator]
    before = run.routes.filter(pl.col("time_ns") < 0, pl.col("protocol") == "ospf")
    assert set(before["router"]) == {"r1", "r2"}
    (killed,) = run.plan.daemon_events
    assert (killed.router, killed.daemon, killed.up) == ("r2", "ospf6d", False)
    after = run.routes.filter(pl.col("time_ns") > killed.at_ns, pl.col("change") == "removed")
    assert any(":" in prefix for prefix in after.filter(pl.col("router") == "r2")["prefix"])
    assert run.routes["time_ns"].max() < run.plan.duration_ns  # type: ignore[operator]
    assert (run.directory / "logs" / "r1" / "ospfd.log").exists()
    (event,) = run.summary["rerouting"]
    assert event["events"] == ["r2 ospf6d killed"]


@pytest.fixture
def record_here(apart: Place) -> Iterator[Place]:
    yield apart
    assert alive() == []


ECHO = """
import socket
server = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
server.bind(("::", 7000))
while True:
    asked, client = server.recvfrom(2000)
    server.sendto(bytes(500), client)
"""
ASK = """
import socket, sys, time
client = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
client.connect((sys.argv[1], 7000))
for _ in range(50):
    client.send(bytes(100))
    time.sleep(0.002)
time.sleep(0.2)
"""


def test_datagrams_are_counted_by_the_links_and_what_is_more_gives_the_direction(record_here: Place) -> None:
    network = graph(
        link("h1", "r1"),
        link("r1", "h2", "core", rate="20 Mbit/s", delay="1 ms", loss="30 %"),
        name="lossy",
        duration=None,
        ipv6=True,
    )
    with dumbbell.Lab(record_here.write(network)) as lab:
        with lab["h2"].start(["python3", "-c", ECHO], ready="udp 7000"), lab.record() as record:
            lab["h1"].run(["python3", "-c", ASK, lab.network.address("h2", 6)], check=True)
        run = record.run
    judged(run)
    (flow,) = run.plan.flows
    # The answers are longer than the questions.
    assert (flow.from_, flow.to, flow.ip) == ("h2", "h1", 6)
    (told,) = run.flows.to_dicts()
    own = run.packets.filter(pl.col("flow") == "f1").with_columns(pl.col("link", "fate").cast(pl.String))
    asked = own.filter(pl.col("link") == "h1-r1")
    came = own.filter(pl.col("link") == "core", pl.col("fate") == "delivered")
    assert (asked.height, asked["payload_bytes"].unique().to_list()) == (50, [100])
    assert 0 < came.height < 50
    # Whatever was asked was answered, and no link loses answers.
    assert (told["sent_bytes"], told["received_bytes"]) == (500 * came.height, 500 * came.height)
    samples = run.samples.filter(pl.col("flow") == "f1")
    assert samples["bytes_sent"].max() == told["sent_bytes"]
    assert samples["received_bytes"].max() == told["received_bytes"]
    assert samples["cwnd_packets"].null_count() == samples.height


TALKS = """
import socket, sys, threading, time
def talk(port):
    asked, answer, after = (500, 300, 1.5) if port < 7100 else (10, 2000, 0)
    with socket.create_server(("", port)) as server:
        connection = server.accept()[0]
        while connection.recv(asked, socket.MSG_WAITALL):
            connection.sendall(bytes(answer))
            # The FIN is acknowledged at once, and the client's socket is gone.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        time.sleep(after)
        connection.close()
for port in (*range(7000, 7008), *range(7100, 7104)):
    threading.Thread(target=talk, args=(port,)).start()
"""
ENDS = """
import socket, sys, time
def client(port, first, rest, wait, answer):
    with socket.create_connection((sys.argv[1], port)) as connection:
        connection.sendall(bytes(first))
        time.sleep(wait)
        connection.sendall(bytes(rest))
        connection.recv(answer, socket.MSG_WAITALL)
for port in range(7000, 7008):
    client(port, 100, 400, 0.2, 300)
for port in range(7100, 7104):
    client(port, 5, 5, 0, 2000)
time.sleep(1.6)
"""


def test_the_direction_of_connections_is_what_links_have_counted_and_not_what_was_sampled(record_here: Place) -> None:
    network = graph(link("h1", "r1"), link("r1", "h2", delay="1 ms"), name="ends", duration=None)
    network += '[record]\nsample_interval = "100 ms"\n'
    with dumbbell.Lab(record_here.write(network)) as lab:
        with lab["h2"].start(["python3", "-c", TALKS], ready="tcp 7103"), lab.record() as record:
            lab["h1"].run(["python3", "-c", ENDS, lab.network.address("h2")], check=True)
        run = record.run
    judged(run)
    # Clients are gone with most of what they sent, before a sample; servers, which have sent less, are seen for longer.
    (*uploads, d1, d2, d3, d4) = run.plan.flows
    assert [(flow.from_, flow.to, flow.port) for flow in uploads] == [("h1", "h2", port) for port in range(7000, 7008)]
    # Both ends of these are gone before anybody looks for them.
    assert {(flow.from_, flow.to) for flow in (d1, d2, d3, d4)} == {("h2", "h1")}
    told = {row["id"]: row for row in run.flows.to_dicts()}
    # What a server has received, its client has sent.
    assert {(told[flow.id]["sent_bytes"], told[flow.id]["received_bytes"]) for flow in uploads} == {(500, 500)}


def test_a_lost_datagram_is_told_in_the_samples_and_a_second_record_counts_anew(record_here: Place) -> None:
    network = graph(link("h1", "h2", "core", delay="1 ms", loss="100 %"), name="dark", duration=None)
    with dumbbell.Lab(record_here.write(network)) as lab:
        for count, name in ((30, "first"), (7, "second")):
            send = (
                "import socket, sys\n"
                "client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                f"[client.sendto(bytes(200), (sys.argv[1], 9)) for _ in range({count})]"
            )
            with lab.record(name) as record:
                lab["h1"].run(["python3", "-c", send, lab["h2"].address], check=True)
                time.sleep(0.1)
            run = record.run
            (told,) = run.flows.to_dicts()
            assert (told["sent_bytes"], told["received_bytes"]) == (200 * count, 0)
            assert run.samples["lost_packets"].max() == count
            assert changes.changes(lab.path) == []


def test_the_flows_of_a_dumbbell_are_found_too(record_here: Place) -> None:
    text = """
    name = "bell"
    [topology]
    kind = "dumbbell"
    pairs = 1
    rtt = "4 ms"
    bottleneck = { rate = "20 Mbit/s" }
    """
    with dumbbell.Lab(record_here.write(text)) as lab:
        with lab.record() as record:
            assert lab.tcp("s1", "r1", "reno", seconds=0.7).error is None
            assert lab.udp("s1", "r1", 1_000_000, seconds=0.5).error is None
        run = record.run
    judged(run)
    assert [(flow.from_, flow.to) for flow in run.plan.flows] == [("s1", "r1")] * 2
    received = run.flows["received_bytes"].to_list()
    assert received[0] > 100_000
    assert received[1] > 20_000
    assert {str(flow) for flow in run.packets["flow"].unique()} >= {"f1", "f2"}
    assert (Path(run.directory) / "report.html").exists()


def test_a_record_right_behind_a_lab_s_start_sees_daemons_converge(record_here: Place) -> None:
    """A link that goes down within the record changes routes within it."""
    network = graph(
        link("h1", "r1"), link("h2", "r2"), link("r1", "r2", "core"), link("r2", "r3"), link("r1", "r3"),
        nodes={router: {"routing": ["ospf"]} for router in ("r1", "r2", "r3")}, name="ring", duration=None, wait="60 s",
    )  # fmt: skip
    with dumbbell.Lab(record_here.write(network)) as lab:
        with lab.record() as record:
            lab.link("core").down()
            until(lambda: lab.ping_all(timeout_s=0.5).dropped_percent == 0, 60, "the way over r3")
        run = record.run
    judged(run)
    assert run.routes is not None
    within = run.routes.filter(pl.col("time_ns") > 0)
    assert {"r1", "r2"} <= set(within["router"])
    # Either direction of the cable is a change of its own.
    assert max(told["routers"] for told in run.summary["rerouting"]) >= 2
