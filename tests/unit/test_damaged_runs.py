"""Any damage to a run's or a study's documents is a row that says so, or an error of ours; it breaks no other run."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from stages import thorough_after

import dumbbell
from dumbbell.below import Below, confined
from dumbbell.captures.analysis import analyse
from dumbbell.captures.model import SUMMARY
from dumbbell.cli import invoke
from dumbbell.errors import Damaged, RunFailed
from dumbbell.records import index, kept
from dumbbell.studies.directory import locked
from tests import damaged_runs as damaged
from tests.damaged_runs import Seeds
from tests.fuzz import mutate
from tests.made_capture import long


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seeds]:
    with damaged.seeds(tmp_path_factory.mktemp("workspace")) as found:
        yield found


@pytest.mark.parametrize("seed", thorough_after(2, range(12)))
def test_a_damaged_run_breaks_nothing(seeds: Seeds, seed: int) -> None:
    damaged.try_run(seeds.run, seeds.served.ask, Random(seed), heavy=seed == 0)


@pytest.mark.parametrize("seed", thorough_after(1, range(5)))
def test_a_damaged_study_breaks_nothing(seeds: Seeds, seed: int) -> None:
    damaged.try_study(seeds.study, seeds.served.ask, Random(seed), heavy=seed == 0)


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An analysed capture."""
    folder = tmp_path_factory.mktemp("captured")
    (folder / "trace.pcap").write_bytes(long(50))
    return analyse(folder / "trace.pcap", output=folder / "trace.pcap.analysis").directory


@pytest.mark.parametrize("seed", thorough_after(1, range(6)))
def test_a_damaged_analysis_breaks_nothing(capture: Path, seed: int) -> None:
    damaged.try_capture(capture, Random(seed))


