"""Labs that stay: programs in hosts, the shell, links that change, pings, traffic; whoever is killed, nothing stays."""

from __future__ import annotations

import json
import os
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from graphs import graph, link
from harness import ORDINARY, Place, runtime_of, until
from remains import lives
from stages import thorough_after, thorough_but

import dumbbell
from dumbbell.labs import place
from dumbbell.labs.live import Live

LAB = """
name = "lab"
[topology]
kind = "dumbbell"
pairs = 2
rtt = "10 ms"
bottleneck = { rate = "20 Mbit/s" }
"""
"""A network is all that a lab needs: no flows, no duration."""


@contextmanager
def killed_at_the_end(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """Within, a process runs. `Popen` as a context waits for its end without a limit, also after a failure."""
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=60)


def own_seconds() -> str:
    """Some minutes, as no other test and no other worker sleeps: its programs are known by them."""
    return f"271.{os.getpid()}{random.randrange(10**6)}"


def is_running(words: list[str]) -> bool:
    """True if a process of this machine has just these words."""
    return any(process.info["cmdline"] == words for process in psutil.process_iter(["cmdline"]))


def line(process: subprocess.Popen[str]) -> str:
    """The next line of a process's output. Fails if none comes within a minute."""
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], 60)[0], "no line came"
    return process.stdout.readline()


@pytest.fixture
def labs(user: Place) -> Iterator[Place]:
    """The same, with a lab that is up."""
    done = user.invoke("lab", "up", user.write(LAB), "--detach")
    assert done.returncode == 0, done.stderr
    yield user
    user.invoke("lab", "down", "--all")


def shell(user: Place, *lines: str) -> subprocess.CompletedProcess[str]:
    return user.invoke("lab", "shell", *(word for line in lines for word in ("-c", line)))


def test_a_command_in_a_host_sees_the_hosts_network_and_names(labs: Place) -> None:
    done = labs.invoke("lab", "exec", "s1", "getent", "hosts", "r2")
    assert (done.returncode, done.stdout.split()) == (0, ["10.0.1.2", "r2"])
    done = labs.invoke("lab", "exec", "s2", "sh", "-c", "ip -brief address; echo to stderr >&2; exit 7")
    assert done.returncode == 7
    assert "10.0.0.2/32" in done.stdout
    assert done.stderr == "to stderr\n"
    assert labs.invoke("lab", "exec", "s2", "sh", "-c", "kill -TERM $$").returncode == 128 + signal.SIGTERM


def test_ip_address_prints_no_errors_and_a_node_may_have_namespaces_of_its_own(user: Place) -> None:
    """Names of other nodes' namespaces would be files that lead nowhere there: an error of `ip` for each."""
    user.write(LAB)
    lines = ["s1 ip addr", "s1 ip -d link", "s1 ip netns", "s1 ip netns add inner", "s1 ip netns exec inner ip link"]
    done = user.invoke("lab", "up", "scenario.toml", *(word for line in lines for word in ("-c", line)))
    assert (done.returncode, done.stderr) == (0, "")
    assert "link-netnsid" in done.stdout
    assert "r1" not in done.stdout


def test_what_cannot_be_run_is_refused(labs: Place) -> None:
    done = labs.invoke("lab", "exec", "nobody", "true")
    assert (done.returncode, done.stderr) == (1, "error: the lab has no node nobody with programs\n")
    done = labs.invoke("lab", "exec", "s1", "no-such-program")
    assert done.returncode == 1
    assert "running no-such-program" in done.stderr
    assert "hint: is it installed" in done.stderr


