"""Repetitions differ: their flows start at other times where nothing else is random. Equal ones count once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_engine import FakeEngine, scenario

import dumbbell
from dumbbell.cli import invoke
from dumbbell.cli.study import show
from dumbbell.engines.registry import engine
from dumbbell.errors import ScenarioError
from dumbbell.pipeline.planned import planned
from dumbbell.plan.identity import run_id
from dumbbell.scenario import load
from dumbbell.scenario.file.loading import read, seeded
from dumbbell.scenario.resolve.chance import is_random, tied
from dumbbell.statistics.cells import summaries
from dumbbell.studies.cells import varied
from dumbbell.studies.planning import RECORD, Planner
from dumbbell.studies.single import single

MS = 1_000_000
BOTTLENECK = "topology.bottleneck"
RANDOM: list[dict[str, Any]] = [
    {f"{BOTTLENECK}.loss": "1 %"},
    {f"{BOTTLENECK}.jitter": "1 ms"},
    {f"{BOTTLENECK}.queue": "red"},
    {f"{BOTTLENECK}.slots": {"min_interval": "1 ms", "max_interval": "2 ms"}},
    {"events": [{"at": "1 s", "link": "bottleneck", "loss": "1 %"}]},
    {"flows.0.connections": 5, "flows.0.gap": "10 ms", "flows.0.arrivals": "poisson"},
]
FIXED: list[dict[str, Any]] = [
    {f"{BOTTLENECK}.loss": "0 %"},
    {f"{BOTTLENECK}.loss": {"model": "periodic", "every": 100}},
    {f"{BOTTLENECK}.queue": "codel"},
    {f"{BOTTLENECK}.slots": {"interval": "1 ms"}},
    {"flows.0.connections": 5, "flows.0.gap": "10 ms"},
]


@pytest.mark.parametrize("keys", [*RANDOM, *FIXED], ids=str)
def test_what_the_seed_decides_on(keys: dict[str, Any]) -> None:
    assert is_random(load(scenario(), keys)) == (keys in RANDOM)


def plans(repeat: int, **keys: Any) -> list[dumbbell.Plan]:
    planner = Planner(varied(read(scenario(), keys), None, repeat), repeat, engine("simulate"), "1")
    plan = planner.plan({})
    found = list(plan.read_all())
    assert plan.run_ids == tuple(run_id(one, "simulate", "1") for one in found) or len(found) < repeat
    return found


def test_flows_of_repetitions_start_up_to_10_ms_later() -> None:
    starts = [[flow.start_ns for flow in plan.flows] for plan in plans(4)]
    every = [start for some in starts for start in some]
    assert len(set(every)) == len(every) == 8
    assert all(0 <= start <= 10 * MS for start in every)
    assert [one.seed for one in plans(4)] == [1, 2, 3, 4]
    # A study of more repetitions has the same ones.
    assert [[flow.start_ns for flow in plan.flows] for plan in plans(5)][:4] == starts


def test_what_is_random_or_is_told_otherwise_stays() -> None:
    for repeat, keys in ((4, {"starts": "0 s"}), (4, {f"{BOTTLENECK}.loss": "1 %"}), (1, {})):
        assert [[flow.start_ns for flow in plan.flows] for plan in plans(repeat, **keys)] == [[0, 0]]
    late = plans(3, starts="1 s", **{f"{BOTTLENECK}.loss": "1 %"})
    assert max(flow.start_ns for plan in late for flow in plan.flows) > 100 * MS
    short = plans(3, duration="20 ms")
    assert max(flow.start_ns for plan in short for flow in plan.flows) <= 2 * MS
    with pytest.raises(ScenarioError, match=r"flows\.1 could start after its stop"):
        load(scenario(), {"starts": "1.5 s", "flows.1.start": "1 s"})


@pytest.mark.parametrize("keys", [{}, {"flows.0.connections": 3, "flows.0.gap": "10 ms"}], ids=str)
def test_a_repetition_is_the_run_that_its_scenario_gives_alone(keys: dict[str, Any]) -> None:
    """Plans of repetitions are made from one; each is what planning its scenario makes."""
    simulate = engine("simulate")
    draft = varied(read(scenario(), keys), {f"{BOTTLENECK}.buffer": ["1 bdp", "2 bdp"]}, 3)
    planner = Planner(draft, 3, simulate, "1")
    cell = {f"{BOTTLENECK}.buffer": "2 bdp"}
    found = planner.plan(cell)
    for repetition, plan in enumerate(found.read_all()):
        assert plan == planned(simulate, seeded(planner.scenario(cell), 1 + repetition))
        alone = load(single(draft, 1, repetition), RECORD)
        assert found.run_ids[repetition] == run_id(planned(simulate, alone), "simulate", "1")


def test_equal_repetitions_count_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The engine here gives the same figures for each seed."""
    vary = {"topology.rtt": ["20 ms", "30 ms"]}
    study = dumbbell.run(
        scenario(), {"starts": "0 s"}, tmp_path, engine=FakeEngine(), vary=vary, repeat=3, report=False
    )
    assert study.copies == {0: [2, 4], 1: [3, 5]}
    found = summaries(study, "goodput", "run")
    assert found["n"].to_list() == [1, 1]
    assert found["low"].null_count() == found["high"].null_count() == 2
    said = "In 2 of 2 cells all repetitions are equal and count as one run: the seed changes nothing."
    assert said in study.report().read_text()
    show(study, json=False)
    out = capsys.readouterr().out
    assert said in out
    assert out.count("3, all equal") == 2
    assert invoke(["status", str(study.directory)]) == 0
    assert said in capsys.readouterr().out