def test_a_damaged_analysis_says_so_and_is_repeated(
    capture: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with damaged.copied(capture) as path:
        text = (path / SUMMARY).read_text()
        (path / SUMMARY).write_text(text.replace('"notes": {', '"notes": 7, "was": {', 1))
        assert invoke(["report", str(path), str(capture), "--output", str(capture.parent)]) == 1
        said = capsys.readouterr()
        assert said.err.startswith(f"error: {path / SUMMARY} cannot be read\n  notes: input should be")
        assert "hint: repeat dumbbell pcap FILE" in said.err
        assert f"{capture.name}.html" in said.out
    monkeypatch.chdir(capture.parent)
    (capture / SUMMARY).write_text("[]")
    assert invoke(["pcap", "trace.pcap"]) == 0
    assert (capture / SUMMARY).read_text() == text


def test_an_analysis_stays_until_the_next_one_is_whole(capture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted((one.name, one.stat().st_ino) for one in capture.parent.rglob("*"))
    rename = Path.rename

    def fails(path: Path, to: Path) -> Path:
        if to == capture and path.name.startswith(".partial-") and not path.name.endswith("-before"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(RunFailed, match="cannot write"):
        analyse(capture.parent / "trace.pcap", output=capture)
    assert sorted((one.name, one.stat().st_ino) for one in capture.parent.rglob("*")) == before


ABSURD = [
    ("summary.json", '"flows": [', '"flows": 7, "was": ['),
    ("manifest.json", "{", "[[["),
    ("manifest.json", '"tags": [', '"tags": 5, "was": ['),
    ("summary.json", '"verdict": "valid"', '"verdict": "\\ud800"'),
    ("summary.json", '"duration_s": 0.3', '"duration_s": NaN'),
]


@pytest.mark.parametrize(("file", "before", "after"), ABSURD)
def test_a_damaged_run_is_a_row_that_says_so(
    seeds: Seeds, file: str, before: str, after: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with damaged.copied(seeds.run) as path:
        text = (path / file).read_text()
        assert before in text
        (path / file).write_text(text.replace(before, after, 1))
        rows = {row["id"]: row for row in seeds.served.json("POST", "/api/runs/table", {})["rows"]}
        assert rows[path.name]["verdict"] == "damaged"
        assert rows[path.name]["problem"].startswith(f"{path / file} cannot be read: ")
        assert rows[seeds.run.name]["verdict"] == "valid"
        assert not rows[seeds.run.name]["problem"]
        assert seeds.served.ask("GET", f"/api/runs/{path.name}")[0] == 200
        assert seeds.served.ask("GET", f"/api/runs/{path.name}/report.html")[0] == 409
        both = {"runs": [seeds.run.name, path.name, seeds.run.name]}
        compared = seeds.served.json("POST", "/api/compare", both)
        assert (len(compared["runs"]), len(compared["problems"])) == (2, 1)
        capsys.readouterr()
        assert invoke(["runs", "list", "--in", str(path.parent)]) == 0
        assert f"{path / file} cannot be read" in capsys.readouterr().out
        assert invoke(["runs", "show", str(path), str(seeds.run)]) == 1
        said = capsys.readouterr()
        assert "verdict: valid" in said.out
        assert f"error: {path / file} cannot be read" in said.err
        assert invoke(["report", str(path), str(seeds.run), "--output", str(path.parents[1])]) == 1
        assert f"{seeds.run.name}.html" in capsys.readouterr().out


def test_intervals_are_too_wide_for_something(seeds: Seeds, capsys: pytest.CaptureFixture[str]) -> None:
    with damaged.copied(seeds.study) as path:
        document = json.loads((path / "study.json").read_text())
        assert document["too_wide"]
        del document["repeat"]["until"]
        (path / "study.json").write_text(json.dumps(document))
        assert invoke(["status", str(path)]) == 1
        assert "too_wide: repeat does not say what was wanted" in capsys.readouterr().err


def test_no_text_of_a_study_is_an_order_to_the_terminal(seeds: Seeds, capsys: pytest.CaptureFixture[str]) -> None:
    strange = "\x1b]0;title\x07\x9b31m\u202e\r"
    with damaged.copied(seeds.study) as path:
        document = json.loads((path / "study.json").read_text())
        for holder, key in mutate.places(document):
            text = holder[key]
            if not isinstance(text, str):
                continue
            holder[key] = text + strange
            (path / "study.json").write_text(json.dumps(document))
            for words in (["status", str(path)], ["compare", str(path), str(seeds.study)]):
                invoke(words)
                said = capsys.readouterr()
                assert all(one == "\n" or one.isprintable() for one in said.out + said.err), (key, words)
            holder[key] = text


def test_an_analysis_that_cannot_be_read_again_has_a_report(capture: Path) -> None:
    with damaged.copied(capture) as path:
        document = json.loads((path / SUMMARY).read_text()) | {"decode_as": ["nothing"]}
        (path / SUMMARY).write_text(json.dumps(document))
        assert invoke(["report", str(path)]) == 0
        assert "the capture cannot be read again" in (path / "report.html").read_text()


def test_a_pipe_is_no_manifest(seeds: Seeds) -> None:
    with damaged.copied(seeds.run) as path:
        (path / "manifest.json").unlink()
        os.mkfifo(path / "manifest.json")
        (row,) = [row for row in seeds.served.json("POST", "/api/runs/table", {})["rows"] if row["id"] == path.name]
        assert "Not a regular file" in row["problem"]


def test_a_damaged_study_is_a_row_that_says_so(seeds: Seeds) -> None:
    with damaged.copied(seeds.study) as path:
        (path / "study.json").write_text('{"name": 7}')
        (row,) = [row for row in seeds.served.json("GET", "/api/studies") if row["id"] == path.name]
        assert row["status"] == "damaged"
        assert row["problem"].startswith(f"{path}/study.json cannot be read: name: ")


def test_list_page_and_command_agree_on_the_state_of_a_study(seeds: Seeds, capsys: pytest.CaptureFixture[str]) -> None:
    def states(path: Path) -> set[str]:
        capsys.readouterr()
        invoke(["status", str(path), "--json"])
        (row,) = [row for row in seeds.served.json("GET", "/api/studies") if row["id"] == path.name]
        page = seeds.served.json("GET", f"/api/studies/{path.name}")
        return {json.loads(capsys.readouterr().out)["status"], row["status"], page["status"]}

    with damaged.copied(seeds.study) as path:
        assert states(path) == {"complete"}
        manifest = path / "study.json"
        whole = manifest.read_text()
        manifest.write_text(json.dumps(json.loads(whole) | {"status": "running"}))
        assert states(path) == {"killed"}
        with locked(path):
            assert states(path) == {"running"}
        manifest.write_text(whole)
        shutil.rmtree(path / "shards")
        assert states(path) == {"incomplete"}


def test_a_plan_that_no_engine_would_carry_out_is_refused(seeds: Seeds) -> None:
    with damaged.copied(seeds.run) as path:
        plan = json.loads((path / "plan.json").read_text())
        plan["flows"][0]["from"] = "nobody"
        (path / "plan.json").write_text(json.dumps(plan))
        with pytest.raises(Damaged, match=r"plan\.json cannot be read\n.*unknown host nobody"):
            dumbbell.open(path)


def test_a_shard_s_name_leads_nowhere_else(seeds: Seeds) -> None:
    with damaged.copied(seeds.study) as path:
        (path / "shards" / "index.json").write_text('{"parts": [{"name": "../../x", "runs": 1}]}')
        with pytest.raises(Damaged, match=r"index\.json cannot be read\n +parts\.0\.name"):
            _ = dumbbell.Study(path).runs


def test_a_run_behind_links_and_one_of_large_documents_are_listed_like_any(seeds: Seeds, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    shutil.copytree(seeds.run, tmp_path / "elsewhere")
    shutil.copytree(seeds.run, runs / "a")
    (runs / "b").symlink_to(tmp_path / "elsewhere")
    for name in ("c", "d"):
        shutil.copytree(seeds.run, runs / name)
    (runs / "c" / "summary.json").rename(tmp_path / "summary.json")
    (runs / "c" / "summary.json").symlink_to(tmp_path / "summary.json")
    manifest = runs / "d" / "manifest.json"
    manifest.write_text(manifest.read_text() + " " * (1 << 20))
    found = {one.path.name: one for one in kept.kept(runs)}
    assert len({dataclasses.replace(one, path=runs, size=0) for one in found.values()}) == 1
    assert found["a"].size == sum(path.stat().st_size for path in (runs / "a").rglob("*") if path.is_file())
    with confined(Below(runs)):
        told = {one.path.name: one.verdict for one in kept.kept(runs)}
    assert told == {"a": found["a"].verdict, "b": "damaged", "c": "damaged", "d": found["a"].verdict}


def test_runs_of_a_large_folder_are_read_again_only_if_they_changed(
    seeds: Seeds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    looked = kept._read
    monkeypatch.setattr(kept, "_read", lambda path, documents: read.append(path.name) or looked(path, documents))
    monkeypatch.setattr(index, "WORTH", 1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("a", "b", "c"):
        shutil.copytree(seeds.run, tmp_path / "runs" / name)
    first = kept.kept(tmp_path / "runs")
    assert sorted(read) == ["a", "b", "c"]
    read.clear()
    assert kept.kept(tmp_path / "runs") == first
    assert read == []
    kept.tag(tmp_path / "runs" / "b", ["new"])
    (tmp_path / "runs" / "c" / "summary.json").write_text("7")
    found = {one.path.name: one for one in kept.kept(tmp_path / "runs")}
    assert sorted(read) == ["b", "c"]
    assert (found["b"].tags, found["c"].verdict) == (("baseline", "new"), "damaged")
    for file in (tmp_path / "cache" / "dumbbell" / "runs").iterdir():
        file.write_text('{"a": 7}')
    assert len(kept.kept(tmp_path / "runs")) == 3


def test_reading_that_is_left_half_way_leaves_no_thread(
    seeds: Seeds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error holds what raised it. A thread that it held was waited for wherever garbage was collected."""
    for name in ("a", "b", "c"):
        shutil.copytree(seeds.run, tmp_path / name)

    def refuse(*_: object) -> None:
        raise RunFailed("a run", "left half-way", "")

    monkeypatch.setattr(kept, "_AT_ONCE", 1)
    monkeypatch.setattr(kept, "state", refuse)
    before = threading.active_count()
    with pytest.raises(RunFailed) as raised:
        kept.kept(tmp_path)
    with pytest.raises(RunFailed) as one:
        kept.look(tmp_path / "a")
    assert threading.active_count() == before
    assert raised.value is not one.value