def test_input_reaches_a_command_and_signals_do(labs: Place) -> None:
    cat = subprocess.run(
        labs.command("lab", "exec", "s1", "cat"),
        cwd=labs.directory, input="hello\n", capture_output=True, text=True, timeout=180,
    )  # fmt: skip
    assert cat.stdout == "hello\n"
    catches = "trap 'echo caught; exit 3' INT; echo up; while :; do sleep 0.05; done"
    words = labs.command("lab", "exec", "s1", "sh", "-c", catches)
    with killed_at_the_end(subprocess.Popen(words, cwd=labs.directory, stdout=subprocess.PIPE, text=True)) as program:
        assert line(program) == "up\n"
        program.send_signal(signal.SIGINT)
        assert line(program) == "caught\n"
        assert program.wait(60) == 3


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "pipe"])
def test_down_ends_a_lab_whose_shell_waits_for_a_line(user: Place, terminal: bool) -> None:
    near, far = os.openpty() if terminal else os.pipe()[::-1]
    words = user.command("lab", "up", user.write(LAB))
    output = far if terminal else subprocess.PIPE
    process = subprocess.Popen(words, cwd=user.directory, stdin=far, stdout=output, stderr=subprocess.PIPE, text=True)
    with killed_at_the_end(process):
        os.write(near, b"s1 expr 40 + 2\n")
        said, source = b"", near if process.stdout is None else process.stdout.fileno()
        while b"42" not in said:
            assert select.select([source], [], [], 60)[0], f"no answer after {said!r}"
            said += os.read(source, 4096)
        began = time.monotonic()
        done = user.invoke("lab", "down")
        assert (done.returncode, done.stdout) == (0, "lab lab is down\n"), done.stderr
        # Not after its limit of 10 s; the command alone takes half a second on an idle machine.
        assert time.monotonic() - began < 8
        told = process.communicate(timeout=60)[1]
        assert (process.returncode, told.strip()) == (0, "the lab has ended")
    os.close(near)
    os.close(far)


def test_a_program_ends_with_whoever_started_it(labs: Place) -> None:
    words = ["sleep", own_seconds()]
    program = subprocess.Popen(labs.command("lab", "exec", "s1", *words), cwd=labs.directory)
    until(lambda: is_running(words), 60, "the program")
    program.kill()
    program.wait(60)
    until(lambda: not is_running(words), 60, "the program's end")


def test_the_shell_knows_mininets_words(labs: Place) -> None:
    done = shell(labs, "nodes", "net", "links", "dump", "intfs", "ports", "s1 echo r1 # comment", "help pingall")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["available nodes are: ", "s1 s2 r1 r2 left right"]
    assert "s1 s1-eth0:left-eth2" in lines
    assert "left-eth1<->right-eth1 (OK OK) bottleneck bottleneck-reverse" in lines
    assert "<Host s1: s1-eth0:10.0.0.1>" in lines
    assert "<Switch left: >" in lines
    assert "10.0.1.1" in lines
    assert any(line.startswith("pingall [-6] [TIMEOUT]") for line in lines)


def test_pingall_has_mininets_table(labs: Place) -> None:
    done = shell(labs, "pingall", "pingallfull", "pingpair")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:6] == [
        "*** Ping: testing ping reachability",
        "s1 -> s2 r1 r2 ",
        "s2 -> s1 r1 r2 ",
        "r1 -> s1 s2 r2 ",
        "r2 -> s1 s2 r1 ",
        "*** Results: 0% dropped (12/12 received)",
    ]
    (rtt,) = [float(found[1]) for line in lines if (found := re.match(r" s1->r1: 1/1, rtt ([\d.]+) ms", line))]
    # Mininet waits for an answer for a second.
    assert 10 <= rtt < 1000
    assert lines[-1] == "*** Results: 0% dropped (2/2 received)"


@pytest.mark.real_time
def test_a_link_goes_down_and_up_and_why_says_so(labs: Place) -> None:
    done = shell(labs, "link left right down", "pingall 0.3", "why s1 r1", "link left right up", "pingall")
    text = done.stdout
    assert "bottleneck: left -> right, down" in text
    assert "s1 -> s2 X X \n" in text
    assert "*** Results: 67% dropped (4/12 received)" in text
    assert "links bottleneck (left -> right) and bottleneck-reverse (right -> left) are down" in text
    assert text.splitlines()[-1] == "*** Results: 0% dropped (12/12 received)"
    done = labs.invoke("lab", "link", "s1", "left", "down")
    assert done.returncode == 0, done.stderr
    assert "s1 -> X X X \n" in shell(labs, "pingall 0.3").stdout


