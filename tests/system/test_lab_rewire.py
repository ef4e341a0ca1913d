"""Nodes and links added to a lab that is up, and removed, on real namespaces."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import psutil
import pytest
from graphs import graph, link
from harness import Place, until
from remains import lives
from stages import thorough_after

import dumbbell
from dumbbell.errors import InputError, RunFailed
from dumbbell.labs import capture, rewire
from dumbbell.labs.network import Network
from dumbbell.labs.packets import Packets
from dumbbell.labs.record import save
from dumbbell.labs.shell.shell import Shell
from dumbbell.server.lab_messages import AddNode, PartKeys
from dumbbell.server.lab_parts import add_node_with_link

NETWORK = graph(
    link("h1", "s1", rate="50 Mbit/s", delay="1 ms", buffer="100 ms"),
    link("h2", "s1"),
    link("s1", "r1"),
    link("r1", "h3"),
    name="grow",
    duration=None,
)


def interfaces(lab: dumbbell.Lab, node: str) -> dict[str, list[str]]:
    """Interfaces as the kernel has them, with MAC and IPv4 addresses."""
    shown = json.loads(lab[node].run("ip -json address").stdout)
    held = {one["ifname"]: one for one in shown if one["ifname"] != "lo"}
    return {
        name: [one["address"], *(f"{a['local']}/{a['prefixlen']}" for a in one["addr_info"] if a["family"] == "inet")]
        for name, one in held.items()
    }


def test_a_host_comes_and_goes_and_no_frame_is_lost(apart: Place) -> None:
    with dumbbell.Lab(apart.write(NETWORK)) as lab:
        before = {name: interfaces(lab, name) for name in lab.network.places}
        # Each frame crosses the links while they are exchanged, twice.
        with lab["h1"].start("ping -i 0.005 -c 600 h2") as ping:
            ping.wait_for("seq=50")
            h4 = lab.add_host("h4")
            added = lab.add_link(h4, "s1", rate="10 Mbit/s", delay="5 ms", buffer="100 ms")
            assert added.names == ("h4-s1", "s1-h4")
            assert lab["h1"].run("ping -c1 -W2 h4").returncode == 0, "its name is known in a host that was there"
            assert float(re.findall(r"time=([\d.]+)", h4.run("ping -c1 h3").stdout)[0]) > 9.9
            assert lab.ping_all().received == 12
            assert {name: interfaces(lab, name) for name in before} == before
            program = h4.start("sleep 300 & exec sleep 300")
            until(lambda: h4.run("pgrep -c sleep").stdout.strip() != "0", 60, "the programs")
            lab.remove(h4)
            assert program.wait(30).returncode != 0
            assert lab.nodes == ["h1", "h2", "h3", "r1", "s1"]
            assert lab["h1"].run("getent hosts h4").stdout == ""
            said = ping.wait(120).stdout
        assert "600 packets transmitted, 600 received, 0% packet loss" in said, said[-300:]
        assert "DUP" not in said
        assert lab.ping_all().received == 6
        assert {name: interfaces(lab, name) for name in before} == before


def test_routers_and_links_change_the_ways(apart: Place) -> None:
    with dumbbell.Lab(apart.write(NETWORK)) as lab:
        lab.add_router("r2")
        lab.add_link("r1", "r2", delay="2 ms")
        lab.add_switch("s2")
        lab.add_link("s2", "r2")
        lab.add_host("h5")
        lab.add_link("h5", "s2")
        assert lab.ping_all().received == 12
        assert lab["h1"].run("ip route get " + lab["h5"].address).returncode == 0
        # Down in both directions, and up again, as any other link.
        lab.link("r1", "r2").down()
        assert lab["h1"].run("ping -c1 -W1 h5").returncode != 0
        shown = apart.invoke("lab", "shell", "-c", "why h1 h5")
        assert "r1-r2" in shown.stdout, shown.stdout + shown.stderr
        # A second link takes over once the first is removed; a pulled cable stays pulled meanwhile.
        lab["h3"].run("ip link set eth0 down", check=True)
        lab.add_link("r1", "r2", name="second")
        assert "NO-CARRIER" in lab["r2"].run("ip link show eth0").stdout
        lab["h3"].run("ip link set eth0 up && ip route add default via 10.0.0.1", check=True)
        lab.link("r1-r2").remove()
        assert lab.ping_all().received == 12
        lab.add_link("r1", "r2")
        lab.add_link("r1", "r2")
        with pytest.raises(InputError, match="the link r1-r2-2 would be called r1-r2"):
            lab.link("r1-r2").remove()
        assert lab.ping_all().received == 12
        with lab.record("more") as record:
            lab.tcp("h1", "h5", seconds=0.5)
        assert [(flow.from_, flow.to) for flow in record.run.plan.flows] == [("h1", "h5")]


def test_why_and_captures_know_new_nodes_and_links(apart: Place, capsys: pytest.CaptureFixture[str]) -> None:
    with dumbbell.Lab(apart.write(NETWORK)) as lab:
        h4 = lab.add_host("h4")
        added = lab.add_link(h4, "s1", rate="10 Mbit/s", delay="5 ms", buffer="100 ms")
        for words, frames in ((["h4"], 2), (["h4", "s1"], 4)):
            packets = Packets(lab.path, capture.place_of(lab.network, words))
            try:
                assert lab["h1"].run("ping -c1 -W30 h4").returncode == 0
                until(lambda packets=packets, frames=frames: len(icmp(packets)) == frames, 60, "a ping and its answer")
                if frames == 4:
                    with pytest.raises(RunFailed, match="links are being captured"):
                        lab.add_link(h4, "r1")
            finally:
                packets.stop()
            until(lambda packets=packets: packets.state.is_over, 60, "the capture's end")
        for end in ("h4-s1:in", "h4-s1:out", "s1-h4:in", "s1-h4:out"):
            assert len(icmp(packets, end)) == 1, end
        shell = Shell(lab)
        assert shell.interact(["why h1 h4"]) == 0
        added.down()
        # A change of the network leaves it down, and it comes up again.
        lab.add_host("h5")
        lab.add_link("h5", "s1")
        capsys.readouterr()
        assert shell.interact(["why h1 h4"]) == 1
        said = capsys.readouterr().out
        assert "links h4-s1 (h4 -> s1) and s1-h4 (s1 -> h4) are down" in said, said
        added.up()
        assert lab.ping_all().received == 20


def icmp(packets: Packets, place: str = "") -> list[str]:
    return [row["info"] for row in packets.rows(0, 1000, f"ICMP {place}")[0]]


@pytest.mark.parametrize("seed", thorough_after(1, range(6)))
def test_what_was_changed_is_saved_and_comes_up(apart: Place, seed: int) -> None:
    random, refused = Random(seed), list[str]()
    with dumbbell.Lab(apart.write(NETWORK)) as lab:
        for step in range(6):
            known = lab.network
            try:
                if random.random() < 0.6:
                    kind = random.choice(["host", "switch", "router"])
                    getattr(lab, f"add_{kind}")(f"n{step}")
                    lab.add_link(f"n{step}", random.choice(known.nodes), rate="20 Mbit/s", buffer="100 ms")
                elif random.random() < 0.5:
                    lab.add_link(*random.sample(known.nodes, 2))
                else:
                    lab.remove(random.choice(known.nodes))
            except InputError as error:
                refused.append(error.what)
        assert all(what.startswith("cannot") for what in refused)
        save(lab.path, Path("saved.toml"))
        # Hosts do not forward, and a part of the network may be cut off: who answers whom is the same in both.
        reached = [[rtt is not None for rtt in row] for row in lab.ping_all().rtt_ns]
        was = {name: lab.network.interfaces(name) for name in lab.network.stations}
        links = sorted(lab.network.links)
    with dumbbell.Lab("saved.toml") as again:
        assert sorted(again.network.links) == links
        now = {name: again.network.interfaces(name) for name in again.network.stations}
        assert {name: [own for _, own in held] for name, held in now.items()} == {
            name: [own for _, own in held] for name, held in was.items()
        }
        assert [[rtt is not None for rtt in row] for row in again.ping_all().rtt_ns] == reached


def test_words_of_the_shell_and_what_they_refuse(apart: Place) -> None:
    done = apart.invoke("lab", "up", apart.write(NETWORK), "--detach")
    assert done.returncode == 0, done.stderr

    def shell(*lines: str) -> tuple[int, str]:
        done = apart.invoke("lab", "shell", *(word for line in lines for word in ("-c", line)))
        return done.returncode, done.stdout + done.stderr

    try:
        code, said = shell("add h4", 'add link h4 s1 rate="10 Mbit/s" delay=5 ms', "h4 ping -c1 h1", "pingall")
        assert code == 0, said
        assert "h4-s1" in said
        assert "0% dropped" in said
        for words, reason in (
            ("add h4", "another node has this name"),
            ("add é", "not a name"),
            ("add a.b", "not a name"),
            ("add \u202eh5", "not a name"),
            ("add link h4 h9", "there is no node h9"),
            ("add link h4 s1 rate=fast", "fast"),
            ("add link h4 h4", "\n  a link from h4 to itself: expected two different nodes\n"),
            ("add h5 colour=red", '\n  colour = "red": unknown key: '),
            ("remove link h4 s1", "no link leads to h4 then\nhint: remove h4, or add another link first"),
            ("remove s1", "no link leads to h1, h2, h4 then\nhint: remove h1, h2, h4 first"),
            ("remove h9", "no node h9"),
            ("add", "add needs a node"),
            ("remove", "remove needs a node"),
        ):
            code, said = shell(words)
            assert code == 1, words
            assert reason in said, said
        code, said = shell("record start", "add h5", "add link h5 s1", "record stop")
        assert "the lab is being recorded" in said
        assert shell("remove h4", "pingall")[0] == 0
        assert shell("add link h5 s1", "pingall")[0] == 0
    finally:
        apart.invoke("lab", "down", "--all")


@pytest.mark.parametrize("part", thorough_after(1, ["owner", "db-init", "db-agent"]))
def test_a_lab_that_has_grown_leaves_nothing(apart: Place, part: str) -> None:
    done = apart.invoke("lab", "up", apart.write(NETWORK), "--detach")
    assert done.returncode == 0, done.stderr
    done = apart.invoke("lab", "shell", "-c", "add h4", "-c", "add link h4 s1", "-c", "h4 sleep 300 > /dev/null 2>&1 &")
    assert done.returncode == 0, done.stderr
    (facts,) = json.loads(apart.invoke("lab", "list", "--json").stdout)
    owner = psutil.Process(facts["owner"])
    inside = owner.children(recursive=True)
    {one.name(): one for one in [*inside, owner]}.get(part, owner).kill()
    until(lambda: not any(map(lives, [owner, *inside])), 60, "the end of all of the lab")
    assert apart.invoke("lab", "list").stdout.startswith("no lab is up")


def test_a_node_whose_link_is_refused_is_not_added(apart: Place) -> None:
    with dumbbell.Lab(apart.write(NETWORK)) as lab:
        asked = AddNode(kind="host", name="h4", neighbour="s1", link=PartKeys(fields={"rate": "fast"}))
        with pytest.raises(InputError, match="cannot add a link h4 s1") as refused:
            add_node_with_link(lab.path, asked)
        assert refused.value.why.startswith('rate = "fast": not a rate')
        with pytest.raises(InputError, match="core is no key"):
            add_node_with_link(lab.path, asked.model_copy(update={"link": PartKeys(typed="core mtu=9000")}))
        assert rewire.waiting(lab.path) == {}
        assert lab.nodes == ["h1", "h2", "h3", "r1", "s1"]


def test_a_change_that_the_kernel_refuses_leaves_the_lab_as_it_was(apart: Place) -> None:
    with dumbbell.Lab(apart.write(NETWORK)) as lab:
        # Somebody has made an interface of the name that the new one would get.
        lab["r1"].run("ip link add eth2 type veth peer name other", check=True)
        lab.add_host("h4")
        with pytest.raises(RunFailed, match="cannot add a link h4 r1"):
            lab.add_link("h4", "r1")
        assert "h4" not in lab.nodes
        assert Network.of(lab.path).nodes == lab.nodes
        assert lab.ping_all().received == 6
        lab["r1"].run("ip link delete eth2")
        lab.add_link("h4", "r1")
        assert lab.ping_all().received == 12