def test_repetitions_of_which_only_some_are_equal_all_count(tmp_path: Path) -> None:
    """By chance, several runs may lose no packet."""

    def change(plan: Any, files: Any) -> None:
        if plan.seed == 2:
            files["traffic.json"]["flows"][0]["received_bytes"] //= 2

    study = dumbbell.run(scenario(), directory=tmp_path, engine=FakeEngine(change=change), repeat=3, report=False)
    assert study.copies == {}
    assert summaries(study, "goodput", "run")["n"].to_list() == [3]
    assert "each with a seed of its own; flows start up to 10 ms later by it" in study.report().read_text()


def test_flows_of_which_the_order_decides_are_named() -> None:
    assert tied(load(scenario())) == ["f1", "f2"]
    for keys in (
        {"flows.1.start": "1 ms"},
        {"flows.1.cc": "cubic"},
        {"starts": "10 ms"},
        {f"{BOTTLENECK}.loss": "1 %"},
    ):
        assert tied(load(scenario(), keys)) == []


def test_cells_that_are_one_network_are_named_by_key_and_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        'name = "s"\nduration = "200 ms"\n[topology]\nkind = "path"\nrtt = "20 ms"\n'
        'bottleneck = { rate = "10 Mbit/s" }\n[[flows]]\nfrom = "h1"\nto = "h2"\n'
    )
    vary = [f'--vary={BOTTLENECK}.buffer="1 bdp","25 kB","0.01 bdp","0.02 bdp"', "--vary=flows.0.cc=cubic,reno"]
    assert invoke(["plan", str(path), *vary, "--repeat", "2"]) == 0
    out, error = capsys.readouterr()
    said = [
        f'warning: {BOTTLENECK}.buffer = "1 bdp" and "25 kB" make the same plan (cells 0 and 2; 1 and 3): ',
        f'warning: {BOTTLENECK}.buffer = "0.01 bdp" and "0.02 bdp" make the same plan (cells 4 and 6; 5 and 7): ',
    ]
    assert all(one in error for one in said)
    assert "each entry of flows starts up to 10 ms later, by the seed. Nothing else differs" in out
    # What the engine refuses anywhere, `plan` refuses, too; a kernel may be on another machine.
    asked = ["plan", str(path), *vary, "--set", "emulate.links=mininet"]
    assert invoke([*asked, "--engine", "simulate"]) == 2
    assert "a simulation has no kernel\n  in the cell" in capsys.readouterr().err
    assert invoke([*asked, "--engine", "emulate"]) == 0
