"""Files are written whole or not at all, by one writer."""

from __future__ import annotations

import ast
import errno
import os
import resource
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dumbbell
from dumbbell import outputs
from dumbbell.errors import InputError, RunFailed, unwritable

STREAMS = {
    "engines/realm/process.py": "what a process says",
    "engines/virtual/log.py": "what a kernel says",
    "kernels/steps.py": "what a build says",
    "labs/packets.py": "frames, into a pipe",
    "labs/services.py": "what a program says",
    "records/progress.py": "events, as they come",
    "server/agreement.py": "a line more",
}
SCRATCH = {
    "cc/algorithm.py": "a temporary folder",
    "cc/compile.py": "a temporary folder",
    "engines/realm/algorithms.py": "a temporary folder",
    "engines/virtual/confine.py": "/proc",
    "engines/virtual/inside.py": "the memory of a kernel",
    "engines/virtual/ready.py": "the memory of a machine",
    "execute/cluster/archive.py": "a temporary folder",
    "kernels/boot.py": "a temporary folder",
    "kernels/build.py": "a folder that gets its name when it is whole",
    "kernels/cache.py": "a lock",
    "kernels/kit.py": "a folder that gets its name when it is whole",
    "kernels/link.py": "a folder that gets its name when it is whole",
    "kernels/ready/boot.py": "a folder that gets its name when it is whole",
    "kernels/ready/image.py": "a folder that gets its name when it is whole",
    "routing/frr.py": "a temporary folder",
    "scenario/file/started.py": "a file in memory",
    "server/fits.py": "a temporary folder",
}


def writes(call: ast.Call) -> bool:
    """Whether a call writes a file itself."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    modes = [
        word.value for word in (*call.args, *(key.value for key in call.keywords)) if isinstance(word, ast.Constant)
    ]
    if name == "open":
        return any(isinstance(mode, str) and len(mode) <= 3 and set(mode) & set("wax") for mode in modes)
    of_polars = name.startswith(("write_parquet", "write_csv")) and isinstance(call.func, ast.Attribute)
    return name in ("write_text", "write_bytes") or (
        of_polars and bool(call.args) and ast.unparse(call.func) != "outputs.write_parquet"
    )


def test_nothing_else_writes_files() -> None:
    root = Path(dumbbell.__file__).parent
    found = set()
    for file in root.rglob("*.py"):
        text = file.read_text()
        if "open(" not in text and "write_" not in text:
            continue
        calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
        if any(map(writes, calls)):
            found.add(str(file.relative_to(root)))
    assert found == {*STREAMS, *SCRATCH, "outputs.py"}


def test_nothing_is_appended_in_part(tmp_path: Path) -> None:
    file, limit = tmp_path / "lines", resource.getrlimit(resource.RLIMIT_FSIZE)
    assert outputs.append(file, "one\n") == 4
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, limit[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            outputs.append(file, "two, which is longer\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert outputs.append(file, "three\n") == 10
    assert file.read_text() == "one\nthree\n"


@pytest.mark.parametrize("call", ["fsync", "replace", "fchmod"])
def test_what_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    file = tmp_path / "a.json"
    file.write_text("old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="No space"):
        outputs.write(file, "new")
    monkeypatch.undo()
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.json"]


def test_permissions_stay(tmp_path: Path) -> None:
    file, secret = tmp_path / "a.json", tmp_path / "token"
    file.write_text("old")
    file.chmod(0o640)
    outputs.write(file, "new")
    outputs.write(secret, b"new", mode=0o600)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, secret)] == [0o640, 0o600]
    assert (file.read_text(), secret.read_bytes()) == ("new", b"new")


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    outputs.write(tmp_path / ("a" * 255), "new")
    assert os.listdir(tmp_path) == ["a" * 255]


def test_a_device_stays_one(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", tmp_path / "got"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    outputs.write_named(pipe, b"frames")
    assert os.read(reader, 100) == b"frames"
    os.close(reader)
    code = "from dumbbell import outputs, report; report.write_file(outputs.Path('/dev/stdout'), b'page')"
    with got.open("wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert got.read_bytes() == b"page"
    assert Path("/dev/stdout").is_symlink()
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_of_a_named_file_is_replaced_and_its_target_stays(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "linked").symlink_to("precious")
    with outputs.open_named(tmp_path / "linked") as file:
        file.write(b"frames")
    assert [(tmp_path / name).read_text() for name in ("precious", "linked")] == ["mine", "frames"]
    assert not (tmp_path / "linked").is_symlink()


def test_what_comes_bit_by_bit_goes_to_a_pipe_and_replaces_a_file(tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    file.write_text("former and longer")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for path in (pipe, file):
        with outputs.open_named(path) as out:
            out.write(b"frames")
    assert os.read(reader, 100) == b"frames"
    os.close(reader)
    assert file.read_text() == "frames"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_to_a_pipe_or_a_device_is_replaced_and_nothing_is_written_there(tmp_path: Path) -> None:
    """A stranger's folder may have one where a command writes, and root may write to any disk."""
    pipe, linked = tmp_path / "pipe", tmp_path / "linked"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for leads_to in (pipe, Path(os.devnull)):
        linked.symlink_to(leads_to)
        outputs.write_named(linked, b"object")
        assert not linked.is_symlink()
        assert linked.read_bytes() == b"object"
        linked.unlink()
        linked.symlink_to(leads_to)
        with outputs.open_named(linked) as out:
            out.write(b"frames")
        assert not linked.is_symlink()
        assert linked.read_bytes() == b"frames"
        linked.unlink()
    assert os.read(reader, 100) == b""
    os.close(reader)


@pytest.mark.parametrize("has_links", [True, False])
def test_a_new_file_overwrites_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    if not has_links:
        monkeypatch.setattr(os, "link", fail)
    file = tmp_path / "a.toml"
    outputs.write_new(file, "first")
    with pytest.raises(InputError, match="is there already"):
        outputs.write_new(file, "second")
    assert file.read_text() == "first"
    assert os.listdir(tmp_path) == ["a.toml"]


def test_what_a_killed_writer_left_goes(tmp_path: Path) -> None:
    left, young, other = (
        tmp_path / name for name in (".dumbbell-0123abcd.part", ".dumbbell-4567cdef.part", ".mine.part")
    )
    for path in (left, young, other):
        path.write_text("half")
    for path in (left, other):
        os.utime(path, (0, time.time() - 120))
    outputs.write(tmp_path / "a.json", "{}")
    assert sorted(os.listdir(tmp_path)) == sorted([young.name, other.name, "a.json"])
    outputs.remove_parts(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted([other.name, "a.json"])


@pytest.mark.parametrize(
    ("number", "kind", "hint"),
    [
        (errno.ENOSPC, RunFailed, "make room, or here"),
        (errno.EIO, RunFailed, "see what is wrong with the disk: dmesg, or here"),
        (errno.EMFILE, RunFailed, "raise the limit of open files: `ulimit -n 65536`, or here"),
        (errno.EACCES, InputError, "here"),
    ],
)
def test_the_error_says_what_to_do(number: int, kind: type[Exception], hint: str) -> None:
    error = unwritable("a.json", OSError(number, os.strerror(number)), hint="here")
    assert type(error) is kind
    assert (error.why, error.hint) == (os.strerror(number), hint)
