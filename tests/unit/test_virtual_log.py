"""Logs and events of a kernel in virtual time, which may be a stranger's: both have an end."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dumbbell.engines.virtual import log
from dumbbell.engines.virtual.guard import Guard
from dumbbell.engines.virtual.log import Log
from dumbbell.engines.virtual.ready import Snapshot
from dumbbell.kernels.ready import machine


def test_a_log_is_kept_as_it_is(tmp_path: Path) -> None:
    made = Log(tmp_path / "log")
    made.write(b"one\n")
    assert (tmp_path / "log").read_bytes() == b"one\n"
    made.write(b"two\n")
    made.end()
    assert (tmp_path / "log").read_bytes() == b"one\ntwo\n"


def test_a_log_without_end_is_cut_in_its_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "FIRST", 10)
    monkeypatch.setattr(log, "LAST", 20)
    made = Log(tmp_path / "log")
    for number in range(1000):
        made.write(f"line {number}\n".encode())
        assert (tmp_path / "log").stat().st_size <= 10
    made.end()
    said = (tmp_path / "log").read_text()
    assert said.startswith("line 0\nlin\n[")
    assert said.endswith("line 998\nline 999\n")
    assert len(said) < 100


def guarding(news: bytes) -> tuple[Guard, list[bool]]:
    """A guard whose kernel has reported `news`, and whether it was killed."""
    made, killed = Guard.__new__(Guard), list[bool]()
    made._guest = SimpleNamespace(news=lambda offset: news[offset:])  # type: ignore[assignment]
    made._offset, made._over, made._failed, made._held = 0, False, False, []
    made._kill = lambda: killed.append(True)  # type: ignore[method-assign]
    return made, killed


@pytest.mark.parametrize("line", [b"{", b"7", b"{}", b"[" * 100_000, b"\xff"])
def test_a_kernel_that_reports_no_event_is_ended(line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), write_through=True)
    monkeypatch.setattr(sys, "stdout", out)
    made, killed = guarding(b'{"event": "started"}\n' + line + b"\n" + line + b"\n")
    made._relay()
    made._relay()
    assert killed == [True]
    first, failed = out.buffer.getvalue().splitlines()  # type: ignore[attr-defined]
    assert json.loads(first) == {"event": "started"}
    assert json.loads(failed)["what"] == "the kernel reports what is no event"


def test_a_kernel_counts_no_more_events_than_there_is_room_for() -> None:
    made = Snapshot.__new__(Snapshot)
    made._memory = bytearray(machine.OUTPUT + 100)  # type: ignore[assignment]
    made._set(machine.EVENTS_AT, 2**64 - 1)
    assert len(made.news(0)) == machine.OUTPUT - machine.EVENTS
    assert made.news(machine.OUTPUT) == b""
