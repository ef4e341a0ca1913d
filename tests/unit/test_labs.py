"""Labs that stay: their places, networks, words, and what is refused before anything starts."""

from __future__ import annotations

import fcntl
import os
from dataclasses import replace
from pathlib import Path

import pytest
from graphs import graph, link

from dumbbell.errors import InputError, ScenarioError
from dumbbell.labs import changes, place, record, topo
from dumbbell.labs.build import load, plan_of
from dumbbell.labs.live import Live
from dumbbell.labs.network import Network
from dumbbell.labs.pings import Pings
from dumbbell.labs.shell.shell import MODULES, Shell, given_lines
from dumbbell.labs.shell.words import WORDS
from dumbbell.plan.types import BufferBytes
from dumbbell.plan.wire import document

NETWORK = """
name = "net"
[topology]
kind = "dumbbell"
pairs = 2
rtt = "10 ms"
bottleneck = { rate = "20 Mbit/s" }
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "net.toml"
    path.write_text(NETWORK)
    return path


@pytest.fixture
def network(scenario: Path) -> Network:
    return Network(document(plan_of(load(scenario))[0]))


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "runtime"
    path.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(path))
    monkeypatch.delenv("DUMBBELL_LAB", raising=False)
    return path


def test_a_lab_needs_only_a_network_and_all_its_links_can_change(scenario: Path) -> None:
    lab, planned = plan_of(load(scenario))
    assert (lab.flows, lab.events, planned.flows) == ((), (), ())
    assert lab.changeable
    assert not lab.record.packets
    assert lab.duration_ns > 10**16
    with pytest.raises(ScenarioError, match="rtt"):
        load(scenario, ['topology.rtt="10"'])


def test_the_flows_of_a_scenario_wait() -> None:
    lab, planned = plan_of(load("bbr-vs-cubic"))
    assert lab.flows == ()
    assert [flow.id for flow in planned.flows] == ["f1", "f2"]
    assert lab.links == planned.links


def test_cables_have_two_directions_and_switches_have_ports(network: Network) -> None:
    assert network.nodes == ["s1", "s2", "r1", "r2", "left", "right"]
    assert (network.hosts, network.places) == (["s1", "s2", "r1", "r2"],) * 2
    (core,) = network.between("right", "left")
    assert core.links == ("bottleneck", "bottleneck-reverse")
    assert [core.interface(end) for end in core.ends] == ["left-eth1", "right-eth1"]
    (access,) = network.between("s1", "left")
    assert (access.links, access.interface("s1"), access.other("s1")) == (("s1-left", "left-s1"), "s1-eth0", "left")
    assert network.named("left", "right") == ["bottleneck", "bottleneck-reverse"]
    assert network.named("bottleneck-reverse") == ["bottleneck-reverse"]
    assert network.addressed(["-c1", "r2", "left"]) == ["-c1", "10.0.1.2", "left"]


def test_a_network_of_nodes_and_links_has_their_interfaces(tmp_path: Path) -> None:
    path = tmp_path / "routed.toml"
    path.write_text(graph(link("h1", "s1"), link("s1", "r1"), link("r1", "h2", "far"), name="routed", duration=None))
    network = Network(document(plan_of(load(path))[0]))
    assert (network.nodes, network.places) == (["h1", "h2", "r1", "s1"], ["h1", "h2", "r1"])
    (far,) = network.between("h2", "r1")
    assert (far.links, [far.interface(end) for end in far.ends]) == (("far", "far-reverse"), ["r1-eth1", "h2-eth0"])
    (near,) = network.between("s1", "r1")
    assert [near.interface(end) for end in near.ends] == ["s1-eth2", "r1-eth0"]
    # A router is called by an address that others reach.
    assert network.address("r1") in dict(network.interfaces("r1"))["eth0"][0]


def test_what_is_not_there_is_named_with_what_is(network: Network) -> None:
    for ask, said in (
        (lambda: network.named("s1", "r1"), "neighbours of s1: left"),
        (lambda: network.named("nowhere"), "links: bottleneck, bottleneck-reverse"),
        (lambda: network.named("s1", "lefd"), "did you mean left"),
        (lambda: network.check_place("left"), "it is a switch"),
    ):
        with pytest.raises(InputError) as refused:
            ask()
        assert said in str(refused.value)


def test_words_of_a_link() -> None:
    assert changes.parsed(["s1", "s2", "down"]) == (["s1", "s2"], {"up": "false", "carrier": "lost"})
    assert changes.parsed(["s1", "s2", "silent"]) == (["s1", "s2"], {"up": "false"})
    assert changes.parsed(["core", "rate=10", "Mbit/s", "loss=1", "%"]) == (
        ["core"],
        {"rate": "10 Mbit/s", "loss": "1 %"},
    )
    assert changes.parsed(["up", "down", "up"]) == (["up"], {"up": "true"})
    assert [changes.spaced(text) for text in ("10Mbit/s", "1.5ms", "2 %", "none")] == [
        "10 Mbit/s",
        "1.5 ms",
        "2 %",
        "none",
    ]


def test_the_buffer_of_a_drawn_link_keeps_its_bytes_when_the_rate_changes(tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(
        """
        name = "drawn"
        topology.kind = "graph"
        topology.nodes = { h1 = {}, h2 = {} }
        flows = [{ from = "h1", to = "h2", cc = "cubic" }]
        [[topology.links]]
        between = ["h1", "h2"]
        name = "core"
        rate = "20 Mbit/s"
        delay = "10 ms"
        buffer = "1 bdp"
        """
    )
    lab, _ = plan_of(load(tmp_path / "scenario.toml"))
    before = next(link for link in lab.links if link.name == "core")
    assert before.buffer == BufferBytes(bytes=50_000)
    after = changes.as_wanted(tmp_path, "core", before, {"rate": "5 Mbit/s"})
    assert after == replace(before, rate_bps=5_000_000)
    with pytest.raises(InputError) as refused:
        changes.as_wanted(tmp_path, "core", before, {"rate": "5"})
    # Nobody has written an event.
    assert refused.value.what == "rate=5: no unit"


def test_pings_are_mininets_table() -> None:
    pings = Pings(("h1", "h2", "h3"), ((None, 2_000_000, None), (1_000_000, None, 3), (None, 4, None)))
    assert pings.matrix().splitlines() == [
        "*** Ping: testing ping reachability",
        "h1 -> h2 X ",
        "h2 -> h1 h3 ",
        "h3 -> X h2 ",
        "*** Results: 33% dropped (4/6 received)",
    ]
    assert " h1->h2: 1/1, rtt 2.000 ms" in pings.times()
    assert list(pings.unanswered()) == [("h1", "h3"), ("h3", "h1")]
    assert Pings((), ()).dropped_percent == 0


def test_every_word_says_what_it_does() -> None:
    assert MODULES
    mininets = (
        "nodes net links dump intfs ports pingall pingallfull pingpair pingpairfull iperf iperfudp link switch x xterm "
        "py px sh source time noecho wait help exit quit"
    )
    assert set(mininets.split()) < set(WORDS)
    assert all(one.meaning.endswith(".") for one in WORDS.values())


def test_ctrl_c_between_two_lines_ends_neither_shell_nor_lab(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    (tmp_path / "plan.json").write_text(json.dumps(document(plan_of(load(scenario))[0])))
    shell = Shell(Live(tmp_path))
    typed = iter(["nodes", "interrupted", "nodes"])
    carry_out = shell.execute

    def execute(line: str) -> int:
        if line == "interrupted":
            raise KeyboardInterrupt
        return carry_out(line)

    monkeypatch.setattr(shell, "execute", execute)
    monkeypatch.setattr(shell, "_read", lambda: typed)
    assert shell.interact() == 0
    assert capsys.readouterr().out.count("available nodes are") == 2
    with pytest.raises(KeyboardInterrupt):
        shell.interact(["interrupted"])


def test_the_shell_refuses_in_words(scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    (tmp_path / "plan.json").write_text(json.dumps(document(plan_of(load(scenario))[0])))
    shell = Shell(Live(tmp_path))
    assert shell.interact(["# nothing", "", "nodes # all", "exit", "dance"]) == 0
    assert capsys.readouterr().out == "available nodes are: \ns1 s2 r1 r2 left right\n"
    for line, said in (
        ("dance", "no node and no word dance"),
        ("left ls", "no program runs in left"),
        ("s1", "no command for s1"),
        ("traffic s1 r1 size=3", "traffic has no size"),
        ("traffic s1 left", "no host left"),
        ("iperfudp fast", "a rate"),
        ("link s1 left", "no key is given"),
        ("source nowhere", "cannot read nowhere"),
        ("help dance", "unknown word dance"),
        ("switch left", "switch needs a node"),
    ):
        assert shell.execute(line) == 1, line
        assert said in capsys.readouterr().err, line
    assert shell.execute("py 1 + 1") == 0
    assert shell.execute("px raise ValueError('x')") == 1
    assert capsys.readouterr().out == "2\nValueError: x\n"
    assert shell.execute("sh exit 3") == 3
    assert [shell.complete("ping", n) for n in range(3)] == ["pingall ", "pingallfull ", "pingpair "]


def test_a_lab_is_found_while_its_lock_is_held(runtime: Path) -> None:
    assert place.root() == runtime / "dumbbell" / "labs"
    with pytest.raises(InputError, match="no lab is up"):
        place.find()
    first, lock = place.begin("one")
    with pytest.raises(InputError, match="a lab named one is up"):
        place.begin("one")
    assert place.find() == place.find("one") == first
    _, other = place.begin("two")
    with pytest.raises(InputError, match="several labs are up"):
        place.find()
    with pytest.raises(InputError, match="no lab named three"):
        place.find("three")
    os.close(lock)
    # What a killed lab has left is gone with the next look.
    assert [path.name for path in place.alive()] == ["two"]
    assert not first.exists()
    os.close(other)


def test_a_directory_that_others_can_enter_is_no_place_for_labs(runtime: Path) -> None:
    place.root().chmod(0o755)
    with pytest.raises(InputError, match="is not safe for labs"):
        place.root()


def test_a_runtime_directory_that_others_can_write_in_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = tmp_path / "others"
    others.mkdir()
    others.chmod(0o777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(others))
    monkeypatch.setattr(place.os, "geteuid", lambda: 12345)
    monkeypatch.setattr(place, "own", lambda: tmp_path / "own")
    assert place._base() == tmp_path / "own"


def test_nobody_else_can_take_the_directory_of_labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary, state = tmp_path / "tmp", tmp_path / "state"
    temporary.mkdir()
    temporary.chmod(0o1777)
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    first = place.own(str(temporary))
    assert first.parent == temporary
    assert place.own(str(temporary)) == first
    assert first.stat().st_mode & 0o777 == 0o700
    # Its name is taken by somebody else after it was removed: by a directory that others can write in, or a link.
    first.rmdir()
    first.mkdir()
    first.chmod(0o777)
    second = place.own(str(temporary))
    assert second not in (first, tmp_path)
    second.rmdir()
    second.symlink_to(first)
    third = place.own(str(temporary))
    assert not third.is_symlink()
    assert third != first
    assert place.own(str(temporary)) == third
    # Machines that share the home have others.
    (tmp_path / "tmp2").mkdir()
    assert place.own(str(tmp_path / "tmp2")).parent == tmp_path / "tmp2"
    assert place.own(str(temporary)) == third
    state.joinpath("dumbbell").rename(tmp_path / "away")
    state.joinpath("dumbbell").write_text("")
    with pytest.raises(InputError, match="no place for labs"):
        place.own(str(temporary))


def test_commands_take_turns(runtime: Path) -> None:
    held = os.open(place.root() / ".lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(held, fcntl.LOCK_EX)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(held)
        place.alive()
        os.write(writer, b"!")
        os._exit(0)
    os.set_blocking(reader, False)
    with pytest.raises(BlockingIOError):
        os.read(reader, 1)
    os.close(held)
    os.waitpid(child, 0)
    assert os.read(reader, 1) == b"!"
    os.close(reader)
    os.close(writer)


def test_mininets_shapes_are_networks() -> None:
    for text, hosts, switches in (
        ("minimal", 2, 1),
        ("single,4", 4, 1),
        ("linear,3", 3, 3),
        ("linear,2,3", 6, 2),
        ("tree,2,3", 9, 4),
        ("torus,3,4", 12, 12),
    ):
        network = Network(document(plan_of(topo.scenario(text))[0]))
        assert (len(network.hosts), len(network.nodes) - len(network.hosts)) == (hosts, switches), text
    plan = document(plan_of(topo.scenario("linear,2", "rate=10Mbit/s,delay=5 ms", ["seed=4"]))[0])
    assert plan["seed"] == 4
    assert {(link["rate_bps"], link["delay_ns"]) for link in plan["links"]} == {(10_000_000, 5_000_000)}


def test_what_is_no_shape_is_refused_in_the_words_of_the_command() -> None:
    for text, keys, said in (
        ("torus,2,3", None, "--topo torus,2,3: out of range"),
        ("ring,3", None, "shapes: minimal, single, linear, torus, tree"),
        ("tree,2,3,4", None, "tree,DEPTH,FANOUT"),
        ("tree,two", None, "tree,DEPTH,FANOUT"),
        ("tree,2,300", None, "--topo tree,2,300: fanout 300 and depth 2: 90000 hosts"),
        ("single,2", "rate", "--link rate: 'rate' is not a key"),
        ("single,2", "rate=10", '--link rate=10: topology.link.rate = "10": no unit'),
        ("single,2", "bw=10", "unknown key"),
    ):
        with pytest.raises(InputError) as refused:
            topo.scenario(text, keys)
        assert said in str(refused.value), text


def saved_files(document: dict[str, object], tmp_path: Path) -> list[Path]:
    """The files that are saved beside `home/mine.toml` for a lab with one trace, and with a file beside its folder."""
    (tmp_path / "labs" / "net" / "traces").mkdir(parents=True)
    (tmp_path / "labs" / "net" / "traces" / "cell.trace").write_text("1\n")
    (tmp_path / "labs" / "stolen").write_text("theirs")
    (tmp_path / "home").mkdir(exist_ok=True)
    return record._copy_files(document, tmp_path / "labs" / "net", tmp_path / "home" / "mine.toml")


@pytest.mark.parametrize("way", ["traces/../../stolen", "traces/./../../stolen", "traces//../../stolen", "traces/"])
def test_a_text_that_looks_like_the_path_of_a_copy_leads_nowhere(way: str, tmp_path: Path) -> None:
    document: dict[str, object] = {"description": way, "trace": "traces/cell.trace"}
    copy = tmp_path / "home" / "mine-files" / "traces" / "cell.trace"
    assert saved_files(document, tmp_path) == [copy]
    assert document == {"description": way, "trace": "mine-files/traces/cell.trace"}
    assert [path for path in (tmp_path / "home").rglob("*") if path.is_file()] == [copy]


@pytest.mark.parametrize("is_link", [True, False])
def test_a_lab_is_not_saved_into_a_folder_that_is_there(is_link: bool, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = tmp_path / "home" / "mine-files"
    folder.parent.mkdir()
    folder.symlink_to(elsewhere) if is_link else folder.mkdir()
    with pytest.raises(InputError, match="mine-files is there already"):
        saved_files({"trace": "traces/cell.trace"}, tmp_path)
    assert not list(elsewhere.iterdir())
    assert not list(folder.iterdir())


def test_a_line_of_standard_input_without_end_ends_the_shell(tmp_path: Path) -> None:
    """A lab whose standard input was /dev/zero has taken 20 GB."""
    with open("/dev/zero", encoding="utf-8") as zero, pytest.raises(InputError, match="cannot read standard input"):
        list(given_lines(zero))
    damaged = tmp_path / "lines"
    damaged.write_bytes(b"nodes\n\xff\n")
    with damaged.open(encoding="utf-8") as file, pytest.raises(InputError, match="cannot read standard input"):
        list(given_lines(file))
    damaged.write_text("nodes\nlinks")
    with damaged.open(encoding="utf-8") as file:
        assert list(given_lines(file)) == ["nodes\n", "links"]
    assert list(given_lines(None)) == []