def test_a_link_gets_another_rate_and_traffic_shows_it(labs: Place) -> None:
    assert labs.invoke("lab", "link", "bottleneck", "rate=4Mbit/s").returncode == 0
    done = shell(labs, "traffic s1 r1 cc=reno seconds=2", "events")
    assert done.returncode == 0, done.stderr
    (goodput,) = re.findall(r"f1 s1 -> r1: ([\d.]+) Mbit/s", done.stdout)
    # 1448 of 1514 bytes are payload. A busy machine sends less.
    assert 0.4 < float(goodput) <= 4 * 1448 / 1514 + 0.01
    assert 'link = "bottleneck"\nrate = "4 Mbit/s"' in done.stdout
    assert shell(labs, "link bottleneck down", "save done.toml").returncode == 0
    assert "nothing is overwritten" in shell(labs, "save done.toml").stderr
    saved = tomllib.loads((labs.directory / "done.toml").read_text())
    (flow,) = saved["flows"]
    assert (flow["cc"], flow["start"], flow["stop"]) == ("reno", "0 s", "2 s")
    assert [(one["at"] == "0 s", one["link"]) for one in saved["events"]] == [
        (True, "bottleneck"),
        (False, "bottleneck"),
    ]
    # A run repeats it.
    run = labs.run((labs.directory / "done.toml").read_text(), "--engine", "simulate")
    assert 2e6 < run.summary["flows"][0]["goodput_bps"] < 4e6
    done = labs.invoke("lab", "link", "bottleneck", "buffer=1 B")
    assert done.returncode == 2
    assert "too small" in done.stderr


def test_a_capture_has_the_frames_of_both_directions(labs: Place) -> None:
    words = labs.command("lab", "capture", "s1", "--seconds", "20", "--output", "s1.pcap")
    with killed_at_the_end(subprocess.Popen(words, cwd=labs.directory, text=True)) as process:
        file = labs.directory / "s1.pcap"
        until(lambda: file.exists() and file.stat().st_size == 24, 60, "the capture's begin")
        assert labs.invoke("lab", "shell", "-c", "pingpair").returncode == 0
        until(lambda: file.stat().st_size > 24 + 3 * 16, 60, "frames")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    content = file.read_bytes()
    assert content[:4] == bytes.fromhex("4d3cb2a1")
    frames, at = [], 24
    while at < len(content):
        seconds, _, kept, length = struct.unpack_from("<IIII", content, at)
        assert kept == length
        assert abs(seconds - time.time()) < 60
        frames.append(content[at + 16 : at + 16 + kept])
        at += 16 + kept
    # Echo requests and replies between s1 and s2, one each way.
    kinds = [(frame[26:30][-1], frame[34]) for frame in frames if frame[23] == 1]
    assert sorted(kinds) == [(1, 0), (1, 8), (2, 0), (2, 8)]


def test_labs_are_listed_shown_and_ended(labs: Place) -> None:
    assert "\nlab " in labs.invoke("lab", "list").stdout
    again = labs.invoke("lab", "up", labs.write(LAB), "--detach")
    assert again.returncode == 2
    assert "a lab named lab is up" in again.stderr
    assert labs.invoke("lab", "up", labs.write(LAB), "--detach", "--name", "two").returncode == 0
    assert "several labs are up" in labs.invoke("lab", "exec", "s1", "true").stderr
    assert labs.invoke("lab", "exec", "--lab", "two", "s1", "true").returncode == 0
    assert "s1" in labs.invoke("lab", "show", "--lab", "two").stdout
    assert labs.invoke("lab", "down", "--lab", "two").stdout == "lab two is down\n"
    assert labs.invoke("lab", "down").stdout == "lab lab is down\n"
    assert labs.invoke("lab", "list").stdout.startswith("no lab is up")
    assert list((labs.directory / "runtime" / "dumbbell" / "labs").iterdir()) == [
        labs.directory / "runtime" / "dumbbell" / "labs" / ".lock"
    ]


def test_a_lab_in_the_foreground_ends_with_its_shell(user: Place) -> None:
    words = ["sleep", own_seconds()]
    done = user.invoke("lab", "up", user.write(LAB), "-c", "pingpair", "-c", f"s1 {' '.join(words)} &", "-c", "exit")
    assert done.returncode == 0, done.stderr
    assert "0% dropped (2/2 received)" in done.stdout
    assert user.invoke("lab", "list").stdout.startswith("no lab is up")
    assert not is_running(words)


