"""Captures of a lab's links, those between switches and routers among them: what came, what left, what was dropped."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from graphs import graph, link
from harness import Place, until
from stages import thorough_after

import dumbbell

NETWORK = graph(
    link("h1", "s1"),
    link("s1", "s2", "trunk", delay="2 ms"),
    link("s2", "r1", "up"),
    link("r1", "r2", "core", rate="10 Mbit/s", delay="5 ms", loss="50 %"),
    link("r2", "h2"),
    name="captured",
    duration=None,
)


def captured(user: Place, words: list[str], *lines: str, name: str = "links.pcapng") -> Path:
    """The file of a capture that goes on while a lab's shell carries out lines."""
    file = user.directory / name
    command = user.command("lab", "capture", *words, "--output", name)
    with subprocess.Popen(command, cwd=user.directory, text=True, stdout=subprocess.PIPE) as process:
        try:
            # The file is there before the lab is asked; then it needs a moment.
            until(file.exists, 60, "the capture's begin")
            time.sleep(1.5)
            done = user.invoke("lab", "shell", *(word for line in lines for word in ("-c", line)))
            assert done.returncode in (0, 1), done.stderr
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
            assert process.stdout is not None
            assert re.search(rf"{name}: \d+ frames at ", process.stdout.read())
        finally:
            process.kill()
    return file


def frames(file: Path) -> list[tuple[str, str, float]]:
    """Interface, tcpdump's line, and time of each frame."""
    read = subprocess.run(
        ["tcpdump", "-tt", "-n", "-r", str(file)], capture_output=True, text=True, timeout=60, check=True
    )
    found = []
    for line in read.stdout.splitlines():
        stamp, _, rest = line.partition(" ")
        found.append((rest.split()[0], rest, float(stamp)))
    return found


@pytest.mark.parametrize(
    ("words", "interfaces"),
    thorough_after(
        1,
        [
            (["s1", "s2"], {"trunk:in", "trunk:out", "trunk-reverse:in", "trunk-reverse:out"}),
            (["r1", "r2"], {"core:in", "core:out", "core-reverse:in", "core-reverse:out"}),
            (["trunk"], {"trunk:in", "trunk:out"}),
            (["s2", "r1"], {"up:in", "up:out", "up-reverse:in", "up-reverse:out"}),
        ],
    ),
)
def test_any_link_is_captured_at_both_ends(user: Place, words: list[str], interfaces: set[str]) -> None:
    done = user.invoke("lab", "up", user.write(NETWORK), "--detach")
    assert done.returncode == 0, done.stderr
    try:
        file = captured(user, words, *["pingall 0.5"] * 4)
    finally:
        user.invoke("lab", "down", "--all")
    assert file.read_bytes()[:4] == bytes.fromhex("0a0d0d0a")
    content = file.read_bytes()
    assert all(name.encode() in content for name in interfaces)
    seen = frames(file)
    assert all("ICMP echo" in line for _, line, _ in seen)
    times = [when for *_, when in seen]
    assert times == sorted(times)
    assert abs(times[0] - time.time()) < 120
    # 8 pings and some answers, as they come and as they leave.
    assert len(seen) >= 4


@pytest.mark.real_time
def test_a_capture_says_what_was_dropped_and_an_analyser_reads_it(apart: Place) -> None:
    with dumbbell.Lab(apart.write(NETWORK)) as lab:
        # Several at once, and a record beside them, which begins time anew.
        other = subprocess.Popen(
            apart.command("lab", "capture", "trunk", "--output", "trunk.pcapng"), cwd=apart.directory
        )
        until((apart.directory / "trunk.pcapng").exists, 60, "the first capture's begin")
        time.sleep(1.5)
        with lab.record("beside") as record:
            file = captured(apart, ["core"], *["pingall 0.3"] * 6)
        other.send_signal(signal.SIGINT)
        assert other.wait(60) == 0
    content = file.read_bytes()
    assert b"lost" in content
    assert b"delivered" in content
    # Each ping and each answer from h1: 6 there, on the lossy link; the same in the record.
    packets = record.run.packets
    came = packets.filter(packets["link"].cast(str) == "core").height
    assert content.count(b"bytes waited") == came
    moments = [when for *_, when in frames(apart.directory / "trunk.pcapng")]
    assert moments == sorted(moments)
    # 6 pings of h1 and 6 answers, as they came and as they left: all at the times of the wall clock.
    assert len(moments) == 24
    assert all(abs(moment - time.time()) < 300 for moment in moments)
    done = apart.invoke("pcap", "links.pcapng")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def has_removed_file(process: subprocess.Popen[bytes]) -> bool:
    """True once the file of a capture has no name any more."""
    try:
        opened = [os.readlink(one.path) for one in os.scandir(f"/proc/{process.pid}/fd")]
    except OSError:
        return False
    return any(one.endswith("/capture.pcapng (deleted)") for one in opened)


def test_a_capture_that_is_killed_leaves_nothing(user: Place) -> None:
    done = user.invoke("lab", "up", user.write(NETWORK), "--detach")
    assert done.returncode == 0, done.stderr
    scratch = user.directory / "scratch"
    scratch.mkdir(mode=0o777)
    scratch.chmod(0o777)
    command = ["env", f"TMPDIR={scratch}", *user.command("lab", "capture", "core", "--output", "gone.pcapng")]
    process = subprocess.Popen(command, cwd=user.directory)
    try:
        until(lambda: has_removed_file(process), 60, "the capture's begin")
        process.kill()
        process.wait(60)
        assert list(scratch.iterdir()) == []
    finally:
        process.kill()
        user.invoke("lab", "down", "--all")


def test_a_capture_ends_with_its_client_and_with_the_lab(user: Place) -> None:
    done = user.invoke("lab", "up", user.write(NETWORK), "--detach")
    assert done.returncode == 0, done.stderr
    command = user.command("lab", "capture", "core", "--output", "gone.pcapng")
    process = subprocess.Popen(command, cwd=user.directory)
    try:
        time.sleep(1.5)
        process.kill()
        process.wait(60)
        # The lab goes on, and another one can begin.
        assert captured(user, ["core"], "pingall 0.5").stat().st_size > 0
        process = subprocess.Popen(command, cwd=user.directory, stderr=subprocess.PIPE, text=True)
        time.sleep(1.5)
        assert user.invoke("lab", "down").returncode == 0
        _, said = process.communicate(timeout=60)
        assert process.returncode == 1
        assert "does not answer" in said
    finally:
        process.kill()
        user.invoke("lab", "down", "--all")
    done = user.invoke("lab", "up", user.write(NETWORK), "--detach")
    assert done.returncode == 0, done.stderr
    refused = user.invoke("lab", "capture", "nowhere")
    assert refused.returncode == 2
    assert "no link nowhere" in refused.stderr
    user.invoke("lab", "down", "--all")
