"""What is written into a run directory gives the same run again."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from dumbbell.plan import expand
from dumbbell.scenario import Scenario, bundled, load
from dumbbell.scenario.quantities import Rate
from dumbbell.scenario.writing import to_toml

ALL = {
    "name": "all",
    "duration": "1 s",
    "topology": {
        "kind": "dumbbell",
        "pairs": 2,
        "rtt": ["20 ms", "30.5 ms"],
        "bottleneck": {
            "rate": "10 Mbit/s",
            "loss": {"rate": "1 %", "position": "after-queue"},
            "reverse": {"rate": "unlimited"},
        },
    },
    "flows": [
        {"from": "s1", "to": "r1", "ecn": True, "bytes": None},
        {"from": "s2", "to": "r2", "protocol": "udp", "rate": Rate(1_000_000)},
        {"from": "s2", "to": "r2", "command": "echo \"'{server}'\" \\\n"},
    ],
    "hosts": {"sysctl": {"net.ipv4.tcp_sack": 0}, "s1": {"sysctl": {"net.ipv4.tcp_rmem": "4096 131072 8388608"}}},
}


def same(scenario: Scenario, tmp_path: Path) -> str:
    """The text, read back from a file, gives the same plan."""
    file = tmp_path / "scenario.toml"
    file.write_text(to_toml(scenario))
    assert expand(load(file)) == expand(scenario)
    return file.read_text()


@pytest.mark.parametrize("name", bundled.names())
def test_without_overrides_the_file_is_kept_as_it_is(name: str, tmp_path: Path) -> None:
    assert same(load(name), tmp_path) == bundled.text(name)


def test_overrides_are_set_in_place_and_comments_stay(tmp_path: Path) -> None:
    text = same(load("bbr-vs-cubic", ["seed=7", "flows.1.cc=reno", "topology.bottleneck.rate=5 Mbit/s"]), tmp_path)
    assert text.startswith(bundled.text("bbr-vs-cubic").splitlines()[0])
    data = tomllib.loads(text)
    assert (data["seed"], data["flows"][1]["cc"]) == (7, "reno")


@pytest.mark.parametrize(
    "overrides",
    [
        ["record.packets=false", "record.sample_interval=5 ms"],
        ["hosts.sysctl.net.ipv4.tcp_sack=0", "hosts.s1.sysctl.net.ipv4.tcp_sack=1"],
        ["topology.bottleneck.reverse.loss=1 %", "topology.bottleneck.reverse.rate=unlimited"],
        ['topology.rtt=["20 ms", "80 ms"]'],
        ['topology.bottleneck={ rate = "5 Mbit/s" }'],
        {"flows.0.bytes": "1 MB", "topology.bottleneck.rate": Rate(5_000_000)},
    ],
)
def test_any_override_gives_the_same_plan(overrides: Any, tmp_path: Path) -> None:
    text = same(load("bbr-vs-cubic", overrides), tmp_path)
    assert text != bundled.text("bbr-vs-cubic")


def test_a_dict_becomes_toml(tmp_path: Path) -> None:
    same(load(ALL), tmp_path)


def test_overrides_of_a_scenario_that_was_loaded_before_are_kept(tmp_path: Path) -> None:
    once = load("bbr-vs-cubic", ["seed=7"])
    same(load(once, ["duration=5 s"]), tmp_path)