def test_a_lab_needs_no_file(user: Place) -> None:
    done = user.invoke("lab", "up", "--topo", "linear,2", "--link", "delay=5ms", "-c", "pingall", "-c", "h2 hostname")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("0% dropped (2/2 received)\nh2\n")
    for words, said in (
        (["--topo", "ring,3"], "no shape ring"),
        ([], "neither a scenario nor --topo"),
        (["./net.toml", "--topo", "minimal"], "a lab has one network"),
        (["./net.toml", "--link", "delay=5ms"], "--link without --topo"),
    ):
        refused = user.invoke("lab", "up", *words)
        assert refused.returncode == 2
        assert said in refused.stderr


OWN = graph(
    link("h1", "r1"),
    link("r1", "h2"),
    nodes={"h1": {"private": ["/var/log", "/var/tmp"]}, "r1": {"private": ["/var/log"]}},
    name="own",
    duration=None,
)


def test_nodes_have_directories_for_themselves(user: Place) -> None:
    lines = (
        "h1 ls -A /var/log /var/tmp", "h1 touch /var/log/of-h1", "r1 touch /var/log/of-r1", "h1 ls /var/log",
        "r1 ls /var/log", "h2 sh -c 'ls /var/log | grep -c of-; true'",
    )  # fmt: skip
    done = user.invoke("lab", "up", user.write(OWN), *(word for line in lines for word in ("-c", line)))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["/var/log:", "", "/var/tmp:", "of-h1", "of-r1", "0"]
    assert not list(Path("/var/log").glob("of-*"))
    missing = user.write(OWN.replace('"/var/tmp"', '"/no/such/place"'))
    refused = user.invoke("lab", "up", missing, "-c", "nodes")
    assert refused.returncode == 1
    assert "making the private directory /no/such/place" in refused.stderr
    assert "mkdir -p /no/such/place" in refused.stderr


def test_two_users_never_meet(labs: Place, tmp_path: Path) -> None:
    if os.geteuid() != 0 or labs.becomes_ordinary:
        pytest.skip("only root can be two users")
    folder = labs.directory / "runtime" / "dumbbell" / "labs"
    assert folder.stat().st_mode & 0o077 == 0
    code = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])"
    other = [
        "setpriv",
        f"--reuid={ORDINARY}",
        "--clear-groups",
        "/usr/bin/python3",
        "-c",
        code,
        str(folder / "lab" / "agent"),
    ]
    done = subprocess.run(other, capture_output=True, text=True, timeout=60)
    assert "PermissionError" in done.stderr


PARTS = ("owner", "helper", "db-init", "db-emulator", "db-agent", "program", "client")


@contextmanager
def whole_lab(user: Place) -> Iterator[dict[str, psutil.Process]]:
    """A lab with a program and a client of it: its processes, by their parts."""
    done = user.invoke("lab", "up", user.write(LAB), "--detach")
    assert done.returncode == 0, done.stderr
    (facts,) = json.loads(user.invoke("lab", "list", "--json").stdout)
    owner = psutil.Process(facts["owner"])
    client = subprocess.Popen(
        user.command("lab", "exec", "s1", "sh", "-c", "sleep 273 & sleep 273"),
        cwd=user.directory,
        stderr=subprocess.DEVNULL,
    )
    until(lambda: sum(p.name() == "sleep" for p in owner.children(recursive=True)) == 2, 60, "the program")
    inside = owner.children(recursive=True)
    everything = {"owner": owner, "helper": owner.children()[0], "client": psutil.Process(client.pid)}
    everything |= {p.name() if p.name().startswith("db-") else f"{p.name()} {p.pid}": p for p in inside[1:]}
    everything["program"] = next(p for p in inside if p.name() == "sleep")
    try:
        yield everything
    finally:
        client.kill()
        client.wait(60)


