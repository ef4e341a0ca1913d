"""The scenario in a run directory gives the same run again."""

import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dumbbell.plan.expand import expand
from dumbbell.scenario import Scenario, bundled, load
from dumbbell.scenario.file.loading import checked, read
from dumbbell.scenario.file.writing import write
from dumbbell.units import Rate

TRACES = """\
# Two traces of one name.
name = "traces"
duration = "1 s"

[topology]
kind = "path"
rtt = "1 ms"

[topology.bottleneck]
rate = { trace = "a/cell.trace" } # a
loss = ["1 %", { model = "trace", file = "./lost.csv" }]
reverse = { rate = { trace = "b/cell.trace" } }

[[events]]
at = "500 ms"
rate = { trace = "b/cell.trace", opportunity = "3 kB" }

[[flows]]
from = "h1"
to = "h2"
"""

ALL = {
    "name": "all",
    "duration": "1 s",
    "topology": {
        "kind": "dumbbell",
        "pairs": 2,
        "rtt": ["20 ms", "30.5 ms"],
        "bottleneck": {
            "rate": {"steps": [["0 s", "10 Mbit/s"], ["1 s", "0 bit/s"]], "period": "2 s"},
            "queue": {"kind": "red", "min_th": "2 packets", "ecn": True},
            "jitter": "1 ms",
            "reorder": {"rate": "1 %", "gap": 5},
            "delay_line": "1000 packets",
            "duplicate": "0.1 %",
            "corrupt": "none",
            "mark": "1 %",
            "policer": {"rate": "1 Mbit/s", "burst": "30 kB"},
            "slots": {"interval": "2 ms", "packets": 32},
            "loss": [{"rate": "1 %", "position": "after-queue"}, {"model": "periodic", "every": 7}],
            "reverse": {"rate": "unlimited", "loss": {"model": "four-state", "p13": "1 %"}},
        },
    },
    "events": [
        {"at": "100 ms", "jitter": "none", "loss": "none", "policer": "none", "delay_line": "unlimited"},
        {"at": "200 ms", "link": "bottleneck-reverse", "down_for": "10 ms", "every": "100 ms"},
    ],
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
    write(scenario, tmp_path)
    assert expand(load(file)) == expand(scenario)
    return file.read_text()


@pytest.mark.parametrize("name", bundled.names())
def test_without_overrides_the_file_is_kept_as_it_is(name: str, tmp_path: Path) -> None:
    text = same(load(name), tmp_path)
    assert re.sub(r'"traces/(\w+\.trace)"', r'"\1"', text) == bundled.text(name)


def test_a_text_that_holds_more_than_the_scenario_is_not_kept(tmp_path: Path) -> None:
    """A study's base has no seed of its own, which its file may have."""
    file = tmp_path / "one.toml"
    file.write_text(bundled.text("bbr-vs-cubic").replace("\nseed = 1\n", "\nseed = 5\n"))
    assert load(file).seed == 5
    assert tomllib.loads(same(checked(read(file).without(["seed"])), tmp_path)).get("seed") is None


def test_a_scenario_that_is_loaded_again_keeps_what_was_set(tmp_path: Path) -> None:
    """Runs of a study are scenarios with values set, and copies; their files are not the study's."""
    known = load("bbr-vs-cubic", ["flows.1.cc=reno"])
    assert tomllib.loads(same(load(known), tmp_path))["flows"][1]["cc"] == "reno"
    named = load("bbr-vs-cubic").model_copy(update={"name": "other"})
    assert tomllib.loads(same(load(named), tmp_path))["name"] == "other"
    assert same(load(load("bbr-vs-cubic")), tmp_path) == bundled.text("bbr-vs-cubic")


def test_traces_go_with_the_scenario(tmp_path: Path) -> None:
    """Copied, under names of their own, and the paths rewritten; comments stay."""
    for folder, line in (("a", "5\n"), ("b", "7\n9\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "cell.trace").write_text(line)
    (tmp_path / "lost.csv").write_text("3\n")
    (tmp_path / "my.toml").write_text(TRACES)
    run = tmp_path / "run"
    run.mkdir()
    scenario = load(tmp_path / "my.toml", ["seed=7"])
    text = same(scenario, run)
    assert text.startswith("# Two traces of one name.\n")
    assert "seed = 7" in text
    assert {file.name: file.read_text() for file in (run / "traces").iterdir()} == {
        "cell.trace": "5\n",
        "cell-2.trace": "7\n9\n",
        "lost.csv": "3\n",
    }
    # The run repeats without the originals, and from there once more.
    shutil.rmtree(tmp_path / "a")
    again = tmp_path / "again"
    again.mkdir()
    assert same(load(run / "scenario.toml"), again) == text


def test_without_a_text_traces_are_copied_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("cell.trace").write_text("5\n")
    topology = {"kind": "path", "rtt": "1 ms", "bottleneck": {"rate": {"trace": "cell.trace"}}}
    scenario = load({"name": "x", "duration": "1 s", "topology": topology, "flows": [{"from": "h1", "to": "h2"}]})
    assert 'trace = "traces/cell.trace"' in same(scenario, tmp_path)


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
