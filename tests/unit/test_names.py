"""Names that users give are one word and one part of a path, whatever they are of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dumbbell import names
from dumbbell.errors import InputError, RunFailed
from dumbbell.kernels import names as kernels
from dumbbell.labs import place
from dumbbell.records import kept
from dumbbell.records.directory import RunDirectory
from dumbbell.scenario.file.loading import load
from dumbbell.studies import shards

BAD = (
    "",
    ".",
    "..",
    "../escaped",
    "/tmp/absolute",
    "a/b",
    "x" * 65,
    "x" * 300,
    "a\nb",
    "a\0b",
    "\ud800",
    ".a",
    "-a",
    "é",
)


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_name_names_nothing(name: str, tmp_path: Path, runtime: Path) -> None:
    assert not names.is_name(name)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="cannot be the name of a lab") as refused:
        place.begin(name)
    assert len(refused.value.what) < 150
    with pytest.raises(InputError, match="cannot be the name of a run"):
        RunDirectory.begin(tmp_path / "runs", name, "0123456789ab")
    with pytest.raises(InputError, match="cannot be the name of a tag"):
        kept.tag(tmp_path, [name])
    with pytest.raises(InputError, match="cannot be the name of a kernel"):
        kernels.checked(name)
    with pytest.raises(InputError):
        load({"name": name, "duration": "1 s", "flows": [{}]})
    assert sorted(tmp_path.rglob("*")) == before


def test_a_name_is_taken_by_a_lab(runtime: Path) -> None:
    path, lock = place.begin("a.b_c-1")
    try:
        assert [one.name for one in place.alive()] == ["a.b_c-1"]
        assert path.parent == runtime / "dumbbell" / "labs"
    finally:
        os.close(lock)
        place.end(path)


def test_a_full_runtime_directory_is_said(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.root()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "mkdir", lambda self, *a, **k: full() if self.name in ("full", "logs") else None)
    with pytest.raises(RunFailed, match="cannot write"):
        place.begin("full")


def test_only_numbers_are_parts_of_a_study(tmp_path: Path) -> None:
    """A study removes parts that were put together: an index of a stranger must not lead it elsewhere."""
    folder = tmp_path / "study" / "shards"
    folder.mkdir(parents=True)
    (tmp_path / "mine").mkdir()
    for name in ("../../mine", "/etc", "", "..", "1/../../../mine", 7):
        shards.write_json(folder / shards.INDEX, {"parts": [{"name": name, "runs": 1}]})
        with pytest.raises(Exception, match="cannot be read"):
            shards.Parts(tmp_path / "study")
    assert (tmp_path / "mine").is_dir()


def test_a_link_to_a_run_is_not_removed(tmp_path: Path) -> None:
    run = tmp_path / "elsewhere" / "run"
    run.mkdir(parents=True)
    (run / "manifest.json").write_text("{}")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "link").symlink_to(run)
    for one in kept.kept(tmp_path / "runs"):
        with pytest.raises(InputError, match="is a link"):
            kept.remove(one)
    assert (run / "manifest.json").exists()
