"""A problem carries its key and its place as data, wherever the value comes from."""

import json
from pathlib import Path
from typing import Any

import pytest
from refused import BASE

from dumbbell.cli import invoke
from dumbbell.engines.registry import engine
from dumbbell.errors import InputError, Place, Problem, ScenarioError
from dumbbell.plan.expand import expand
from dumbbell.scenario.file.loading import load, read
from dumbbell.studies.cells import cells, varied
from dumbbell.studies.planning import Planner
from dumbbell.studies.prepared import prepared

LINES = BASE.count("\n")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.toml").write_text(BASE)


def problem_of(*overrides: str, more: str = "") -> Problem:
    Path("my.toml").write_text(BASE + more)
    with pytest.raises(ScenarioError) as caught:
        load("my.toml", overrides)
    return caught.value.problems[0]


def test_of_a_value_that_is_wrong() -> None:
    found = problem_of(more='cc = { name = "bbr3", parameters = { bta = 1 } }\n')
    assert found.key == "flows.0.cc.parameters.bta"
    assert found.place == Place("my.toml", LINES + 1, 38, 7)
    assert found.what == f"my.toml:{LINES + 1}: {found.key} = 1: {found.wrong}"


def test_of_a_key_that_is_missing_it_is_the_table() -> None:
    found = problem_of(more="[[events]]\nup = false\n")
    assert (found.key, found.place) == ("events.0.at", Place("my.toml", LINES + 1, 1, 10))


def test_of_the_syntax() -> None:
    found = problem_of(more="cc = bbr\n")
    assert (found.key, found.place) == ("", Place("my.toml", LINES + 1, 6, 1))
    found = problem_of(more='cc = "bbr')
    assert found.place == Place("my.toml", LINES + 1, 10, 0)


@pytest.mark.parametrize(
    ("text", "key", "wrong"),
    [
        ("topology.bottleneck.rate=50", "topology.bottleneck.rate", "no unit"),
        ("flows.0.cc", "flows.0.cc", "no value"),
        ("flows.7.cc=bbr", "flows.7", "flows has no item 7"),
        ("name.first=x", "name.first", "cannot set name.first"),
        ("hosts.sysctl.net.ipv4.x=[1]", 'hosts.sysctl."net.ipv4.x"', "not a text"),
    ],
)
def test_of_an_option(text: str, key: str, wrong: str) -> None:
    found = problem_of(text)
    assert (found.place, found.key, found.wrong) == (Place(option=f"--set {text}"), key, wrong)


@pytest.mark.parametrize(
    ("text", "wrong"), [("flows.0.cc", "no values"), ("flows.0.cc=bbr,a b", "not a name"), ("seed=1,2", "")]
)
def test_of_what_is_varied(text: str, wrong: str) -> None:
    with pytest.raises(InputError) as caught:
        planned(varied(read("my.toml"), [text], None))
    (found,) = caught.value.problems
    assert found.place == Place(option=f"--vary {text}")
    assert found.wrong.startswith(wrong)


@pytest.mark.parametrize(
    ("table", "piece"),
    [
        ('[sweep]\n"flows.0.cc" = ["bbr", "a b"]', '"a b"'),
        ('[[sweep.zip]]\n"flows.0.cc" = ["bbr", "a b"]', '"a b"'),
        ('[[sweep.cases]]\nname = "x"\n"flows.0.cc" = "a b"', '"flows.0.cc" = "a b"'),
        ('[sweep]\n"flows.0.port" = { linear = [65535, 65536], points = 2 }', '"flows.0.port" = { linear = '),
        ('[sweep]\n"flows.0.cc" = []', '"flows.0.cc" = []'),
        ('[[expect]]\nmetric = "goodput"', "[[expect]]"),
        ('[[expect]]\nmetric = "goodput"\nwhere = { x = 1 }\nmin = 1', "x = 1"),
        ('repeat = { until = "5" }', 'until = "5"'),
    ],
)
def test_of_a_study_s_file(table: str, piece: str) -> None:
    text = f"{table}\n{BASE}" if table.startswith("repeat") else f"{BASE}\n{table}\n"
    Path("my.toml").write_text(text)
    with pytest.raises(ScenarioError) as caught:
        planned(read("my.toml"))
    (found,) = caught.value.problems
    assert found.key
    assert found.place is not None
    assert found.place.file == "my.toml"
    assert found.place.line
    assert found.place.column
    assert text.splitlines()[found.place.line - 1][found.place.column - 1 :].startswith(piece)


def planned(draft: Any) -> None:
    prepared(draft)
    planner = Planner(draft, 1, engine("simulate"), "", asks=False)
    for cell in cells(load(draft.data).sweep):
        planner.scenario(cell)


@pytest.mark.parametrize(
    ("name", "more", "key"),
    [
        ("simulate", 'cc = "vegaz"', "flows.0.cc"),
        ("simulate", 'command = "true"', "flows.0.command"),
        ("simulate", '[hosts]\nsysctl = { "net.ipv4.tcp_wmem" = "1 2 3" }', 'hosts.sysctl."net.ipv4.tcp_wmem"'),
        ("emulate", 'cc = "vegaz"', "flows.0.cc"),
        ("emulate", 'command = "no-such-program"', "flows.0.command"),
        ("emulate", '[hosts]\nh1.sysctl = { "net.nonsense" = 1 }', 'hosts.h1.sysctl."net.nonsense"'),
        ("emulate", "[emulate]\ncpus = 5000", "emulate.cpus"),
    ],
)
def test_of_what_an_engine_refuses(name: str, more: str, key: str) -> None:
    Path("my.toml").write_text(f"{BASE}{more}\n")
    scenario = load("my.toml")
    (found,) = engine(name).check(scenario, expand(scenario))
    assert found.key == key
    assert found.place is not None
    assert (found.place.file, found.place.line) == ("my.toml", LINES + 1 + more.count("\n"))


def test_json_carries_the_fields(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["plan", "my.toml", "--set", "flows.0.to=h3", "--json"]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("error: --set flows.0.to=h3: unknown host\n")
    assert json.loads(printed.out) == {
        "error": {
            "exit_code": 2,
            "problems": [
                {
                    "what": "--set flows.0.to=h3: unknown host",
                    "why": "expected one of h1, h2",
                    "hint": "",
                    "wrong": "unknown host",
                    "key": "flows.0.to",
                    "place": {
                        "file": None, "line": None, "column": None, "length": None, "option": "--set flows.0.to=h3"
                    },
                }
            ],
        }
    }  # fmt: skip
