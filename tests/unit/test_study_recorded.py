"""Studies whose runs keep their records, by an engine that writes known ones: order, what is kept, what is repeated."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fake_engine import FakeEngine, scenario

import dumbbell
from dumbbell.cli import invoke
from dumbbell.engines.events import Event
from dumbbell.errors import DamagedFile, DumbbellError, Foreseen, InputError, Interrupted, Problem
from dumbbell.plan import wire
from dumbbell.studies import recorded, shards
from dumbbell.studies.outcome import exit_code, failures
from dumbbell.studies.schedule import Schedule
from dumbbell.studies.status import status

RTTS = {"topology.rtt": ["20 ms", "30 ms", "40 ms"]}


def run(engine: FakeEngine, directory: Path, repeat: int = 2, **more: Any) -> dumbbell.Study:
    return dumbbell.run(scenario(), directory=directory, engine=engine, vary=RTTS, repeat=repeat, report=False, **more)


def parts(study: dumbbell.Study) -> list[Path]:
    return shards.folders(study.directory)


def test_figures_are_those_of_the_runs_on_disk(tmp_path: Path) -> None:
    engine = FakeEngine()
    study = run(engine, tmp_path)
    assert Counter(seed for _, seed in engine.executed) == {1: 3, 2: 3}
    assert study.manifest["status"] == "complete"
    assert study.runs["topology.rtt"].to_list() == ["20 ms", "30 ms", "40 ms"] * 2
    assert study.runs["verdict"].to_list() == ["valid"] * 6
    assert study.runs["seed"].to_list() == [1, 1, 1, 2, 2, 2]
    for row in study.runs.iter_rows(named=True):
        single = dumbbell.open(study.directory / "runs" / f"synthetic-{row['run_id']}")
        assert row["jain_index"] == single.summary["jain_index"]
        flows = study.flows.filter(run=row["run"])
        assert flows["goodput_bps"].to_list() == single.flows["goodput_bps"].to_list()
        links = study.links.filter(run=row["run"])
        limited = {link["name"]: link for link in single.summary["links"] if link["rate_bps"]}
        assert links["link"].to_list() == list(limited)
        assert links["queue_p95_ms"][0] == limited["bottleneck"]["queue_ms"]["p95"]
    assert study.summary["runs"].to_list() == [2, 2, 2]
    assert study.open(4).plan.seed == 2


def test_a_report_of_what_is_not_recorded_can_be_asked_for(tmp_path: Path) -> None:
    """A study keeps no rows per packet, unless its file asks for them."""
    seen: list[Any] = []
    run(FakeEngine(change=lambda plan, files: seen.append(wire.part(plan.record))), tmp_path / "a", 1)
    asked = {**scenario(), "record": {"packets": True}}
    engine = FakeEngine(change=lambda plan, files: seen.append(wire.part(plan.record)))
    dumbbell.run(asked, directory=tmp_path / "b", engine=engine, repeat=2, report=False)
    assert [record["packets"] for record in seen] == [False] * 3 + [True] * 2
    assert {record["acks"] for record in seen} == {"off"}


def test_the_order_is_random_within_each_repetition() -> None:
    runs = Schedule(8).want(3)
    mixed = recorded.in_order(runs)
    assert sorted(mixed) == runs
    assert mixed == recorded.in_order(runs)
    for repetition in range(3):
        cells = [one.cell for one in mixed[8 * repetition : 8 * repetition + 8]]
        assert sorted(cells) == list(range(8)) != cells
        assert {one.repetition for one in mixed[8 * repetition : 8 * repetition + 8]} == {repetition}


def test_the_same_study_again_does_nothing_and_a_larger_one_adds_runs(tmp_path: Path) -> None:
    run(FakeEngine(), tmp_path)
    engine = FakeEngine()
    study = run(engine, tmp_path)
    assert engine.executed == []
    assert study.manifest["cost"]["found"] == 6
    assert run(engine, tmp_path, 3).runs["run"].to_list() == list(range(9))
    assert engine.executed == [("synthetic", 3)] * 3
    assert run(engine, tmp_path, 1).runs.height == 3


def test_what_cannot_be_used_is_repeated_then_given_up_and_told(tmp_path: Path) -> None:
    engine = FakeEngine(["invalid"] * 10 + ["failed"] * 2 + ["valid"] * 0 + ["invalid"] * 12)
    study = run(engine, tmp_path)
    # Each of six runs has four chances.
    assert len(engine.executed) == 24
    told = failures(study)
    assert len(told) == study.runs.height == 6
    assert {row["error"] for row in told} == {"invalid: ring-drops"}
    assert {row["verdict"] for row in told} == {"invalid"}
    assert study.flows.is_empty()
    assert exit_code(study) == 3
    found = status(study)
    assert (found.status, found.done, found.runs, dict(found.refused)) == ("complete", 0, 6, {"invalid: ring-drops": 6})


def test_only_failed_runs_are_done_again(tmp_path: Path) -> None:
    first = run(FakeEngine(["failed"] * 24), tmp_path)
    assert exit_code(first) == 1
    assert first.runs["error"].unique().to_list() == ["the lab fell over"]
    idle = FakeEngine()
    assert run(idle, tmp_path).runs["error"].null_count() == 0
    assert idle.executed == []
    again = FakeEngine(["failed"] * 4, name="emulate")
    more = run(again, tmp_path, 3, failed=True)
    # Runs that are merely missing are not repeated.
    assert {seed for _, seed in again.executed} == {1, 2}
    assert 0 < more.runs["error"].null_count() <= 6
    assert status(more).status == "interrupted"
    full = run(FakeEngine(), tmp_path, 3, failed=True)
    assert full.runs["error"].null_count() == 6
    assert exit_code(run(FakeEngine(), tmp_path, 3)) == 0


def test_of_a_study_that_has_not_begun_nothing_has_failed(tmp_path: Path) -> None:
    engine = FakeEngine()
    study = run(engine, tmp_path, failed=True)
    assert (engine.executed, status(study).status, status(study).done) == ([], "interrupted", 0)


def test_suspect_runs_count_and_are_told(tmp_path: Path) -> None:
    def disturb(plan: Any, files: Any) -> None:
        files["emulator.json"]["lateness_us"]["max"] = 20_000.0

    study = run(FakeEngine(change=disturb), tmp_path)
    assert study.runs["verdict"].unique().to_list() == ["suspect"]
    assert study.summary["failed"].to_list() == [0, 0, 0]
    assert status(study).suspect == 6
    assert exit_code(study) == 0


def test_an_interrupted_study_goes_on(tmp_path: Path) -> None:
    with pytest.raises(Interrupted, match="the study was interrupted"):
        run(FakeEngine(["valid", "valid", "interrupted"]), tmp_path, jobs=1)
    (directory,) = tmp_path.iterdir()
    kept = dumbbell.Study(directory)
    assert status(kept).status == "interrupted"
    assert kept.runs.height == 2
    engine = FakeEngine()
    assert run(engine, tmp_path).runs.height == 6
    assert len(engine.executed) == 4


def test_runs_of_a_killed_command_are_found_by_their_names(tmp_path: Path) -> None:
    study = run(FakeEngine(), tmp_path)
    for part in parts(study):
        for file in part.iterdir():
            file.unlink()
        part.rmdir()
    (study.directory / "shards" / "index.json").unlink()
    engine = FakeEngine()
    assert run(engine, tmp_path).runs.height == 6
    assert engine.executed == []


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"parts": [1]}'])
def test_a_damaged_index_is_named_with_what_to_do(tmp_path: Path, content: str) -> None:
    study = run(FakeEngine(), tmp_path)
    index = study.directory / "shards" / "index.json"
    index.write_text(content)
    with pytest.raises(DumbbellError, match=r"index\.json (cannot be read|holds no)") as failure:
        _ = dumbbell.Study(study.directory).runs
    assert failure.value.hint == "remove it, and repeat the study's command, which writes it anew from the runs"
    index.unlink()
    engine = FakeEngine()
    assert run(engine, tmp_path).runs.equals(study.runs)
    assert engine.executed == []


def test_a_damaged_manifest_is_written_anew(tmp_path: Path) -> None:
    study = run(FakeEngine(), tmp_path)
    (study.directory / "study.json").write_text("")
    engine = FakeEngine()
    with pytest.warns(DamagedFile, match=r"study\.json"):
        assert run(engine, tmp_path).manifest["rounds"] == study.manifest["rounds"]
    assert engine.executed == []


def test_many_parts_are_merged_and_what_a_killed_command_left_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded, "BATCH", 1)
    monkeypatch.setattr(shards, "MANY", 4)
    study = run(FakeEngine(), tmp_path)
    assert len(parts(study)) == 3
    assert study.runs["run"].to_list() == list(range(6))
    assert study.flows.height == 12
    left = study.directory / "shards" / "00000099"
    left.mkdir()
    (left / "runs.parquet").write_bytes(b"half")
    assert run(FakeEngine(), tmp_path).runs.height == 6
    assert not left.exists()


def test_cells_of_different_rates_cross_alike(tmp_path: Path) -> None:
    paths: list[str] = []
    engine = FakeEngine(change=lambda plan, files: paths.append(plan.emulate.path))
    rates = {"topology.bottleneck.rate": ["10 Mbit/s", "1 Gbit/s"]}
    dumbbell.run(scenario(), directory=tmp_path, engine=engine, vary=rates, report=False)
    assert paths == ["gso", "gso"]


def test_its_size_is_told_before_it_starts(tmp_path: Path) -> None:
    events: list[Event] = []
    run(FakeEngine(), tmp_path, on_event=events.append)
    planned = next(event for event in events if event["event"] == "planned")
    assert (planned["cells"], planned["least"], planned["runs"], planned["traffic_s"]) == (3, 2, 6, 12.0)
    assert 1 < planned["at_once"] <= 6
    assert 3 <= planned["forecast_s"] < 18
    assert [event["event"] for event in events[-1:]] == ["progress"]
    assert events[-1]["runs"] == events[-1]["of"] == 6


def test_what_the_engine_refuses_is_told_with_the_cell(tmp_path: Path) -> None:
    with pytest.raises(dumbbell.ScenarioError, match="no such thing here") as refused:
        run(FakeEngine(problems=[Problem("no such thing here")]), tmp_path)
    assert 'in the cell topology.rtt="20 ms"' in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_repetitions_until_figures_are_known_well(tmp_path: Path) -> None:
    """Known records are all the same: after the least number they are."""
    asked = scenario() | {"repeat": {"until": "1 %", "least": 3}}
    study = dumbbell.run(asked, directory=tmp_path, engine=FakeEngine(), report=False)
    assert isinstance(study, dumbbell.Study)
    assert study.runs.height == 3
    assert study.flows.select(pl.col("goodput_bps").n_unique().over("id")).max().item() == 1


def late(*seeds_in_turn: int) -> FakeEngine:
    """An engine that is late in the first run of each of these seeds, as often as it is named."""
    left = Counter(seeds_in_turn)

    def change(plan: Any, files: Any) -> None:
        if left[plan.seed]:
            left[plan.seed] -= 1
            files["emulator.json"]["lateness_us"]["max"] = 20_000.0

    return FakeEngine(change=change)


def test_disturbed_runs_are_done_again_and_their_figures_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded, "BATCH", 1)
    engine, events = late(1, 1, 2), list[Event]()
    study = run(engine, tmp_path, on_event=events.append)
    assert len(engine.executed) == 6 + 3
    assert study.runs["verdict"].to_list() == ["valid"] * 6
    assert study.runs["run"].to_list() == list(range(6))
    assert study.flows.height == 12
    assert (study.manifest["cost"]["redone"], study.manifest["cost"]["cured"]) == (3, 3)
    assert events[-1]["redone"] == 3


def test_figures_that_are_not_written_yet_are_replaced_too(tmp_path: Path) -> None:
    study = run(late(1, 2), tmp_path)
    assert study.runs["verdict"].to_list() == ["valid"] * 6
    assert study.flows.height == 12


def test_suspect_runs_of_a_finished_study_are_done_again_if_that_is_asked_for(tmp_path: Path) -> None:
    first = run(late(1, 1, 2), tmp_path, redo=False)
    assert Counter(first.runs["verdict"]) == {"suspect": 3, "valid": 3}
    idle = FakeEngine()
    run(idle, tmp_path)
    assert idle.executed == [], "the same command does what is missing, no more"
    again = FakeEngine()
    study = run(again, tmp_path, suspect=True)
    assert len(again.executed) == 3
    assert study.runs["verdict"].to_list() == ["valid"] * 6
    assert study.flows.height == 12
    assert status(study).status == "complete"
    run(again, tmp_path, suspect=True)
    assert len(again.executed) == 3


def test_a_worse_attempt_leaves_the_suspect_run(tmp_path: Path) -> None:
    run(late(1), tmp_path, redo=False)
    study = run(FakeEngine(["invalid"] * 9), tmp_path, suspect=True)
    assert Counter(study.runs["verdict"]) == {"suspect": 1, "valid": 5}
    suspect = study.runs.filter(verdict="suspect")["run"].item()
    assert study.open(suspect).verdict == "suspect"


def test_of_runs_that_no_machine_disturbs_none_is_done_again(tmp_path: Path) -> None:
    for more in ({"suspect": True}, {"redo": False}):
        with pytest.raises(InputError, match="applies to runs in real time"):
            run(FakeEngine(name="simulate"), tmp_path, **more)
    with pytest.raises(InputError, match="nothing has been run yet"):
        run(FakeEngine(), tmp_path, suspect=True)


LATER = ["udp_sent", "udp_lost"]
"""Columns that earlier versions did not write."""


def test_figures_of_an_earlier_version_are_read_beside_those_of_this_one(tmp_path: Path) -> None:
    fixed = {"starts": "0 s"}
    study = run(FakeEngine(), tmp_path, 1, overrides=fixed)
    for part in parts(study):
        path = part / "flows.parquet"
        pl.read_parquet(path).drop(LATER).write_parquet(path)
    grown = run(FakeEngine(), tmp_path, 2, overrides=fixed)
    assert len(parts(grown)) == 2
    assert grown.flows["run"].unique().to_list() == [0, 1, 2, 3, 4, 5]
    old = grown.flows.filter(pl.col("run") < 3)
    assert old.select(LATER).null_count().row(0) == (old.height, old.height)
    assert old["goodput_bps"].null_count() == 0


def test_figures_of_a_later_version_are_refused_by_name(tmp_path: Path) -> None:
    study = run(FakeEngine(), tmp_path, 1)
    path = parts(study)[0] / "flows.parquet"
    pl.read_parquet(path).with_columns(novel=1).write_parquet(path)
    with pytest.raises(DumbbellError, match="does not know its columns novel") as caught:
        dumbbell.Study(study.directory).flows  # noqa: B018
    assert str(path) in caught.value.what
    assert "later" in caught.value.hint


def test_run_folders_of_an_earlier_version_are_compiled(tmp_path: Path) -> None:
    """The command that made them was killed before it wrote their figures into a part."""
    study = run(FakeEngine(), tmp_path, 1)
    for folder in (study.directory / "runs").glob("synthetic-*"):
        path = folder / "flows.parquet"
        pl.read_parquet(path).drop(LATER).write_parquet(path)
        summary = json.loads((folder / "summary.json").read_text())
        summary["links"] = [{key: link[key] for key in link if key != "ce_packets"} for link in summary["links"]]
        kept = {key: value for key, value in summary.items() if key not in ("responsiveness", "rerouting")}
        (folder / "summary.json").write_text(json.dumps(kept))
    shutil.rmtree(study.directory / shards.SHARDS)
    engine = FakeEngine()
    again = run(engine, tmp_path, 1)
    assert engine.executed == []
    assert again.flows["goodput_bps"].to_list() == study.flows["goodput_bps"].to_list()
    assert again.flows.select(LATER).null_count().row(0) == (again.flows.height, again.flows.height)
    assert again.runs["rpm"].null_count() == 3


def test_a_table_that_lacks_what_every_version_wrote_is_refused(tmp_path: Path) -> None:
    study = run(FakeEngine(), tmp_path, 1)
    single = study.open(0)
    path = single.directory / "flows.parquet"
    pl.read_parquet(path).drop("id").write_parquet(path)
    with pytest.raises(DumbbellError, match="lacks the columns id"):
        single.flows  # noqa: B018


BUFFERS = {"topology.bottleneck.buffer": ["1 bdp", "25 kB", "20 ms", "50 kB"]}
"""At 10 Mbit/s and 20 ms the first three are 25,000 bytes."""


def test_cells_whose_plans_are_equal_have_a_result_each_of_one_run(tmp_path: Path) -> None:
    def equal(engine: FakeEngine, repeat: int = 2, **more: Any) -> dumbbell.Study:
        return dumbbell.run(
            scenario(), directory=tmp_path, engine=engine, vary=BUFFERS, repeat=repeat, report=False, **more
        )

    engine, events = FakeEngine(), list[Event]()
    with pytest.warns(Foreseen, match='buffer = "1 bdp", "25 kB" and "20 ms" make the same plan'):
        study = equal(engine, on_event=events.append)
    assert len(engine.executed) == 2 * 2, "three cells share a run"
    assert study.runs["cell"].to_list() == [0, 1, 2, 3] * 2
    assert study.runs["run_id"].n_unique() == 4
    assert study.flows.height == 8 * 2
    assert study.summary["runs"].to_list() == [2] * 4
    assert [event["runs"] for event in events if event["event"] == "progress"][-1] == 8
    assert (study.manifest["status"], status(study).done, study.missing) == ("complete", 8, 0)
    # Rows of some of the cells alone, as an earlier version left them.
    (part,) = parts(study)
    for table in shards.TABLES:
        path = part / f"{table}.parquet"
        pl.read_parquet(path).filter(~pl.col("run").is_in([0, 1])).write_parquet(path)
    idle = FakeEngine()
    assert equal(idle).runs["run"].to_list() == list(range(8))
    assert idle.executed == []
    failed = equal(FakeEngine(["failed"] * 8), 3)
    assert failed.runs["error"].to_list() == [None] * 8 + ["the lab fell over"] * 4
    assert (status(failed).done, dict(status(failed).refused)) == (8, {"the lab fell over": 4})
    engine = FakeEngine()
    assert equal(engine, 3, failed=True).runs["error"].null_count() == 12
    assert len(engine.executed) == 2


def test_a_study_that_lost_results_is_not_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = run(FakeEngine(), tmp_path)
    shutil.rmtree(study.directory / shards.SHARDS)
    lost = dumbbell.Study(study.directory)
    found = status(lost)
    assert (found.status, found.done, found.runs, exit_code(lost)) == ("incomplete", 0, 6, 1)
    assert "synthetic: incomplete" in lost._repr_html_()
    assert invoke(["status", str(study.directory)]) == 1
    said = capsys.readouterr().out
    assert "incomplete\n0 of 6 runs\n" in said
    assert "6 runs missing: the same command as before carries out what is missing" in said
    with pytest.warns(DamagedFile, match="is incomplete: results of 6 of 6 runs are gone"):
        assert invoke(["compare", str(study.directory), str(study.directory)]) != 0
    shutil.rmtree(study.directory / "runs")
    engine = FakeEngine()
    assert status(run(engine, tmp_path)).status == "complete"
    assert len(engine.executed) == 6
    assert invoke(["status", str(study.directory)]) == 0
