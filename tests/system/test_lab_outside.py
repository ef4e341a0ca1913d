"""A lab whose router has `nat` reaches the machine's network, here a namespace of the test's own, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from graphs import graph, link
from harness import Place, inside, until
from outside import LOOPBACK_PORT, NAME, SERVER, Machine, machine
from remains import lives
from stages import thorough_but

WAY = "this lab reaches this machine's network through r1"


LINKS = [link("h1", "r1"), link("r1", "r2", rate="50 Mbit/s", delay="2 ms", buffer="100 ms"), link("r2", "h2")]


def lab(door: str = "r1", protocol: str = "") -> str:
    """Two routers with a host each; one of them has `nat`. With a protocol, they have its daemon."""
    nodes: dict[str, dict[str, object]] = {"r1": {}, "r2": {}}
    if protocol:
        # BGP is spoken between ASes, the others inside one.
        nodes = {name: {"routing": [protocol], "asn": asn} for name, asn in (("r1", 64512), ("r2", 64513))}
    if protocol not in ("", "bgp"):
        nodes["r2"]["asn"] = 64512
    nodes[door]["nat"] = True
    return graph(*LINKS, nodes=nodes, name="open", duration=None)


class User:
    """A user of the machine whose network the lab reaches."""

    def __init__(self, place: Place, machine: Machine) -> None:
        self._place, self._machine = place, machine

    @property
    def directory(self) -> Path:
        """The working directory."""
        return self._place.directory

    def words(self, *args: str) -> list[str]:
        """The words that run `dumbbell ARGS` there."""
        return self._machine.command(self._place.command(*args), self._place.directory)

    def invoke(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run `dumbbell ARGS` there to its end."""
        return subprocess.run(self.words(*args), capture_output=True, text=True, timeout=180, check=False)

    def listening(self) -> list[list[str]]:
        """The sockets of the machine at which others can reach it."""
        found = subprocess.check_output([*inside(self._machine.pid), "ss", "-Hlntu"], text=True)
        return sorted(line.split() for line in found.splitlines())

    def own(self, url: str) -> str:
        """The content at a URL as the machine itself gets it."""
        words = self._machine.command(["curl", "-sS", "--max-time", "10", url], self._place.directory)
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout

    def up(self, text: str, *args: str) -> subprocess.CompletedProcess[str]:
        """Start a lab that stays."""
        return self.invoke("lab", "up", self._place.write(text), "--detach", *args)

    def fetch(self, node: str, url: str) -> str:
        """The content at a URL as a node gets it; curl's exit code if it gets none within seconds."""
        done = self.invoke("lab", "exec", node, "curl", "-sS", "--max-time", "10", url)
        return done.stdout if done.returncode == 0 else f"curl: {done.returncode}"


