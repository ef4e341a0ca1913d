"""Files that `sudo dumbbell` makes in a directory of its caller's belong to the caller, and nothing else does."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_capture import lossy

from dumbbell.caller import give
from dumbbell.cli import invoke
from dumbbell.machine import state_folder
from dumbbell.records.directory import RunDirectory

CALLER = 54321
SCENARIO = """\
name = "small"
duration = "200 ms"
[topology]
kind = "dumbbell"
rtt = "20 ms"
bottleneck = { rate = "5 Mbit/s", buffer = "1 bdp" }
[[flows]]
from = "s1"
to = "r1"
cc = "cubic"
"""
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of the caller's, in which root works."""
    found = tmp_path / "home"
    found.mkdir()
    os.chown(found, CALLER, CALLER)
    monkeypatch.chdir(found)
    monkeypatch.setenv("SUDO_UID", str(CALLER))
    monkeypatch.setenv("SUDO_GID", str(CALLER))
    return found


def owners(directory: Path) -> set[tuple[int, int]]:
    return {(one.lstat().st_uid, one.lstat().st_gid) for one in (directory, *directory.rglob("*"))}


def test_runs_studies_and_reports_belong_to_the_caller(home: Path) -> None:
    (home / "small.toml").write_text(SCENARIO)
    os.chown(home / "small.toml", CALLER, CALLER)
    assert invoke(["run", "small.toml", "--engine", "simulate", "--quiet"]) in (0, 3)
    assert invoke(["run", "small.toml", "--engine", "simulate", "--quiet", "--repeat", "2"]) in (0, 3)
    (run,) = home.glob("runs/small-*")
    assert invoke(["report", str(run), "--format", "svg", "--output", "pictures/one.svg"]) == 0
    assert {one.name for one in home.iterdir()} == {"small.toml", "runs", "studies", "pictures"}
    assert len(list(home.rglob("*"))) > 20
    assert owners(home) == {(CALLER, CALLER)}


def test_a_program_a_score_and_a_log_of_events_belong_to_the_caller(home: Path) -> None:
    (home / "small.toml").write_text(SCENARIO)
    os.chown(home / "small.toml", CALLER, CALLER)
    assert invoke(["cc", "new", "mine", "--directory", "made/here"]) == 0
    case = ["cc", "score", "reno", "--case", "alone/2Mbps-20ms-0.1bdp", "--output", "cases/one.toml"]
    assert invoke(case) == 0
    run = ["run", "small.toml", "--engine", "simulate", "--quiet", "--no-report", "--events", "events.jsonl"]
    assert invoke(run) in (0, 3)
    assert owners(home) == {(CALLER, CALLER)}


def test_an_analysed_capture_belongs_to_the_caller(home: Path) -> None:
    (home / "theirs.pcap").write_bytes(lossy())
    os.chown(home / "theirs.pcap", CALLER, CALLER)
    assert invoke(["pcap", "theirs.pcap", "--output", "made/analysed"]) == 0
    assert (home / "made" / "analysed" / "report.html").is_file()
    assert owners(home) == {(CALLER, CALLER)}


def test_a_directory_that_takes_another_ones_place_is_not_given(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller may replace it at any moment: here, once its owner is known."""
    outside, place, stat, swaps = tmp_path / "outside", home / "place", (os.stat, os.fstat), list[Path]()
    for one in (outside, place):
        one.mkdir()
        (one / "file").write_text("")
    os.chown(place, CALLER, CALLER)

    def swapped(of: Callable[..., os.stat_result]) -> Callable[..., os.stat_result]:
        def looked(*args: Any, **given: Any) -> os.stat_result:
            found = of(*args, **given)
            if found.st_uid == CALLER and not swaps:
                swaps.append(place.rename(home / "aside"))
                place.symlink_to(outside)
            return found

        return looked

    monkeypatch.setattr(os, "stat", swapped(stat[0]))
    monkeypatch.setattr(os, "fstat", swapped(stat[1]))
    give(place / "file")
    monkeypatch.undo()
    assert swaps
    assert (outside / "file").stat().st_uid == 0
    assert (home / "aside" / "file").stat().st_uid == CALLER


def test_a_run_that_goes_on_can_be_filed_by_the_caller(home: Path) -> None:
    made = RunDirectory.begin(home / "runs", "demo", "abc")
    assert owners(home) == {(CALLER, CALLER)}
    (made.path / "late").write_text("")
    made.fail("failed", "as it should")
    assert owners(home) == {(CALLER, CALLER)}


def test_nothing_else_is_given(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside, others = tmp_path / "outside", home / "mine"
    outside.mkdir()
    (outside / "secret").write_text("")
    others.mkdir()
    (others / "link").symlink_to(outside)
    (others / "file").symlink_to(outside / "secret")
    os.link(outside / "secret", others / "second")
    os.mkfifo(others / "pipe")
    (others / "anothers").write_text("")
    os.chown(others / "anothers", 4321, 4321)
    give(others)
    assert others.stat().st_uid == CALLER
    assert owners(outside) == {(0, 0)}
    assert (others / "anothers").stat().st_uid == 4321
    assert (others / "pipe").stat().st_uid == 0
    # A directory of root's stays root's, and so does all if sudo was not there.
    (outside / "runs").mkdir()
    give(outside / "runs")
    assert owners(outside) == {(0, 0)}
    monkeypatch.delenv("SUDO_UID")
    (home / "roots").mkdir()
    give(home / "roots")
    assert (home / "roots").stat().st_uid == 0


@pytest.mark.parametrize("variable", ["HOME", "XDG_STATE_HOME"])
def test_the_consent_of_root_is_not_kept_in_the_caller_s_home(
    home: Path, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv(variable, str(home))
    assert state_folder() == Path(pwd.getpwuid(0).pw_dir, ".local", "state", "dumbbell")
    own = home.parent / "own"
    own.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(own / "state"))
    assert state_folder() == own / "state" / "dumbbell"
    monkeypatch.delenv("SUDO_UID")
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    assert state_folder() == home / "dumbbell"
