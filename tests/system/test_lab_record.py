"""A lab's doings are kept as a run: packets of all wires, sockets of any program, changes as events."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from graphs import graph, link
from harness import Place

import dumbbell
from dumbbell.errors import InputError
from dumbbell.labs import recording

RECORDED = graph(
    link("h1", "s1"),
    link("s1", "h2", "core", rate="20 Mbit/s", delay="5 ms", buffer="100 ms"),
    name="recorded",
)
SERVER = """
import socket
server = socket.create_server(("", 8000))
while True:
    client, _ = server.accept()
    size = int(client.makefile().readline())
    client.sendall(bytes(size))
    while client.recv(65536):
        pass
    client.close()
"""
CLIENT = """
import socket, sys, time
wanted, given = int(sys.argv[2]), int(sys.argv[3])
server = socket.create_connection((sys.argv[1], 8000))
server.sendall(b"%d\\n" % wanted)
while wanted > 0:
    wanted -= len(server.recv(65536))
server.sendall(bytes(given))
server.shutdown(socket.SHUT_WR)
while server.recv(65536):
    pass
time.sleep(1.0)
"""
"""Client that goes on for longer than samples are apart. The socket is open until then."""


@pytest.fixture
def lab(apart: Place) -> Iterator[dumbbell.Lab]:
    with dumbbell.Lab(apart.write(RECORDED)) as lab:
        yield lab


def test_a_recording_is_a_run_with_all_packets_and_the_sockets_of_programs(lab: dumbbell.Lab, here: Place) -> None:
    assert lab.ping_all().received == 2
    lab.link("core").set(rate="10 Mbit/s")
    transfer = ["python3", "-c", CLIENT, lab["h2"].address]
    with lab["h2"].start(["python3", "-c", SERVER], ready="tcp 8000"):
        # It is under way as the recording begins.
        with lab["h1"].start([*transfer, "0", "3000000"]) as before:
            while not any(one["name"] == "core" and one["rate_bps"] for one in lab.progress()):
                time.sleep(0.01)
            with lab.record("first") as record:
                before.wait(60)
                lab.link("core").set(delay="9 ms")
                assert lab["h1"].run([*transfer, "1000000", "1000"], check=True).returncode == 0
        with pytest.raises(InputError, match="no recording to end"):
            recording.stop(lab.path)
        assert lab.ping_all().received == 2, "the lab goes on"

    run = record.run
    assert run.directory.parent == Path.cwd() / "runs"
    assert run.name == "first"
    # The lab's own copy goes with the lab.
    assert (Path.cwd() / run.manifest["scenario_source"]).is_file()
    assert not Path(run.manifest["scenario_source"]).is_absolute()
    checks = {check["check"]: check for check in run.summary["checks"]}
    exact = (
        "conservation",
        "packet-log",
        "interfaces",
        "ring-drops",
        "send-errors",
        "unroutable",
        "offloads",
        "sysctls",
    )
    assert {name: checks[name]["verdict"] for name in exact} == dict.fromkeys(exact, "valid"), checks

    # The change before it is the link's state at its start; the one within it is an event.
    links = {one.name: one for one in run.plan.links}
    assert (links["core"].rate_bps, links["core"].delay_ns) == (10_000_000, 5_000_000)
    (event,) = run.plan.events
    assert (event.link.name, event.link.delay_ns) == ("core", 9_000_000)
    assert 0 < event.at_ns < run.plan.duration_ns

    # One server's port is one flow; its direction is that of most data.
    (flow,) = run.plan.flows
    assert (flow.from_, flow.to, flow.port) == ("h1", "h2", 8000)
    packets = pl.read_parquet(run.directory / "packets.parquet").with_columns(pl.col("flow", "link").cast(pl.String))
    assert set(packets["flow"]) <= {"f1", "other"}
    data = packets.filter((pl.col("link") == "core") & (pl.col("flow") == "f1"))["payload_bytes"].sum()
    assert 1_000 < data < 3_100_000, "what came before it is no part of it"
    assert packets["arrival_ns"].min() >= 0
    back = packets.filter((pl.col("link") == "core-reverse") & (pl.col("flow") == "f1"))["payload_bytes"].sum()
    assert back >= 1_000_000

    samples = pl.read_parquet(run.directory / "samples.parquet")
    assert samples["socket"].n_unique() == 2
    assert samples["time_ns"].min() >= 0
    (told,) = run.flows.to_dicts()
    assert told["id"] == "f1"
    assert 0 < told["goodput_bps"] < 10_000_000
    assert (run.directory / "report.html").exists()
    done = here.invoke("report", str(run.directory))
    assert done.returncode == 0, done.stderr


def test_a_download_is_a_flow_from_its_server(lab: dumbbell.Lab, here: Place) -> None:
    with lab["h2"].start(["python3", "-c", SERVER], ready="tcp 8000"):
        done = here.invoke("lab", "record", "start", "download", "--output", "kept")
        assert done.returncode == 0, done.stderr
        again = here.invoke("lab", "record", "start")
        assert again.returncode == 2
        assert "it is being recorded already" in again.stderr
        lab["h1"].run(["python3", "-c", CLIENT, lab["h2"].address, "500000", "0"], check=True)
        done = here.invoke("lab", "shell", "-c", "record stop")
        assert done.returncode == 0, done.stderr
        with lab.record("again", "kept"):
            lab["h1"].run(["python3", "-c", CLIENT, lab["h2"].address, "500000", "0"], check=True)
    (path,) = (here.directory / "kept").glob("download-*")
    run = dumbbell.open(path)
    (flow,) = run.plan.flows
    assert (flow.from_, flow.to) == ("h2", "h1")
    received = pl.read_parquet(path / "samples.parquet")["received_bytes"].max()
    assert received == 500_000
    (again_path,) = (here.directory / "kept").glob("again-*")
    done = here.invoke("compare", str(path), str(again_path))
    assert done.returncode == 0, done.stderr


def test_a_lab_that_ends_keeps_its_recording(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(here.directory)
    with dumbbell.Lab(here.write(RECORDED), name="ends") as lab:
        recording.start(lab.path)
        assert lab.ping_all().received == 2
    (path,) = (here.directory / "runs").glob("recorded-*")
    run = dumbbell.open(path)
    assert run.plan.flows == ()
    packets = pl.read_parquet(path / "packets.parquet")
    # Two requests and two answers, on two links each.
    assert len(packets) == 8