@pytest.fixture
def them(user: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[User]:
    """A user on a machine of the test's own. What the user has agreed to is the test's, too."""
    state = user.directory / "state"
    state.mkdir()
    if user.becomes_ordinary:
        os.chown(state, user.uid, user.uid)
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    with machine(user.directory) as found:
        yield User(user, found)
        User(user, found).invoke("lab", "down", "--all")


def test_hosts_behind_the_router_reach_the_network_and_find_names(them: User) -> None:
    listening = them.listening()
    done = them.up(lab(), "--agree")
    assert (done.returncode, done.stderr) == (0, f"{WAY}\n"), done.stderr
    for node in ("h1", "h2", "r2", "r1"):
        assert them.fetch(node, f"http://{SERVER}/") == "hello", node
    assert them.fetch("h2", f"http://{NAME}/") == "hello"
    # The lab's own names and ways stay.
    assert them.invoke("lab", "exec", "h1", "ping", "-c1", "-W9", "h2").returncode == 0
    assert WAY in them.invoke("lab", "show").stdout
    assert json.loads(them.invoke("lab", "show", "--json").stdout)["outside"] == "r1"
    # The socket of a UDP request stays for its answer; that of a name's is closed after 10 s.
    until(lambda: them.listening() == listening, 60, "an end of what is open to the network")


TRICK = f"""
sysctl -qw net.ipv4.conf.all.route_localnet=1
ip route add {{to}} via 100.64.0.2 dev nat0 src 100.64.0.100 table 100
ip rule add pref 5 lookup 100
ip rule add pref 10 lookup local
ip rule del pref 0
curl -sS --max-time 3 http://{{to}}:{LOOPBACK_PORT}/
code=$?
cat /sys/class/net/nat0/statistics/tx_packets
exit $code
"""
"""Sends packets to an address of the router itself out of `nat0`, as root of a lab can."""


def test_services_of_the_machine_itself_are_out_of_reach(them: User) -> None:
    assert them.up(lab(), "--agree").returncode == 0
    assert them.own(f"http://127.0.0.1:{LOOPBACK_PORT}/") == "hello", "the machine's service answers the machine"
    # The stack's names for the machine and for its name server, which is 127.0.0.1 here.
    for to in ("127.0.0.1", "100.64.0.2", "100.64.0.3"):
        done = them.invoke("lab", "exec", "r1", "curl", "-sS", "--max-time", "3", f"http://{to}:{LOOPBACK_PORT}/")
        assert done.returncode in (7, 28), (to, done)
    for to in ("127.0.0.1", "127.0.0.53", "0.0.0.1"):
        done = them.invoke("lab", "exec", "r1", "sh", "-c", TRICK.format(to=to))
        assert done.returncode in (7, 28), (to, done)
        assert int(done.stdout) > 0, "packets leave"
    # The way is open all the while.
    assert them.fetch("h2", f"http://{SERVER}/") == "hello"


def test_the_way_opens_only_if_the_user_agrees_once(them: User) -> None:
    done = them.up(lab())
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: ./scenario.toml opens a way that you have not agreed to",
        f"  {WAY}",
        "hint: if it may, repeat the command with --agree: it is asked once",
    ]
    for args in (["--agree"], []):
        assert them.up(lab(), *args).returncode == 0
        assert them.invoke("lab", "down").returncode == 0
    assert them.up(lab("r2")).returncode == 2
    closed = graph(*LINKS, name="closed", duration=None)
    assert (them.up(closed).returncode, them.fetch("h1", f"http://{SERVER}/")) == (0, "curl: 7")


def test_a_recording_is_suspect_as_no_run_repeats_it(them: User) -> None:
    assert them.up(lab(), "--agree").returncode == 0
    assert them.invoke("lab", "record", "start", "open", "--output", "kept").returncode == 0
    assert them.fetch("h2", f"http://{SERVER}/") == "hello"
    done = them.invoke("lab", "record", "stop")
    (summary,) = them.directory.glob("kept/*/summary.json")
    checks = {check["check"]: check for check in json.loads(summary.read_text())["checks"]}
    assert checks["outside"]["measured"] == "r1 leads to this machine's network", done
    assert checks["outside"]["verdict"] == "suspect"


@pytest.mark.parametrize("protocol", thorough_but(["ospf"], ["ospf", "isis", "rip", "bgp"]))
def test_routing_daemons_announce_the_way(them: User, protocol: str) -> None:
    done = them.up(lab(protocol=protocol), "--agree")
    assert done.returncode == 0, done.stderr
    assert them.fetch("h2", f"http://{SERVER}/") == "hello"


PARTS = ["owner", "helper", "db-init", "db-nat", "slirp4netns"]


@pytest.mark.parametrize("part", thorough_but(["owner", "slirp4netns"], PARTS))
def test_whoever_is_killed_nothing_stays(them: User, part: str) -> None:
    assert them.up(lab(), "--agree").returncode == 0
    (found,) = json.loads(them.invoke("lab", "list", "--json").stdout)
    owner = psutil.Process(found["owner"])
    parts = {one.name(): one for one in owner.children(recursive=True)}
    parts |= {"owner": owner, "helper": owner.children()[0]}
    assert {"db-nat", "slirp4netns"} <= parts.keys()
    way = [parts["db-nat"], parts["slirp4netns"]]
    parts[part].kill()
    until(lambda: not any(map(lives, way)), 60, "the end of the way")
    if parts[part] in way:
        # The lab goes on, without it.
        assert them.fetch("h1", f"http://{SERVER}/").startswith("curl: ")
        assert them.invoke("lab", "exec", "h1", "ping", "-c1", "-W9", "h2").returncode == 0
        assert them.invoke("lab", "down").returncode == 0
    until(lambda: not any(map(lives, parts.values())), 60, "the end of all of the lab")
    assert them.invoke("lab", "list").stdout.startswith("no lab is up")
