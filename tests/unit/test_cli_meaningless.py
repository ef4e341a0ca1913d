"""Options and values without a meaning are refused, and near misses get the word that was meant."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from refused import BASE

from dumbbell.cli import invoke
from dumbbell.errors import Foreseen


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.toml").write_text(BASE)


def error(capsys: pytest.CaptureFixture[str], *args: str) -> list[str]:
    assert invoke(args) == 2
    return capsys.readouterr().err.splitlines()


SIMULATE = ("run", "my.toml", "--engine", "simulate", "--quiet")


@pytest.mark.parametrize(
    ("options", "first"),
    [
        (["--repetition", "3"], "error: --repetition without --cell"),
        (["--jobs", "3"], "error: --jobs applies to studies"),
        (["--no-redo"], "error: --no-redo applies to studies"),
        (["--no-redo", "--repeat", "2"], "error: --no-redo applies to runs in real time"),
        (["--suspect", "--repeat", "2"], "error: --suspect applies to runs in real time"),
        (["--suspect", "--repeat", "2", "--cell", "0"], "error: --suspect beside --cell"),
        (["--vary", "seed=1,1"], "error: --vary seed=1,1: a seed makes a repetition, not a cell"),
        (
            ["--vary", "duration=1 s,2 s,1 s"],
            'error: --vary duration=1 s,2 s,1 s: sweep.duration.2 = "1 s": listed twice',
        ),
    ],
)
def test_options_that_mean_nothing(options: list[str], first: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert error(capsys, *SIMULATE, *options)[0] == first


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("report", ["--reference", "x"]),
        ("report", ["--confidence", "90"]),
        ("report", ["--interval", "t"]),
        ("compare", ["--confidence", "90"]),
        ("compare", ["--metric", "goodput"]),
    ],
)
def test_options_of_studies_are_refused_for_runs(
    verb: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke([*SIMULATE, "--set", "duration=100 ms"]) == 0
    (run,) = (str(path) for path in Path("runs").glob("base-*"))
    capsys.readouterr()
    runs = [run, run] if verb == "compare" else [run]
    assert error(capsys, verb, *runs, *options) == [
        f"error: {options[0]} applies to studies",
        f"  {run} is a run",
        f"hint: omit {options[0]}",
    ]


@pytest.mark.parametrize("bounds", ['min = "9 Mbit/s"\nmax = "3 Mbit/s"', 'within = ["9 Mbit/s", "3 Mbit/s"]'])
def test_bounds_that_nothing_meets(bounds: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("my.toml").write_text(f'{BASE}[[expect]]\nmetric = "goodput"\n{bounds}\n')
    said = error(capsys, *SIMULATE)
    assert said[0].startswith("error: my.toml:")
    assert said[0].endswith('"3 Mbit/s": below the lower bound: no value is within')
    assert said[1] == "  expected at least 9 Mbit/s"


@pytest.mark.parametrize(
    ("given", "place", "hint"),
    [
        ("topology.botleneck.rate=1 Mbit/s", "topology.botleneck: unknown key", "did you mean bottleneck?"),
        ("flows.0.arrivals=poison", "unknown", 'did you mean "poisson"?'),
        ("topology.bottleneck.rate=10 mbit", "unknown unit mbit", 'a rate is per second: write "10 Mbit/s"'),
        ("duration=1.5 hours", "unknown unit hours", '1.5 hours is "90 min"'),
        ("foo=1", "unknown key", None),
        ("topology.hosts.h1.x=1", "topology.hosts: unknown key", "hosts belongs in a table of its own: [hosts]"),
        ("topology.events=x", "unknown key", "events belongs in a table of its own: [[events]]"),
    ],
)
def test_near_misses(given: str, place: str, hint: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    said = error(capsys, "plan", "my.toml", "--set", given)
    assert said[0] == f"error: --set {given}: {place}"
    assert hint is None or said[-1] == f"hint: {hint}"


@pytest.mark.parametrize(("name", "meant"), [("CUBIC", "cubic"), ("bbrv3", "bbr3")])
@pytest.mark.parametrize("engine", ["simulate", "emulate"])
def test_near_misses_of_algorithms(name: str, meant: str, engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["plan", "my.toml", "--engine", engine, "--set", f"flows.0.cc={name}"]) == 0
    assert f"did you mean {meant}?" in capsys.readouterr().err


def test_a_value_of_a_sweep_is_refused_at_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    Path("my.toml").write_text(f'{BASE}[sweep]\n"topology.rtt" = ["10 ms", "1 hour"]\n')
    assert error(capsys, *SIMULATE)[0] == 'error: my.toml:16: topology.rtt = "1 hour": unknown unit hour'
    vary = "topology.rtt=10 ms,1 hour"
    assert error(capsys, *SIMULATE, "--vary", vary)[0].startswith(
        f'error: --vary {vary}: topology.rtt = "1 hour": unknown'
    )


@pytest.mark.parametrize("table", ["[[report.plots]]", "[[expect]]\nmin = 1"])
def test_plan_refuses_metrics_as_run_does(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("my.toml").write_text(f'{BASE}{table}\nmetric = "speed"\n')
    for verb in ("plan", "run"):
        assert invoke([verb, "my.toml", "--vary", "flows.0.cc=cubic,reno"]) == 2
        assert 'metric = "speed": unknown metric' in capsys.readouterr().err


def test_plan_refuses_what_the_engine_of_a_study_lacks_as_run_does(capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for verb in ("plan", "run"):
        assert invoke([verb, "my.toml", "--engine", "simulate", "--vary", "flows.0.cc=cubic,illinois"]) == 2
        said.append([line for line in capsys.readouterr().err.splitlines() if "checking" not in line])
    assert said[0] == said[1]
    assert said[0][0] == 'error: sweep flows.0.cc="illinois": it can\'t be simulated'


def test_a_warning_tells_of_a_value_that_every_cell_replaces() -> None:
    with pytest.warns(Foreseen, match=r"--set flows.0.cc=reno is never used: the study varies this key"):
        assert invoke(["plan", "my.toml", "--set", "flows.0.cc=reno", "--vary", "flows.0.cc=cubic,bbr"]) == 0


def test_plan_shows_the_cells_of_a_study(capsys: pytest.CaptureFixture[str]) -> None:
    args = ["plan", "my.toml", "--vary", "flows.0.cc=cubic,bbr", "--vary", "duration=1 s,2 s", "--repeat", "5"]
    assert invoke(args) == 0
    lines = capsys.readouterr().out.splitlines()
    size = "4 cells x 5 repetitions x up to 2 s = 20 runs, 30 s of traffic"
    assert re.fullmatch(rf"{size}; \d+ at a time: about \d+ s \(emulate\)", lines[0])
    assert lines[1].startswith("each entry of flows starts up to 10 ms later, by the seed. Nothing else differs")
    assert lines[5].split() == ["0", '"cubic"', '"1', 's"']
    assert invoke([*args, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["runs"], told["traffic_s"], told["varied"][3]) == (20, 30, {"flows.0.cc": "bbr", "duration": "2 s"})
    assert told["engine"] == "emulate"
    assert told["forecast_s"] > 0
    assert invoke([*args, "--engine", "simulate"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"{size} (simulate)"


def test_plan_checks_a_sample_of_very_many_cells_and_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dumbbell.studies.cells.MOST_SAMPLED", 4)
    args = ["plan", "my.toml", "--vary", "duration=1 s,2 s", "--vary", "topology.rtt=1 ms,2 ms,3 ms,4 ms,5 ms,6 ms"]
    assert invoke(args) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("12 cells x 1 repetition x up to 2 s = 12 runs, 18 s of traffic")
    assert lines[1] == "checked 8 of 12 cells, with each value in at least one; dumbbell run checks all"
    assert invoke([*args, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["cells"], told["checked"], told["traffic_s"], len(told["varied"])) == (12, 8, 18, 12)
    assert error(capsys, *args[:-1], "topology.rtt=1 ms,2 ms,3 ms,4 ms,5 ms,6 hours")[0].endswith("unknown unit hours")


@pytest.mark.parametrize("verb", ["run", "plan", "report"])
def test_help_is_short_too_and_shows_no_types_of_python(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([verb, "-h"]) == 0
    said = capsys.readouterr().out
    assert "--help" in said
    assert "<bool>" not in said
    assert "<str>" not in said
