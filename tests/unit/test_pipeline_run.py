"""`dumbbell.run` from scenario to run directory, with a fake lab."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import known_run
import pytest

import dumbbell
import dumbbell.report
from dumbbell import records
from dumbbell.engines.emulate.engine import EmulateEngine
from dumbbell.engines.events import Event
from dumbbell.engines.protocol import Outcome
from dumbbell.engines.realm.conductor import Conductor
from dumbbell.errors import InputError, Interrupted, RunFailed, ScenarioError
from dumbbell.pipeline import compose
from dumbbell.pipeline.run import execute
from dumbbell.plan.types import Plan

FAKE = Path(__file__).with_name("fake_helper.py")
SCENARIO = """\
name = "synthetic"   # two flows
duration = "2 s"
[topology]
kind = "path"
rtt = "20 ms"
bottleneck = { rate = "10 Mbit/s", buffer = "1 bdp" }
[[flows]]
from = "h1"
to = "h2"
cc = "cubic"
[[flows]]
from = "h1"
to = "h2"
cc = "bbr"
"""


class FakeEngine(EmulateEngine):
    """Executes the plan that the fake lab's records belong to."""

    def __init__(self, mode: str) -> None:
        super().__init__((sys.executable, str(FAKE), mode, str(known_run.written())))

    def check(self, scenario: Any, plan: Any, text: str | None = None) -> list[Any]:
        return []

    def prepare(self, plan: Plan, directory: Path, lock: int) -> Conductor:
        known_run.write(directory, {"plan.json": known_run.PLAN})
        return super().prepare(known_run.plan(), directory, lock)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "synthetic.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture(autouse=True)
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports have tests of their own."""
    monkeypatch.setattr(dumbbell.Run, "report", lambda run: run.directory / "report.html")


def run(scenario: Path, mode: str, **options: Any) -> dumbbell.Run:
    options = {"directory": scenario.parent / "runs"} | options
    return dumbbell.run(scenario, engine=FakeEngine(mode), **options)


def names(scenario: Path) -> list[str]:
    return sorted(path.name for path in (scenario.parent / "runs").iterdir() if path.name != ".lock")


def test_an_unknown_option_is_refused_before_anything_begins(tmp_path: Path) -> None:
    options: dict[str, Any] = {"engin": "simulate"}
    with pytest.raises(TypeError, match="unexpected keyword argument 'engin'"):
        dumbbell.run("single-flow", directory=tmp_path, **options)
    assert not list(tmp_path.iterdir())


def test_a_finished_run(scenario: Path) -> None:
    finished = run(scenario, "good", overrides=["seed=7"])
    assert finished.directory.name == f"synthetic-{finished.run_id}"
    assert finished.verdict == "valid", finished.summary["reasons"]
    manifest = finished.manifest
    assert (manifest["status"], manifest["overrides"]) == ("complete", ["seed=7"])
    assert manifest["scenario_source"] == str(scenario)
    assert finished.repeat == f"dumbbell run {finished.directory}/scenario.toml"
    assert manifest["cost"]["emulator"] == pytest.approx(0.15)
    assert manifest["cost"]["logging"] == pytest.approx(0.015)
    assert manifest["machine"]["kernel"] == os.uname().release
    assert names(scenario) == [finished.directory.name]


def test_a_rerun_keeps_the_former(scenario: Path) -> None:
    first = run(scenario, "good")
    second = run(scenario, "good")
    assert first.run_id == second.run_id
    assert names(scenario) == [f"synthetic-{first.run_id}", f"synthetic-{first.run_id}.1"]


def test_another_seed_is_another_run(scenario: Path) -> None:
    run(scenario, "good")
    run(scenario, "good", overrides={"seed": 2})
    assert len(names(scenario)) == 2


def test_the_kept_scenario_repeats_the_run(scenario: Path) -> None:
    """The scenario's source may be anything, and may change afterwards."""
    import tomllib

    plain = run(scenario, "good")
    assert plain.scenario_text == SCENARIO
    for source in (scenario, tomllib.loads(SCENARIO)):
        first = dumbbell.run(
            source, ["seed=7", "flows.1.start=1 s"], scenario.parent / "runs", engine=FakeEngine("good")
        )
        again = run(first.directory / "scenario.toml", "good", directory=scenario.parent / "again")
        assert again.run_id == first.run_id != plain.run_id


def test_a_trace_goes_with_the_run(scenario: Path) -> None:
    """Into the run's identity and into its directory, so that it repeats without the file that it came from."""
    trace = scenario.with_name("cell.trace")
    trace.write_text("1\n2\n")
    scenario.write_text(SCENARIO.replace('rate = "10 Mbit/s"', 'rate = { trace = "cell.trace" }'))
    first = run(scenario, "good")
    trace.write_text("1\n3\n")
    assert run(scenario, "good").run_id != first.run_id
    trace.unlink()
    again = run(first.directory / "scenario.toml", "good", directory=scenario.parent / "again")
    assert again.run_id == first.run_id
    assert (again.directory / "traces" / "cell.trace").read_text() == "1\n2\n"


