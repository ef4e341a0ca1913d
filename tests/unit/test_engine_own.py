"""A new engine is a package and a line in the registry: no other code knows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fake_engine
import pytest
import tomlkit
from graphs import transparent

import dumbbell
from dumbbell.analysis.verdict import RULES
from dumbbell.cli import invoke
from dumbbell.engines import registry
from dumbbell.engines.events import Event
from dumbbell.engines.orders import ChangeLink, Stop
from dumbbell.errors import InputError
from dumbbell.pipeline.run import run as run_once


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_ENGINES", dict(registry._ENGINES))
    registry.register("toy", "nothing at all", "toy_engine")


def test_it_runs_is_judged_and_reported(tmp_path: Path) -> None:
    run = dumbbell.run(fake_engine.scenario(), engine="toy", directory=tmp_path)
    assert (run.verdict, run.engine) == ("valid", "toy")
    assert run.manifest["cost"] == {"unit": "toys"}
    assert "toy" in run.report().read_text()
    assert dumbbell.open(run.directory).summary == run.summary


def test_only_rules_with_their_evidence_judge_it(tmp_path: Path) -> None:
    run = dumbbell.run(fake_engine.scenario(), engine="toy", directory=tmp_path, report=False)
    judged = {check["check"] for check in run.summary["checks"]}
    assert judged == {rule.name for rule in RULES if rule.needs <= {"traffic", "conservation"}}


def test_it_runs_a_study(tmp_path: Path) -> None:
    study = dumbbell.run(fake_engine.scenario(), engine="toy", repeat=2, directory=tmp_path)
    assert study.runs.height == 2
    assert "toy" in study.report().read_text()


def test_it_is_an_option_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tmp_path / "mine.toml"
    scenario.write_text(tomlkit.dumps(fake_engine.scenario()))
    assert invoke(["run", str(scenario), "--engine", "toy", "--output", str(tmp_path / "runs")]) == 0
    assert "verdict: valid" in capsys.readouterr().out
    assert "toy: nothing at all." in registry.described()


def test_what_it_cannot_do_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a toy has no reno"):
        dumbbell.run(fake_engine.scenario(), ["flows.0.cc=reno"], tmp_path, engine="toy")


def test_orders_are_obeyed_or_answered(tmp_path: Path) -> None:
    told: list[Event] = []

    def order(live: Any) -> None:
        live.order(ChangeLink(transparent("bottleneck", "h1", "h2", 0)))
        live.order(Stop())

    run_once(fake_engine.scenario(), (), tmp_path, told.append, "toy", report=False, on_live=order)
    assert [event["event"] for event in told if event["event"] in ("refused", "stopping")] == ["refused", "stopping"]
    refused = next(event for event in told if event["event"] == "refused")
    assert (refused["what"], refused["why"]) == ("changing link bottleneck", "a toy has no links")
