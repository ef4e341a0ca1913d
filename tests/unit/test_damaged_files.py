"""Files that are damaged: the file is named, and the rest is used."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from stages import thorough_after

import dumbbell
from dumbbell import DumbbellError, Run, Study
from dumbbell.cli import invoke
from dumbbell.errors import DamagedFile
from dumbbell.report import write
from dumbbell.studies import shards

SMALL = {
    "name": "small",
    "duration": "300 ms",
    "topology": {"kind": "path", "rtt": "10 ms", "bottleneck": {"rate": "5 Mbit/s", "buffer": "1 bdp"}},
    "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}],
}
Damage = Callable[[Path], None]


def garbage(path: Path) -> None:
    path.write_bytes(b"garbage")


def rot(path: Path) -> None:
    """Changes rows, and leaves what says where they lie."""
    content = bytearray(path.read_bytes())
    content[8 : len(content) // 3] = bytes(255 for _ in content[8 : len(content) // 3])
    path.write_bytes(content)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = dumbbell.run(SMALL, directory=tmp_path_factory.mktemp("runs"), engine="simulate", report=False)
    assert isinstance(run, Run)
    return run.directory


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    copy = tmp_path / finished.name
    shutil.copytree(finished, copy)
    return copy


@pytest.mark.parametrize("damage", thorough_after(1, [rot, garbage]))
@pytest.mark.parametrize("format", ["html", "csv", "pdf"])
def test_a_report_names_the_table_that_it_lacks_in_every_format(run: Path, damage: Damage, format: str) -> None:
    damage(run / "samples.parquet")
    with pytest.warns(DamagedFile, match=r"Goodput.*samples\.parquet cannot be read"):
        files = write(Run(run), format)
    assert files
    assert all(path.stat().st_size for path in files)


@pytest.mark.parametrize("damage", [garbage, rot])
def test_a_damaged_table_is_an_error_of_ours_in_python(run: Path, damage: Damage) -> None:
    damage(run / "samples.parquet")
    with pytest.raises(DumbbellError, match=r"samples\.parquet cannot be read"):
        _ = Run(run).samples
    assert Run(run).links.height


@pytest.mark.parametrize("name", ["plan.json", "manifest.json", "summary.json"])
@pytest.mark.parametrize("content", thorough_after(1, ['{"schema": 2}', "", "[]", "\udcff"]))
def test_a_damaged_document_is_named_on_the_command_line(
    run: Path, name: str, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / name).write_bytes(content.encode(errors="surrogateescape"))
    code = invoke(["compare", str(run), str(run)])
    said = capsys.readouterr().err
    assert code in (1, 2)
    assert said.startswith("error: ")
    assert name in said or (name == "manifest.json" and "unknown state" in said)
    assert len(said.splitlines()) < 6


@pytest.mark.parametrize("name", ["plan.json", "manifest.json", "summary.json", "samples.parquet"])
def test_a_run_is_repeated_over_a_damaged_one(run: Path, name: str) -> None:
    garbage(run / name)
    again = dumbbell.run(SMALL, directory=run.parent, engine="simulate", report=False)
    assert isinstance(again, Run)
    assert again.directory == run
    assert run.with_name(f"{run.name}.1").is_dir()


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("studies")
    return dumbbell.run(SMALL, directory=root, engine="simulate", repeat=130, report=False).directory


@pytest.fixture
def study(studied: Path, tmp_path: Path) -> Path:
    copy = tmp_path / studied.name
    shutil.copytree(studied, copy)
    return copy


@pytest.mark.parametrize("damage", thorough_after(1, [rot, garbage]))
@pytest.mark.parametrize("table", ["runs", "flows", "links"])
def test_a_damaged_shard_costs_its_runs_alone(study: Path, table: str, damage: Damage) -> None:
    first = shards.folders(study)[0]
    damage(first / f"{table}.parquet")
    opened = Study(study)
    with pytest.warns(DamagedFile, match=rf"{table}\.parquet cannot be read .* its runs are left out"):
        left = getattr(opened, table).height
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamagedFile)
        heights = (left, opened.flows.height, opened.runs.height)
    assert heights == (66 * (2 if table == "links" else 1), 66, 66)


@pytest.mark.parametrize("damage", [garbage, rot])
def test_the_same_command_gets_the_runs_of_a_damaged_shard_again(study: Path, damage: Damage) -> None:
    damage(shards.folders(study)[1] / "flows.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamagedFile)
        again = dumbbell.run(SMALL, directory=study.parent, engine="simulate", repeat=130, report=False)
    assert again.directory == study
    assert again.runs.height == 130
    assert again.manifest["cost"]["found"] == 66
    assert len(list((study / "shards").glob(".damaged-*"))) == 1


@pytest.mark.parametrize("damage", [garbage, rot])
def test_a_damaged_list_of_entries_costs_only_what_needs_it(study: Path, damage: Damage) -> None:
    damage(study / "entries.parquet")
    with pytest.warns(DamagedFile, match=r"entries\.parquet cannot be read"):
        assert Study(study).flows["base_rtt_ms"].null_count() == 130
    dumbbell.run(SMALL, directory=study.parent, engine="simulate", repeat=130, report=False)
    assert Study(study).flows["base_rtt_ms"].null_count() == 0


@pytest.mark.parametrize("content", thorough_after(1, ["{}", "", "[]"]))
@pytest.mark.parametrize("verb", [["report"], ["status"], ["query", "select 1"]])
def test_a_damaged_manifest_of_a_study_is_named(
    study: Path, verb: list[str], content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (study / "study.json").write_text(content)
    assert invoke([verb[0], str(study), *verb[1:]]) == 1
    assert capsys.readouterr().err.startswith(f"error: {study}/study.json ")


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"rounds": 3}', '{"rounds": [[0, [7]]]}'])
def test_the_same_command_writes_a_damaged_manifest_of_a_study_anew(study: Path, content: str) -> None:
    before = Study(study).manifest
    (study / "study.json").write_text(content)
    with pytest.warns(DamagedFile, match=r"study\.json cannot be read: it is written anew from the runs"):
        again = dumbbell.run(SMALL, directory=study.parent, engine="simulate", repeat=130, report=False)
    assert again.manifest["cost"]["found"] == 130
    same = ("rounds", "runs", "repetitions", "status", "cells", "repeat", "study_id", "name", "engine")
    assert {key: again.manifest[key] for key in same} == {key: before[key] for key in same}


def test_the_error_of_a_damaged_manifest_says_what_to_do(study: Path) -> None:
    (study / "study.json").write_text("")
    with pytest.raises(DumbbellError, match=r"hint: repeat the study's command"):
        Study(study)


LOSSY = {
    **SMALL,
    "duration": "1 s",
    "topology": {
        "kind": "path",
        "rtt": "10 ms",
        "bottleneck": {"rate": "5 Mbit/s", "buffer": "1 bdp", "loss": "2 %"},
    },
    "sweep": {"flows.0.cc": ["bbr", "reno", "cubic"]},
    "repeat": {"until": "8 %", "of": "goodput", "least": 3, "most": 40},
}


def test_runs_that_were_repeated_cell_by_cell_keep_their_numbers(tmp_path: Path) -> None:
    study = dumbbell.run(LOSSY, directory=tmp_path, engine="simulate", report=False)
    assert isinstance(study, Study)
    runs, rounds = study.runs, study.manifest["rounds"]
    assert any(cells is not None for _, cells in rounds), "else every number follows from the number of cells"
    garbage(study.directory / "study.json")
    with pytest.warns(DamagedFile, match=r"study\.json"):
        again = dumbbell.run(LOSSY, directory=tmp_path, engine="simulate", report=False)
    assert again.manifest["cost"]["found"] == runs.height
    assert again.manifest["rounds"] == rounds
    assert again.runs.equals(runs)


def test_a_study_whose_order_is_lost_stays_as_it_is(tmp_path: Path) -> None:
    """Neither its manifest nor its first runs can be read, and the others have no numbers of full rounds."""
    study = dumbbell.run(LOSSY, directory=tmp_path, engine="simulate", report=False).directory
    garbage(study / "study.json")
    (first, *others) = shards.folders(study)
    garbage(first / "runs.parquet")
    assert others, "else nothing is left that has numbers"
    with pytest.warns(DamagedFile), pytest.raises(DumbbellError, match="in what order they were asked for"):
        dumbbell.run(LOSSY, directory=tmp_path, engine="simulate", report=False)
    assert (study / "study.json").read_bytes() == b"garbage"


def test_damaged_progress_says_nothing(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    garbage(study / "progress.json")
    assert invoke(["status", str(study)]) == 0
