"""The boot of a ready kernel's virtual machine, and its snapshot: what becomes of one that hangs, ends, or is gone."""

from __future__ import annotations

import json
import os
import struct
from functools import partial
from pathlib import Path

import pytest

from dumbbell.engines.virtual import confine
from dumbbell.engines.virtual.guest import NotStarted
from dumbbell.engines.virtual.ready import Snapshot
from dumbbell.kernels.ready.boot import described, tried
from dumbbell.kernels.ready.machine import OUTPUT, OUTPUT_AT, READY, STATE_AT, Machine, Monitor


def machine(folder: Path, does: str) -> Machine:
    """A machine whose QEMU is a script."""
    program = folder / "qemu"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    return Machine(program, folder / "kernel", folder / "initrd", folder / "snapshot")


def boot(folder: Path, does: str, answer_s: float) -> list[str]:
    def never(monitor: Monitor, shared: Path) -> None:
        pytest.fail("a machine that says nothing has not booted")

    said = tried(partial(machine(folder, does).booting, folder / "memory"), folder, never, os.environ, answer_s)
    assert said is not None
    return said


def test_a_machine_that_hangs_is_given_up(tmp_path: Path) -> None:
    assert boot(tmp_path, "exec sleep 60", 0.2) == ["the virtual machine is silent"]


def test_a_machine_that_ends_says_so(tmp_path: Path) -> None:
    assert boot(tmp_path, "echo no memory >&2; exit 1", 10) == ["the virtual machine has ended", "no memory"]


def test_a_machine_finds_no_firmware_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """QEMU takes `bios-256k.bin` and others from there before its own: a stranger's would stay in the snapshot."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder in (theirs, ours):
        folder.mkdir()
    (theirs / "bios-256k.bin").touch()
    monkeypatch.chdir(theirs)
    said = boot(ours, "pwd >&2; ls *.bin >&2; exit 1", 10)
    assert said[1] == str(ours)
    assert said[2:] != ["bios-256k.bin"]
    (ours / "snapshot").mkdir()
    for name in ("memory", "devices"):
        (ours / "snapshot" / name).touch()
    assert Snapshot(machine(ours, "true"), []).boot.folder == confine.PLACE


def test_a_snapshot_that_somebody_removed_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotStarted, match="the snapshot of the kernel is gone") as failure:
        Snapshot(machine(tmp_path, "true"), ["plan.json"])
    assert "run it again" in failure.value.hint


ITSELF = {"release": "6.12.1+deb12-amd64", "algorithms": ["cubic"], "sysctls": ["net.ipv4.conf.all.x"], "has_btf": True}


def shared(file: Path, content: bytes, length: int) -> Path:
    """Memory in which a kernel has described itself."""
    with file.open("wb") as out:
        head = bytearray(OUTPUT_AT + 8)
        struct.pack_into("<Q", head, STATE_AT, READY)
        struct.pack_into("<Q", head, OUTPUT_AT, length)
        out.write(head)
        out.seek(OUTPUT)
        out.write(content)
    return file


def test_a_kernel_describes_itself(tmp_path: Path) -> None:
    content = json.dumps(ITSELF).encode()
    assert described(shared(tmp_path / "shared", content, len(content))) == ITSELF


@pytest.mark.parametrize(
    "wrong",
    [
        {"release": "6.12\x1b[2J"},
        {"release": 6.12},
        {"release": "../6.12"},
        {"algorithms": ["cubic\n"]},
        {"algorithms": "cubic"},
        {"sysctls": [["net"]]},
        {"has_btf": 1},
        {"more": 1},
    ],
)
def test_a_kernel_that_describes_something_else_is_refused(tmp_path: Path, wrong: dict[str, object]) -> None:
    """Versions and names are shown in terminals and in reports; the kernel may be a stranger's."""
    content = json.dumps({**ITSELF, **wrong}).encode()
    with pytest.raises(ValueError, match="has not described itself"):
        described(shared(tmp_path / "shared", content, len(content)))


@pytest.mark.parametrize(("content", "length"), [(b"{", 2**64 - 1), (b"[" * 200_000, 200_000), (b"", 0), (b"7", 1)])
def test_a_description_without_end_is_refused(tmp_path: Path, content: bytes, length: int) -> None:
    with pytest.raises(ValueError, match=r"not described itself|Expecting|Extra data"):
        described(shared(tmp_path / "shared", content, length))
