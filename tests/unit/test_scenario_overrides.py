from typing import Any

import pytest

from dumbbell.errors import InputError, ScenarioError
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.file.overrides import apply
from dumbbell.scenario.traffic.kinds.tcp import TcpFlow


def overridden(*texts: str) -> dict[str, Any]:
    data: dict[str, Any] = {"flows": [{"cc": "reno"}, {"cc": "reno"}], "topology": {"rtt": "30 ms"}}
    apply(data, texts, "my.toml")
    return data


def test_values_are_toml_or_else_text() -> None:
    data = overridden(
        "flows.1.cc=bbr",
        "topology.bottleneck.rate=50 Mbit/s",
        'topology.rtt=["10 ms", "20 ms"]',
        "seed=7",
        "record.packets=false",
        'name="quoted"',
        "description=a = b",
    )
    assert data == {
        "flows": [{"cc": "reno"}, {"cc": "bbr"}],
        "topology": {"rtt": ["10 ms", "20 ms"], "bottleneck": {"rate": "50 Mbit/s"}},
        "seed": 7,
        "record": {"packets": False},
        "name": "quoted",
        "description": "a = b",
    }


@pytest.mark.parametrize("key", ['hosts.sysctl."net.ipv4.tcp_sack"', "hosts.sysctl.net.ipv4.tcp_sack"])
def test_the_shell_may_eat_a_sysctls_quotes(key: str) -> None:
    assert overridden(f"{key}=0")["hosts"] == {"sysctl": {"net.ipv4.tcp_sack": 0}}


def test_a_value_cannot_smuggle_in_other_keys() -> None:
    assert overridden("seed=1\nname='x'")["seed"] == "1\nname='x'"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "flows.1.cc",
            '--set flows.1.cc: no value\n  expected key=value\nhint: write --set topology.bottleneck.rate="50 Mbit/s"',
        ),
        (
            "a b=1",
            '--set a b=1: "a b" is not a key\n  expected a dotted key\n'
            'hint: write --set topology.bottleneck.rate="50 Mbit/s"',
        ),
        (
            "flows.2.cc=bbr",
            "--set flows.2.cc=bbr: flows has no item 2\n"
            "  flows is a list of 2 in my.toml, counted from 0\n"
            "hint: write flows.0 for the first",
        ),
        (
            "flows.cc=bbr",
            "--set flows.cc=bbr: flows has no item cc\n"
            "  flows is a list of 2 in my.toml, counted from 0\n"
            "hint: write flows.0 for the first",
        ),
        (
            "topology.rtt.0=10 ms",
            "--set topology.rtt.0=10 ms: cannot set topology.rtt.0\n"
            '  topology.rtt is "30 ms" in my.toml, which has no parts\n'
            "hint: set topology.rtt as a whole",
        ),
    ],
)
def test_refusals(text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        overridden(text)
    assert str(caught.value) == expected
    assert caught.value.exit_code == 2


def test_a_scenario_takes_texts_or_a_dict() -> None:
    assert str(load("bbr-vs-cubic", ["duration=5 s"]).duration) == "5 s"
    assert str(load("bbr-vs-cubic", {"duration": "5 s", "seed": 3}).duration) == "5 s"
    flow = load(load("bbr-vs-cubic"), {"flows.1.cc": "reno"}).flows[1]
    assert isinstance(flow, TcpFlow)
    assert str(flow.cc) == "reno"


def test_a_bad_value_is_blamed_on_its_override() -> None:
    with pytest.raises(ScenarioError) as caught:
        load("bbr-vs-cubic", ["flows.1.start=30 s", "topology.bottleneck.rate=50"])
    assert [problem.what for problem in caught.value.problems] == ["--set topology.bottleneck.rate=50: no unit"]
    with pytest.raises(ScenarioError) as caught:
        load("bbr-vs-cubic", {"flows.1.start": "30 s"})
    assert caught.value.what == 'override flows.1.start="30 s": after the end of the run'


def test_times_that_must_follow_another_duration_are_named_with_values_that_do() -> None:
    with pytest.raises(ScenarioError) as caught:
        load("bbr-generations", ["duration=8 s"])
    hints = [problem.hint for problem in caught.value.problems]
    assert hints == [
        'start does not follow the duration: add --set flows.2.start="4 s"',
        'start does not follow the duration: add --set flows.3.start="6 s"',
    ]
    added = [hint.rpartition("--set ")[2].replace('"', "") for hint in hints]
    assert str(load("bbr-generations", ["duration=8 s", *added]).flows[3].start) == "6 s"


def test_a_stop_must_follow_another_duration_too() -> None:
    scenario = load("bbr-vs-cubic", {"flows.1.stop": "15 s"}).model_dump(mode="json", by_alias=True, exclude_unset=True)
    with pytest.raises(ScenarioError) as caught:
        load(scenario, {"duration": "9 s"})
    assert caught.value.hint == 'stop does not follow the duration: add --set flows.1.stop="9 s"'


def test_loading_leaves_a_dict_as_it_was() -> None:
    scenario = load("bbr-vs-cubic").model_dump(mode="json", by_alias=True, exclude_unset=True)
    load(scenario, {"flows.1.cc": "reno"})
    assert scenario["flows"][1]["cc"] == "bbr"
