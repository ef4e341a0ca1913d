"""Lists of packets of a lab while they come: at interfaces and on links, and as streams that tshark reads."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from graphs import graph, link
from harness import Place, until
from stages import thorough_after

import dumbbell
from dumbbell.errors import RunFailed
from dumbbell.labs import capture
from dumbbell.labs.capture import LiveLinks
from dumbbell.labs.packets import Packets

NETWORK = graph(
    link("h1", "s1"),
    link("s1", "s2", "trunk", delay="2 ms"),
    link("s2", "r1"),
    link("r1", "h2", "core", rate="10 Mbit/s", delay="5 ms"),
    name="packets",
    duration=None,
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dumbbell.Lab]:
    file = tmp_path_factory.mktemp("packets") / "packets.toml"
    # Labs of a user have names of their own, and tests run side by side.
    file.write_text(NETWORK.replace('name = "packets"', f'name = "packets-{os.getpid()}"'))
    with dumbbell.Lab(file) as made:
        yield made


def opened(lab: dumbbell.Lab, *words: str) -> Packets:
    return Packets(lab.path, capture.place_of(lab.network, list(words)))


def ping(lab: dumbbell.Lab, count: int = 3) -> None:
    assert lab["h1"].run(["ping", "-c", str(count), "-i", "0.2", "-W", "30", "h2"]).returncode == 0


def infos(packets: Packets, words: str) -> list[str]:
    return [row["info"] for row in packets.rows(0, 1000, words)[0]]


@pytest.mark.skipif(shutil.which("ping") is None, reason="apt-get install iputils-ping")
def test_packets_at_an_interface_are_listed_while_they_come(lab: dumbbell.Lab, tmp_path: Path) -> None:
    packets = opened(lab, "h2")
    try:
        ping(lab)
        until(lambda: len(infos(packets, "ICMP")) == 6, 60, "three pings and their answers")
        assert not packets.state.is_over
        first, *_ = packets.rows(0, 1000, "ICMP request")[0]
        addresses = [lab.network.address(name) for name in ("h1", "h2")]
        assert [first["source"], first["destination"]] == addresses
        whole = packets.whole(first["number"])
        assert whole is not None
        assert [header["name"] for header in whole["headers"]] == ["Ethernet", "IPv4", "ICMP"]
        assert ["TTL", "63"] in whole["headers"][1]["fields"]
        packets.stop()
        until(lambda: packets.state.is_over, 60, "the capture's end")
        ping(lab, 1)
        assert len(infos(packets, "ICMP")) == 6
        file = tmp_path / "saved.pcapng"
        file.write_bytes(packets.pcapng("icmp !reply"))
        if shutil.which("tcpdump"):
            read = subprocess.run(["tcpdump", "-n", "-r", file], capture_output=True, text=True, check=True).stdout
            assert read.count("echo request") == len(read.splitlines()) == 3
    finally:
        packets.stop()


@pytest.mark.skipif(shutil.which("ping") is None, reason="apt-get install iputils-ping")
def test_packets_on_a_link_between_switches_are_listed_with_their_fates(lab: dumbbell.Lab) -> None:
    packets = opened(lab, "s1", "s2")
    try:
        ping(lab)
        # Three there and three back, each as it comes and as it leaves.
        until(lambda: len(infos(packets, "ICMP")) == 12, 60, "pings at both ends of both directions")
        assert len(infos(packets, "ICMP trunk:in request")) == 3
        lab.link("s1", "s2").set(loss="100 %")
        assert lab["h1"].run(["ping", "-c", "1", "-W", "1", "h2"]).returncode == 1
        until(lambda: bool(infos(packets, "ICMP lost")), 60, "the loss")
        lab.link("s1", "s2").set(loss="0 %")
        packets.stop()
        until(lambda: packets.state.is_over, 60, "the capture's end")
        assert packets.state.lost == 0
        # Another capture can begin, and the lab goes on.
        again = opened(lab, "trunk")
        ping(lab, 1)
        until(lambda: bool(infos(again, "ICMP")), 60, "a ping")
        again.stop()
    finally:
        packets.stop()


def test_a_stream_that_nobody_reads_holds_nothing_up(lab: dumbbell.Lab) -> None:
    live = LiveLinks(lab.path, ["core"])
    try:
        # More than the pipe holds and may wait.
        assert lab.tcp("h1", "h2", seconds=6).goodput_bps > 5e6
        assert live.end() > 0
    finally:
        live.close()
        os.close(live.descriptor)
    assert lab.ping_all().received == 2


def test_a_place_that_is_not_there_is_refused(lab: dumbbell.Lab) -> None:
    with pytest.raises(RunFailed, match="no such interface"):
        Packets(lab.path, capture.Place("h1", "eth9"))
    with pytest.raises(RunFailed, match="no link nowhere"):
        Packets(lab.path, capture.Place(links=("nowhere",)))


@pytest.mark.skipif(shutil.which("tshark") is None, reason="apt-get install tshark")
@pytest.mark.parametrize("words", thorough_after(1, [["h2"], ["r1", "h2"]]), ids=["interface", "link"])
def test_tshark_reads_a_capture_while_it_goes_on(user: Place, words: list[str]) -> None:
    assert user.invoke("lab", "up", user.write(NETWORK), "--detach").returncode == 0
    ours = subprocess.Popen(
        user.command("lab", "capture", *words, "-w", "-"), cwd=user.directory, stdout=subprocess.PIPE
    )
    reading = ["tshark", "-l", "-n", "-i", "-", "-Y", "icmp", "-T", "fields", "-e", "icmp.type", "-c", "2"]
    theirs = subprocess.Popen(reading, stdin=ours.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        # Pings until tshark has seen some: it takes a moment to begin.
        until(lambda: pinged(user, theirs), 120, "tshark's end")
        said, _ = theirs.communicate(timeout=60)
        assert set(said.split()) <= {"8", "0"}
        assert said.split()
        ours.send_signal(signal.SIGINT)
        ours.wait(60)
    finally:
        theirs.kill()
        ours.kill()
        user.invoke("lab", "down", "--all")


def pinged(user: Place, process: subprocess.Popen[str]) -> bool:
    user.invoke("lab", "shell", "-c", "pingall 1")
    return process.poll() is not None