def test_a_failed_run_is_kept_and_counted(scenario: Path) -> None:
    with pytest.raises(RunFailed, match="the emulator died") as failure:
        run(scenario, "measured-then-failed")
    (kept,) = names(scenario)
    assert kept.endswith(".failed-1")
    assert kept in failure.value.why
    broken = dumbbell.open(scenario.parent / "runs" / kept, incomplete=True)
    assert broken.samples.height == 400
    assert "signal 9" in broken.manifest["reason"]
    assert run(scenario, "good").summary["attempts"] == {"failed": 1, "excluded": 0}


def test_an_interrupted_run_is_kept_with_its_figures(scenario: Path) -> None:
    def interrupt(event: Event) -> None:
        if event["event"] == "progress":
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted) as stopped:
        run(scenario, "until-stopped", on_event=interrupt)
    (kept,) = names(scenario)
    assert kept in stopped.value.why
    partial = dumbbell.open(scenario.parent / "runs" / kept, incomplete=True)
    assert partial.manifest["status"] == "interrupted"
    assert [reason["check"] for reason in partial.summary["reasons"]] == ["complete"]


def test_an_interrupted_run_with_many_records_is_kept_at_once(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To judge them takes longer than somebody who stops a run wants to wait."""
    events = []

    def interrupt(event: Event) -> None:
        events.append(event["event"])
        if event["event"] == "progress":
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("dumbbell.pipeline.run.JUDGED_AT_ONCE", 1000)
    with pytest.raises(Interrupted) as stopped:
        run(scenario, "until-stopped", on_event=interrupt)
    (kept,) = names(scenario)
    assert kept in stopped.value.why
    assert "it is not judged" in stopped.value.why
    assert "composing" not in events
    partial = scenario.parent / "runs" / kept
    assert dumbbell.open(partial, incomplete=True).samples.height
    assert not (partial / "summary.json").exists()


def test_an_interrupt_outside_the_engine_keeps_the_run_too(scenario: Path) -> None:
    def interrupt(event: Event) -> None:
        if event["event"] == "composing":
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        run(scenario, "good", on_event=interrupt)
    assert names(scenario)[0].endswith(".failed-1")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("owner", "name"), [(compose, "check_all"), (records.directory, "sync_tree"), (dumbbell.Run, "report")]
)
def test_an_interrupt_once_the_traffic_is_over_changes_nothing(
    scenario: Path, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, number: signal.Signals
) -> None:
    """While the run is judged, gets its name, and its report is written."""
    work, came = getattr(owner, name), []

    def interrupted(*given: Any) -> Any:
        came.append(number)
        os.kill(os.getpid(), number)
        return work(*given)

    monkeypatch.setattr(owner, name, interrupted)
    finished = run(scenario, "good")
    assert came == [number]
    assert names(scenario) == [finished.directory.name]
    assert finished.manifest["status"] == "complete"
    assert finished.verdict == "valid"


def test_a_second_interrupt_while_the_run_is_judged_ends_it(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(evidence: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("it goes on")

    monkeypatch.setattr("dumbbell.pipeline.compose.check_all", interrupted)
    with pytest.raises(Interrupted) as stopped:
        run(scenario, "good")
    (kept,) = names(scenario)
    assert kept.endswith(".failed-1")
    assert kept in stopped.value.why
    assert dumbbell.open(scenario.parent / "runs" / kept, incomplete=True).manifest["status"] == "interrupted"


def test_a_bug_keeps_what_was_measured(scenario: Path) -> None:
    def fail(event: Event) -> None:
        if event["event"] == "composing":
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(scenario, "good", on_event=fail)
    (kept,) = names(scenario)
    assert dumbbell.open(scenario.parent / "runs" / kept, incomplete=True).samples.height == 400


def test_records_of_another_build_are_told_and_kept(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = {key: value for key, value in known_run.LAB.items() if key != "cpu"}
    write = known_run.write

    def older(engine: FakeEngine, plan: Any, directory: Path, *rest: Any) -> Outcome:
        outcome = execute(engine, plan, directory, *rest)
        write(directory, {"lab.json": lab})
        return outcome

    monkeypatch.setattr("dumbbell.pipeline.run.execute", older)
    monkeypatch.setattr("dumbbell.records.manifest.core_version", lambda: "0.0.9")
    monkeypatch.setattr("dumbbell.records.manifest.tool_version", lambda: "0.1.0")
    with pytest.raises(RunFailed) as failure:
        run(scenario, "good")
    (kept,) = names(scenario)
    for said in ("KeyError: 'cpu' (in steal, timing.py", "its compiled core of version 0.0.9", kept):
        assert said in failure.value.why
    assert "make build" in failure.value.hint
    assert (scenario.parent / "runs" / kept / "samples.parquet").exists()


def test_bad_input_starts_nothing(scenario: Path) -> None:
    with pytest.raises(InputError):
        run(scenario, "good", overrides=["duration=-1 s"])
    assert not (scenario.parent / "runs").exists()


def test_what_the_engine_refuses_starts_nothing(scenario: Path) -> None:
    with pytest.raises(ScenarioError, match="no-such-cc"):
        dumbbell.run(scenario, ["flows.0.cc=no-such-cc"], scenario.parent / "runs")
    assert not (scenario.parent / "runs").exists()
