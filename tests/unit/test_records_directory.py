"""No measurement is ever lost, and a half-written run is never read as a run."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dumbbell.errors import InputError, RunFailed
from dumbbell.records.directory import RunDirectory, attempts
from dumbbell.records.files import read_json, write_json
from dumbbell.studies import shards


def finish(root: Path, verdict: str = "valid") -> Path:
    directory = RunDirectory.begin(root, "demo", "abc")
    write_json(directory.path / "summary.json", {"verdict": verdict})
    return directory.complete()


def test_a_run_appears_under_its_name_when_complete(tmp_path: Path) -> None:
    directory = RunDirectory.begin(tmp_path, "demo", "abc")
    assert not (tmp_path / "demo-abc").exists()
    assert directory.path.name == f".partial-demo-abc-{os.getpid()}"
    final = directory.complete()
    assert final == tmp_path / "demo-abc"
    assert not (final / "lock").exists()
    assert not list(tmp_path.glob(".partial-*"))


def test_a_rerun_keeps_the_former_run(tmp_path: Path) -> None:
    for verdict in ("valid", "invalid", "suspect"):
        finish(tmp_path, verdict)
    verdicts = [
        read_json(tmp_path / name / "summary.json")["verdict"] for name in ("demo-abc.1", "demo-abc.2", "demo-abc")
    ]
    assert verdicts == ["valid", "invalid", "suspect"]
    assert attempts(tmp_path, "demo-abc") == {"failed": 0, "excluded": 1}


def test_a_failed_run_is_kept_with_its_reason(tmp_path: Path) -> None:
    for reason in ("first", "second"):
        directory = RunDirectory.begin(tmp_path, "demo", "abc")
        (directory.path / "samples.parquet").write_bytes(b"measured PAR1")
        directory.fail("interrupted", reason)
    manifest = read_json(tmp_path / "demo-abc.failed-2" / "manifest.json")
    assert (manifest["status"], manifest["reason"]) == ("interrupted", "second")
    assert (tmp_path / "demo-abc.failed-1" / "samples.parquet").read_bytes() == b"measured PAR1"
    assert attempts(tmp_path, "demo-abc") == {"failed": 2, "excluded": 0}


def test_a_failed_run_keeps_the_tables_that_are_whole(tmp_path: Path) -> None:
    """A table of a writer that was killed does not pass as one that is empty or short."""
    target = RunDirectory.begin(tmp_path, "mine", "0" * 12)
    write_json(target.path / "manifest.json", {})
    pl.DataFrame({"time_ns": [1]}).write_parquet(target.path / "samples.parquet")
    whole = (target.path / "samples.parquet").read_bytes()
    (target.path / "packets.parquet").write_bytes(whole[:-6])
    (target.path / "links.parquet").touch()
    kept = target.fail("failed", "killed")
    assert [file.name for file in kept.glob("*.parquet")] == ["samples.parquet"]


def test_what_a_killed_command_left_is_filed_as_failed(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from dumbbell.records.directory import RunDirectory\n"
        "RunDirectory.begin(Path(sys.argv[1]), 'demo', 'abc'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code, tmp_path]).returncode == -signal.SIGKILL
    assert list(tmp_path.glob(".partial-*"))
    finish(tmp_path)
    assert not list(tmp_path.glob(".partial-*"))
    manifest = read_json(tmp_path / "demo-abc.failed-1" / "manifest.json")
    assert (manifest["status"], manifest["reason"]) == ("failed", "the command was killed during the run")


@pytest.mark.parametrize("call", ["unlink", "rename"])
def test_an_earlier_run_keeps_its_name_if_the_later_cannot_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    finish(tmp_path)
    later = RunDirectory.begin(tmp_path, "demo", "abc")
    real = getattr(Path, call)

    def fail(path: Path, *more: Any, **options: Any) -> Any:
        if ".partial-" in str(path):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(path, *more, **options)

    monkeypatch.setattr(Path, call, fail)
    with pytest.raises(OSError, match="Input/output"):
        later.complete()
    monkeypatch.undo()
    later.fail("failed", "the disk is broken")
    assert sorted(os.listdir(tmp_path)) == [".lock", "demo-abc", "demo-abc.failed-1"]


def test_an_earlier_run_has_its_name_again_after_a_kill_between_two_renames(tmp_path: Path) -> None:
    finish(tmp_path)
    later = RunDirectory.begin(tmp_path, "demo", "abc")
    (later.path / ".dumbbell-01234567.part").write_text("half")
    (tmp_path / "demo-abc").rename(tmp_path / "demo-abc.1")
    os.close(later.lock)
    RunDirectory.begin(tmp_path, "other", "def").complete()
    assert sorted(os.listdir(tmp_path)) == [".lock", "demo-abc", "demo-abc.failed-1", "other-def"]
    assert sorted(os.listdir(tmp_path / "demo-abc.failed-1")) == ["logs", "manifest.json"]


def test_what_a_killed_report_left_goes_with_the_next_run(tmp_path: Path) -> None:
    left = finish(tmp_path) / ".dumbbell-01234567.part"
    left.write_text("half")
    os.utime(left, (0, 0))
    finish(tmp_path)
    assert sorted(os.listdir(tmp_path / "demo-abc.1")) == ["logs", "summary.json"]


def test_nothing_fails_once_a_run_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, real = RunDirectory.begin(tmp_path, "demo", "abc"), os.fsync

    def fail(descriptor: int) -> None:
        if os.readlink(f"/proc/self/fd/{descriptor}") == str(tmp_path):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    assert run.complete() == tmp_path / "demo-abc"


def test_each_file_is_synced_once_before_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, synced = os.fsync, list[str]()

    def sync(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}").removeprefix(f"{tmp_path}/"))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    directory = RunDirectory.begin(tmp_path, "demo", "abc")
    for verdict in ("valid", "suspect"):
        write_json(directory.path / "summary.json", {"verdict": verdict})
    write_json(directory.path / "logs" / "a.json", {})
    partial = directory.path.name
    path = directory.complete()
    files = {f"{partial}/{name}" for name in ("summary.json", "logs/a.json", "lock", "logs")}
    assert sorted(synced) == sorted({*files, partial, str(tmp_path)})
    synced.clear()
    write_json(path / "summary.json", {"verdict": "valid"})
    assert len(synced) == 2, "a file in a run that is there, and its name"
    synced.clear()
    failing = RunDirectory.begin(tmp_path, "demo", "abc")
    failing.fail("failed", "it was to")
    assert [Path(one).name.split("-")[0] for one in synced] == [".dumbbell", ".partial", tmp_path.name.split("-")[0]]
    synced.clear()
    (tmp_path / "study").mkdir()
    shards.Parts(tmp_path / "study").add(dict.fromkeys(shards.TABLES, ()))
    names = [one.rsplit("/", 1)[-1] for one in synced]
    assert len([name for name in names if name.startswith(".dumbbell")]) == len(shards.TABLES) + 2
    assert not [name for name in names if name.endswith(".parquet")]


def test_a_directory_that_cannot_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.mkdir

    def fail(path: Path, *more: Any, **options: Any) -> None:
        if path.name == "logs":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(path, *more, **options)

    monkeypatch.setattr(Path, "mkdir", fail)
    with pytest.raises(RunFailed, match="cannot write runs"):
        RunDirectory.begin(tmp_path, "demo", "abc")
    assert os.listdir(tmp_path) == [".lock"]


def test_a_run_that_is_still_being_written_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / ".partial-demo-abc-1"
    other.mkdir()
    with (other / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        finish(tmp_path)
        assert other.exists()
    finish(tmp_path)
    assert not other.exists()


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write runs to") as error:
        RunDirectory.begin(tmp_path / "file" / "runs", "demo", "abc")
    assert "--output" in error.value.hint


def test_json_is_whole_or_absent(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, {"a": float("nan")})
    assert read_json(path) == {"a": 1}
