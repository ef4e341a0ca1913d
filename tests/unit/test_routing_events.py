"""Events of routing daemons: what the plan holds, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphs import event, flow, graph, link

from dumbbell.errors import ScenarioError
from dumbbell.plan.expand import expand
from dumbbell.plan.view import tables
from dumbbell.scenario.file.loading import load


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def scenario(*events: str, routing: tuple[str, ...] = ("ospf",)) -> str:
    keys = {"routing": list(routing)} if routing else {}
    return graph(
        link("h1", "r1"),
        link("r1", "r2", "core", rate="10 Mbit/s", delay="5 ms"),
        link("r2", "h2"),
        flow("h1", "h2"),
        *events,
        nodes={"r1": keys, "r2": keys},
        duration="20 s",
    )


def loaded(text: str) -> Path:
    Path("my.toml").write_text(text)
    return Path("my.toml")


def test_daemons_die_and_start_beside_links_that_change() -> None:
    text = scenario(
        event("9 s", link="core", rate="5 Mbit/s"),
        event("5 s", router="r1", daemon="ospfd", down_for="2 s", every="10 s"),
        event("3 s", router="r2", daemon="zebra", up=False),
    )
    plan = expand(load(loaded(text)))
    assert [one.link.name for one in plan.events] == ["core"]
    assert [(one.at_ns // 10**9, one.router, one.daemon, one.up) for one in plan.daemon_events] == [
        (3, "r2", "zebra", False),
        (5, "r1", "ospfd", False),
        (7, "r1", "ospfd", True),
        (15, "r1", "ospfd", False),
        (17, "r1", "ospfd", True),
    ]
    (shown,) = (table for table in tables(plan, 0) if table.title == "Events of daemons")
    assert shown.rows[:2] == [["3 s", "r2", "zebra is killed"], ["5 s", "r1", "ospfd is killed"]]


@pytest.mark.parametrize(
    ("keys", "routing", "said"),
    [
        ({"router": "r1"}, ("ospf",), "router without daemon"),
        ({"daemon": "ospfd", "up": False}, ("ospf",), "daemon without router"),
        ({"router": "r1", "daemon": "ospfd"}, ("ospf",), "changes nothing"),
        ({"router": "r1", "daemon": "ospfd", "rate": "1 Mbit/s"}, ("ospf",), "rate of a daemon"),
        ({"router": "r1", "daemon": "ospfd", "link": "core", "up": False}, ("ospf",), "link and router"),
        ({"router": "r3", "daemon": "ospfd", "up": False}, ("ospf",), "no router with daemons is called r3"),
        ({"router": "r1", "daemon": "ospf", "up": False}, ("ospf",), "did you mean ospfd"),
        ({"router": "r1", "daemon": "ospfd", "up": True}, ("ospf",), "runs already at 5 s"),
        ({"router": "r1", "daemon": "ospfd", "up": False}, (), "no router has routing daemons"),
    ],
)
def test_what_cannot_happen_is_refused_with_its_place(
    keys: dict[str, object], routing: tuple[str, ...], said: str
) -> None:
    text = scenario(event("5 s", **keys), routing=routing)
    first = text.splitlines().index("[[events]]") + 1
    with pytest.raises(ScenarioError) as caught:
        expand(load(loaded(text)))
    told = str(caught.value)
    line = int(told.split(":")[1])
    assert first <= line <= first + 4, told
    assert said in told


def test_a_daemon_that_is_dead_dies_no_more() -> None:
    text = scenario(*(event(at, router="r1", daemon="ospfd", up=False) for at in ("5 s", "6 s")))
    with pytest.raises(ScenarioError, match="ospfd of r1 does not run any more at 6 s"):
        expand(load(loaded(text)))
