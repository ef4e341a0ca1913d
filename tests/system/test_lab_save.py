"""Saved labs work again: configurations that were typed, files that the scenario names, changes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from graphs import flow, graph, link
from harness import Place
from stages import thorough_after
from why_faults import BGP, RING

import dumbbell
from dumbbell.errors import InputError
from dumbbell.labs.configurations import commands, typed
from dumbbell.labs.live import Live
from dumbbell.labs.record import save

BARE = graph(
    link("h1", "r1", addresses=["10.0.0.10/24", "10.0.0.1/24"]),
    link("r1", "r2", addresses=["10.9.0.1/24", "10.9.0.2/24"]),
    link("r2", "h2", addresses=["10.1.0.1/24", "10.1.0.10/24"]),
    nodes={f"r{number}": {"kind": "router", "routing": ["bgp"], "bare": True} for number in (1, 2)},
    name="bare",
    duration=None,
)


def _answers(lab: Live, patience_s: float = 30) -> bool:
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        if lab.ping_all(timeout_s=0.3).received == 2:
            return True
        time.sleep(0.3)
    return False


def _configure(lab: Live, router: str, own: int, neighbour: str, other: int, network: str) -> None:
    lab[router].vtysh(
        "configure terminal", f"router bgp {own}", "no bgp ebgp-requires-policy", "timers bgp 1 3",
        f"neighbor {neighbour} remote-as {other}", f"neighbor {neighbour} timers connect 1", f"network {network}",
    )  # fmt: skip


@pytest.mark.parametrize("network", thorough_after(1, [BGP, RING]), ids=["bgp", "ospf"])
def test_what_dumbbell_configures_is_not_typed(apart: Place, network: str) -> None:
    with dumbbell.Lab(apart.write(network)) as lab:
        assert typed(lab.path) == {}
        with pytest.raises(InputError, match="nothing to save"):
            save(lab.path, Path("saved.toml"))
        lab["r1"].vtysh("configure terminal", "interface lo", "description mine")
        assert list(typed(lab.path)) == ["r1"]


def test_typed_configurations_are_there_in_the_saved_lab(apart: Place) -> None:
    Path("r2.conf").write_text("! Somebody's.\n")
    with dumbbell.Lab(apart.write(BARE)) as lab:
        _configure(lab, "r1", 100, "10.9.0.2", 200, "10.0.0.0/24")
        _configure(lab, "r2", 200, "10.9.0.1", 100, "10.1.0.0/24")
        assert _answers(lab)
        running = typed(lab.path)
        Path("there.toml").touch()
        with pytest.raises(InputError, match=r"there\.toml is there already"):
            save(lab.path, Path("there.toml"))
        assert not Path("r1.conf").exists()
        written = save(lab.path, Path("saved.toml"))
    assert written == [Path(name) for name in ("saved.toml", "r1.conf", "saved-r2.conf")]
    assert Path("r2.conf").read_text() == "! Somebody's.\n"
    assert "bare = true" not in Path("saved.toml").read_text()
    with dumbbell.Lab("saved.toml") as again:
        assert _answers(again)
        assert typed(again.path) == {}
    assert commands(Path("r1.conf").read_text()) == commands(running["r1"])


def test_files_that_a_lab_names_are_saved_with_it(apart: Place) -> None:
    """The lab's own copies go with it: what is saved names copies that stay."""
    Path("mine").mkdir()
    Path("mine/cell.trace").write_text("1\n5\n")
    Path("mine/r1.conf").write_text("hostname r1\n!\nrouter ospf\n ospf router-id 1.1.1.1\nexit\n")
    scenario = graph(
        link("h1", "r1", rate={"trace": "mine/cell.trace"}, buffer="50 packets"),
        link("r1", "h2", "right"),
        flow(cc="cubic"),
        nodes={"r1": {"kind": "router", "routing": ["ospf"], "frr": "mine/r1.conf"}},
        name="named",
        duration="1 s",
    )
    with dumbbell.Lab(apart.write(scenario)) as lab:
        lab.link("right").down()
        written = save(lab.path, Path("saved.toml"))
    for path in Path("mine").iterdir():
        path.unlink()
    names = ["saved-files/traces/cell.trace", "saved-files/traces/r1.conf", "saved.toml"]
    assert sorted(map(str, written)) == names
    with dumbbell.Lab("saved.toml") as again:
        assert "1.1.1.1" in again["r1"].vtysh("show running-config")
        assert [type(one) for one in again.play()] != []
        assert not again.link("right").state["right"]["up"]


def test_a_daemon_that_died_and_was_started_is_saved_so_that_it_runs(apart: Place) -> None:
    """Nobody ordered its end, whose time is not known; changes of daemons are within the saved duration."""
    with dumbbell.Lab(apart.write(BGP)) as lab:
        assert _answers(lab)
        lab["r1"].run("pkill bgpd", check=True)
        time.sleep(1)
        assert lab.ping_all().hosts, "the lab goes on"
        lab["r1"].daemon("bgpd", up=True)
        lab["r2"].daemon("bgpd", up=True)
        assert _answers(lab)
        lab.tcp("h1", "h2", seconds=0.5)
        lab["r1"].daemon("bgpd", up=False)
        save(lab.path, Path("saved.toml"))
    planned = dumbbell.load("saved.toml")
    assert [event.router for event in planned.events] == ["r1"]


def test_commands_count_and_not_their_order() -> None:
    text = (
        "frr version 8.4\n!\nrouter bgp 1\n bgp router-id 1.1.1.1\n neighbor 10.0.0.1 remote-as 2\n !\nexit\n!\nend\n"
    )
    other = "router bgp 1\n  neighbor 10.0.0.1  remote-as 2\n  bgp router-id 1.1.1.1\n"
    assert commands(text) == commands(other) == {
        ("router bgp 1",), ("router bgp 1", "bgp router-id 1.1.1.1"), ("router bgp 1", "neighbor 10.0.0.1 remote-as 2"),
    }  # fmt: skip
    assert commands(text) != commands(text.replace("remote-as 2", "remote-as 3"))
    assert commands(" description !\n") == {("description !",)}