@pytest.mark.parametrize("part", thorough_but(["owner", "client"], PARTS))
def test_whoever_is_killed_nothing_stays(user: Place, part: str) -> None:
    with whole_lab(user) as processes:
        time.sleep(random.random() / 5)
        processes[part].kill()
        if part in ("program", "client"):
            # The lab goes on, and its programs end with whoever asked for them.
            assert user.invoke("lab", "exec", "s1", "true").returncode == 0
            assert user.invoke("lab", "down").returncode == 0
        until(lambda: not any(map(lives, processes.values())), 60, "the end of all of the lab")
        assert user.invoke("lab", "list").stdout.startswith("no lab is up")
    assert user.invoke("lab", "up", user.write(LAB), "-c", "pingpair").returncode == 0


def test_python_has_a_lab_with_programs_links_and_traffic(
    here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    with dumbbell.Lab(here.directory / here.write(LAB), {"topology.pairs": 1}) as lab:
        assert lab.hosts == ["s1", "r1"]
        done = lab["s1"].run("cat; echo $0; exit 3")
        assert (done.stdout, done.returncode) == ("/bin/sh\n", 3)
        assert lab["s1"].run(["echo", "a b"]).stdout == "a b\n"
        with pytest.raises(subprocess.CalledProcessError):
            lab["s1"].run("false", check=True)
        with pytest.raises(subprocess.TimeoutExpired):
            lab["s1"].run("sleep 60", timeout_s=0.1)
        with lab["r1"].start("echo up; exec sleep 60") as program:
            until(lambda: program.output == "up\n", 60, "its output")
            assert program.stop().returncode == 128 + signal.SIGTERM
        # Megabytes go through pipes, not through the lab.
        assert len(lab["s1"].run("head -c 5000000 /dev/zero").stdout) == 5_000_000
        assert lab.ping_all().received == 2
        lab.link("left", "right").down()
        assert {link["up"] for link in lab.link("left", "right").state.values()} == {False}
        assert lab.ping_all(timeout_s=0.2).received == 0
        lab.link("left", "right").up()
        lab.link("bottleneck").set(rate="2 Mbit/s")
        assert 0.1e6 < lab.tcp("s1", "r1", "reno", seconds=1.5).goodput_bps < 2e6
        assert lab.udp("s1", "r1", 1_000_000, seconds=0.5).error is None
        with pytest.raises(dumbbell.InputError, match="expected"):
            lab.link("bottleneck").set(rate="fast")
        assert {link["name"] for link in lab.progress()} >= {"bottleneck", "s1-left"}
        inside = Live.open()
        assert inside["r1"].address == "10.0.1.1"
        assert inside["r1"].run("hostname -I 2>/dev/null; ip -o addr show eth0").stdout.count("10.0.1.1")
    with pytest.raises(dumbbell.RunFailed, match="not up"):
        lab.ping_all()
    assert not place.alive()


def test_python_draws_a_network_and_starts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    with dumbbell.Lab(ipv6=True) as lab:
        h1, h2, s1, r1 = lab.host("h1"), lab.host("h2"), lab.switch("s1"), lab.router("r1")
        first = lab.link(h1, s1, delay="5 ms")
        second = lab.link(h1, r1, rate="8 Mbit/s", buffer="100 ms")
        third = lab.link(h1, r1)
        lab.link(s1, h2)
        lab.link(s1, r1)
        lab.start()
        assert (first.names, third.names) == (("h1-s1", "s1-h1"), ("h1-r1-2", "r1-h1-2"))
        assert list(h1.interfaces) == ["eth0", "eth1", "eth2"]
        assert h1.run("hostname").stdout == "h1\n"
        assert h2.address in h1.run("getent ahostsv4 h2").stdout
        assert lab.ping_all().received == 2
        second.set(rate="4 Mbit/s")
        assert second.state["h1-r1"]["rate_bps"] == 4_000_000
        # All links between both nodes.
        assert len(lab.link("h1", r1).names) == 4
        lab.link(h1, s1).down()
        assert lab.ping_all(timeout_s=0.2).received == 0
        first.up()
        with h2.start("echo up; exec sleep 60") as program:
            until(lambda: program.output == "up\n", 60, "its output")
            assert program.returncode is None
            assert program.stop().returncode == program.returncode == 128 + signal.SIGTERM
        with pytest.raises(dumbbell.InputError, match="before the lab is up"):
            lab.link(h1, h2, rate="1 Mbit/s")
        with pytest.raises(dumbbell.InputError, match="draws a node before the lab is up"):
            lab.host("h3")
        with pytest.raises(dumbbell.InputError, match="the lab is up"):
            lab.start()
        preset = dumbbell.Lab.from_topology
        with preset("linear", switches=2) as other, preset("linear", switches=2) as another:
            assert [one.path.name for one in (lab, other, another)] == ["lab", "linear", "linear-2"]
            assert another.ping_all().received == 2
    assert not place.alive()
    lab.start()
    assert lab.ping_all().received == 2
    lab.stop()
    lab.stop()
    assert not place.alive()


@pytest.mark.parametrize("attempt", thorough_after(2, range(6)))
def test_a_lab_that_is_killed_at_a_random_moment_leaves_nothing(user: Place, attempt: int) -> None:
    """While it is built, while it is up, while it ends: whoever is killed."""
    chance = random.Random(attempt)
    lines = ["-c", "pingall", "-c", "s1 sleep 0.3", "-c", "link left right down"]
    words = user.command("lab", "up", user.write(LAB), *lines)
    command = subprocess.Popen(words, cwd=user.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    owner, seen = psutil.Process(command.pid), set[psutil.Process]()
    deadline = time.monotonic() + chance.uniform(0.2, 2.5)
    while time.monotonic() < deadline:
        with suppress(psutil.NoSuchProcess):
            seen |= {owner, *owner.children(recursive=True)}
        time.sleep(0.01)
    living = sorted((process for process in seen if lives(process)), key=lambda process: process.pid)
    if living:
        with suppress(psutil.NoSuchProcess):
            chance.choice(living).kill()
    command.wait(30)
    until(lambda: not any(map(lives, seen)), 60, "the end of all of the lab")
    assert user.invoke("lab", "list").stdout.startswith("no lab is up")


ROUTED = graph(
    link("h1", "s1"),
    link("h2", "s1"),
    link("s1", "r1"),
    link("r1", "r2", "core", rate="20 Mbit/s", delay="5 ms", buffer="100 ms"),
    link("r2", "h3"),
    name="routed",
    duration=None,
)


def test_a_lab_with_routers_and_a_switch(user: Place) -> None:
    lines = (
        "pingall", "h1 hostname", "r1 cat /etc/hosts", "link core rate=10Mbit/s", "traffic h1 h3 cc=reno seconds=1",
        "link s1 r1 down", "why h1 h3", "link s1 r1 up", "r2 ip route flush root 10.0.0.0/8", "why h1 h3", "h2 echo h3",
    )  # fmt: skip
    words = [word for line in lines for word in ("-c", line)]
    done = user.invoke("lab", "up", user.write(ROUTED), *words)
    text = done.stdout
    assert done.returncode == 0, done.stderr
    assert "*** Results: 0% dropped (6/6 received)" in text
    assert "\nh1\n" in text
    assert re.search(r"^10\.\S+\s+h3$", text, re.MULTILINE), text
    (goodput,) = re.findall(r"f1 h1 -> h3: ([\d.]+) Mbit/s", text)
    assert 0.5 < float(goodput) < 10
    assert "links s1-r1 (s1 -> r1) and r1-s1 (r1 -> s1) are down" in text
    assert "r2 has no route to h" in text
    assert re.fullmatch(r"10\.\S+", text.splitlines()[-1])


BORDER = graph(
    link("h1", "r1"),
    link("r1", "r2", delay="10 ms"),
    link("r2", "h2"),
    nodes={name: {"asn": asn, "routing": ["bgp"]} for name, asn in (("r1", 100), ("r2", 200))},
    name="border",
    duration=None,
)


def test_a_lab_with_routing_daemons_is_up_once_everybody_is_reached(user: Place) -> None:
    def wait(ends: str) -> str:
        return f"r1 sh -c '{ends} ip route show proto bgp | grep -q via; do sleep 0.05; done'"

    lines = (
        "pingall", "vtysh r1 show bgp summary json", "daemon r2 bgpd stop", "daemon", wait("while"),
        "daemon r2 bgpd start", wait("until"), "events",
    )  # fmt: skip
    done = user.invoke("lab", "up", user.write(BORDER), *(word for line in lines for word in ("-c", line)))
    assert done.returncode == 0, done.stderr
    assert "*** Results: 0% dropped (2/2 received)" in done.stdout
    assert '"remoteAs":200' in done.stdout
    assert "r2: zebra, bgpd (stopped)" in done.stdout
    events = tomllib.loads(done.stdout[done.stdout.index("[[events]]") :])["events"]
    assert [(one["router"], one["daemon"], one["up"]) for one in events] == [
        ("r2", "bgpd", False),
        ("r2", "bgpd", True),
    ]


def test_labs_of_root_and_of_others_stand_side_by_side(
    here: Place, ordinary: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if somebody took the name in `/tmp` that a user's directory of labs might be expected to have."""
    if not ordinary.becomes_ordinary:
        pytest.skip("only root can be two users")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime_of(here)))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    taken = Path(f"/tmp/dumbbell-{ORDINARY}")
    taken.mkdir(exist_ok=True)
    users = {"of-root": here, "of-another": ordinary}
    try:
        # The runtime directory is root's, so it is none for the other.
        for name, user in users.items():
            done = user.invoke("lab", "up", user.write(LAB), "--name", name, "--detach")
            assert done.returncode == 0, done.stderr
        for name, user in users.items():
            told = user.invoke("lab", "list").stdout
            assert [one for one in users if f"{one} " in told] == [name]
            assert user.invoke("lab", "exec", "s1", "true").returncode == 0
        assert "no lab named of-root" in ordinary.invoke("lab", "down", "--lab", "of-root").stderr
        assert "no lab named of-another" in here.invoke("lab", "down", "--lab", "of-another").stderr
    finally:
        for user in users.values():
            user.invoke("lab", "down")
        (link,) = (ordinary.directory / ".local" / "state" / "dumbbell").iterdir()
        shutil.rmtree(link.readlink())
        taken.rmdir()


def test_programs_become_other_users_where_the_machine_lends_ids(
    ordinary: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs such as tcpdump and nginx leave root's rights; in a user namespace that takes ids of /etc/subuid."""
    if not ordinary.becomes_ordinary:
        pytest.skip("only root can lend ids")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime_of(ordinary)))
    (ordinary.directory / "lent").mkdir()
    lent = ordinary.directory / "lent"
    uid = ordinary.uid
    (lent / "passwd").write_text(f"{Path('/etc/passwd').read_text()}tester:x:{uid}:{uid}::/tmp:/bin/sh\n")
    for name in ("subuid", "subgid"):
        (lent / name).write_text("tester:200000:65536\n")
    script = 'cd "$1" && for f in *; do touch /etc/"$f"; mount --bind "$f" /etc/"$f"; done && shift && exec "$@"'
    ids = "h1 setpriv --reuid=33 --regid=33 --groups=4,33 sh -c 'id -u; id -G; touch /tmp/x-$$ && rm /tmp/x-$$'"
    words = ordinary.command("lab", "up", "--topo", "single,2", "-c", ids, "-c", "h1 cat /proc/self/uid_map")
    for prefix, told in (
        (["unshare", "--mount", "sh", "-c", script, "sh", str(lent)], "33\n33 4\n"),
        # Without them root is alone.
        ([], "setpriv: "),
    ):
        done = subprocess.run(
            [*prefix, *words], cwd=ordinary.directory, capture_output=True, text=True, timeout=120, check=False
        )
        assert told in done.stdout + done.stderr, (done.stdout, done.stderr)
        assert ("200000" in done.stdout) == bool(prefix)


def test_a_lab_of_many_nodes_needs_no_higher_limit_of_files(user: Place) -> None:
    """A usual soft limit is 1,024 files: 250 hosts."""
    words = user.command(
        "lab", "up", "--topo", "single,300", "-c", "h1 ping -c1 -W5 h300", "-c", "h1 sh -c 'ulimit -n'"
    )
    limited = ["sh", "-c", 'ulimit -Sn 1024 && exec "$@"', "sh", *words]
    done = subprocess.run(limited, cwd=user.directory, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "1 received" in done.stdout
    assert 1024 < int(done.stdout.split()[-1]) < 4096
