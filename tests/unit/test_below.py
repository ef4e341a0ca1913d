"""Files below a folder: no path leads out of it, by openat2 and by steps without links alike."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dumbbell import below, inputs, outputs
from dumbbell.below import Below, confined

_NO_PATH = r"Not a path|too long|No such file|Not a directory"
_IRREGULAR = r"Not a regular file|Is a directory|No such device"


@pytest.fixture(params=["openat2", "steps"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    if request.param == "steps":
        monkeypatch.setattr(below, "_beneath", lambda *_: None)
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "file").write_text("inside")
    (tmp_path / "secret").write_text("secret")
    (folder / "in").symlink_to("sub/file")
    (folder / "absolute").symlink_to(folder / "sub" / "file")
    (folder / "through").symlink_to("sub")
    (folder / "out").symlink_to("../secret")
    (folder / "away").symlink_to(tmp_path)
    (folder / "loop").symlink_to("loop")
    (folder / "round").symlink_to("../folder/sub/file")
    with confined(Below(folder)):
        yield folder


@pytest.mark.parametrize("name", ["sub/file", "in", "absolute", "through/file", "sub/../in", "round", "./sub//file"])
def test_what_ends_below_is_opened(root: Path, name: str) -> None:
    assert inputs.read(root / name, 100) == b"inside"
    assert inputs.read(f"{root}/{name}", 100) == b"inside"


@pytest.mark.parametrize("name", ["out", "away/secret", "../secret", "away/folder/../secret", "/etc/passwd", "loop"])
def test_what_leads_out_is_not(root: Path, name: str) -> None:
    with pytest.raises(OSError, match=r"outside|symbolic links") as caught:
        inputs.read(root / name, 1 << 20)
    assert caught.value.errno in (errno.EXDEV, errno.ELOOP)
    assert below.leads_out(root / name) == (name != "loop")


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 300, "nothing", "sub/file/more"])
def test_what_is_no_path_is_an_error_of_the_system(root: Path, name: str) -> None:
    with pytest.raises(OSError, match=_NO_PATH):
        inputs.read(root / name, 100)
    with pytest.raises(OSError, match="Not a path"):
        outputs.make_folder(root / f"{name}\0")


def test_a_file_is_written_as_a_whole_below_the_folder(root: Path) -> None:
    (root / "sub" / "file").chmod(0o640)
    outputs.write(root / "through" / "file", b"new")
    assert (root / "sub" / "file").read_bytes() == b"new"
    assert (root / "sub" / "file").stat().st_mode & 0o777 == 0o640
    # A link is replaced: what it led to stays.
    outputs.write(root / "out", b"mine")
    assert ((root / "out").read_bytes(), (root.parent / "secret").read_text()) == (b"mine", "secret")
    with pytest.raises(OSError, match="outside"):
        outputs.write(root / "away" / "secret", b"x")
    with pytest.raises(OSError, match="outside"):
        outputs.make_folder(root / "away" / "new" / "deep")
    with pytest.raises(OSError, match="outside"):
        outputs.append(root / "away" / "secret", "x")
    outputs.make_folder(root / "new" / "deep")
    outputs.make_folder(root / "new" / "deep")
    assert (root / "new" / "deep").is_dir()
    with pytest.raises(IsADirectoryError):
        outputs.write(root / "sub", b"x")
    # Nothing is left behind.
    assert sorted(path.name for path in root.iterdir() if path.name.startswith(".")) == []
    assert sorted(path.name for path in root.parent.iterdir()) == ["folder", "secret"]


def test_only_regular_files_are_opened(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "sub"):
        with pytest.raises(OSError, match=_IRREGULAR):
            inputs.read(root / name, 100)
        with pytest.raises(OSError, match=_IRREGULAR):
            outputs.append(root / name, "x")
    with pytest.raises(OSError, match="outside"):
        inputs.read(root / "zero", 100)
    with confined(None), pytest.raises(OSError, match="Not a regular file"):
        inputs.read(root / "zero", 100)


def test_all_files_of_a_folder_are_looked_at(root: Path) -> None:
    with pytest.raises(OSError, match="leads out of the workspace"):
        inputs.check_files(root)
    inputs.check_files(root / "sub")
    with confined(None):
        inputs.check_files(root)
        os.mkfifo(root / "sub" / "pipe")
        with pytest.raises(OSError, match="Its pipe is not a regular file"):
            inputs.check_files(root / "sub")
