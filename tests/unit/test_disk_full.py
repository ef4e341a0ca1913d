"""A disk that is full: one error, which says what is kept and where. A limit on the size of files stands for it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from stages import thorough_but

SCENARIO = """\
name = "small"
duration = "300 ms"
topology = { kind = "path", rtt = "10 ms", bottleneck = { rate = "5 Mbit/s", buffer = "1 bdp" } }
flows = [{ from = "h1", to = "h2", cc = "cubic" }]
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SCENARIO)
    return tmp_path


def run(largest: int, *options: str) -> tuple[int, str]:
    """Exit code and stderr of a run in which no file may be larger."""
    command = [sys.executable, "-m", "dumbbell", "run", "small.toml", "--engine", "simulate", "--quiet", *options]
    limit = (largest, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        # CPython 3.11 would leave a part of its compiled modules, with which each later start fails.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("largest", thorough_but([0, 3000], [0, 1000, 3000, 9000]))
def test_a_run_says_what_it_keeps(largest: int) -> None:
    code, said = run(largest)
    assert code == 1
    assert [line.startswith("error: ") for line in said.splitlines()].count(True) == 1
    assert "File too large" in said
    assert "Traceback" not in said
    assert not list(Path("runs").glob(".partial-*"))
    (kept,) = Path("runs").glob("small-*.failed-1")
    assert f"\n  the measurements until then are in {kept}\n" in said
    assert not list(kept.glob(".*")), "no file is left that was begun"


def test_a_run_is_complete_without_its_report() -> None:
    code, said = run(120_000)
    assert code == 1
    (kept,) = (path for path in Path("runs").glob("small-*") if path.is_dir())
    assert said.startswith(f"error: cannot write {kept}/report.html\n  File too large\n  the run is complete: {kept}\n")
    assert {path.name for path in kept.glob("*.json")} >= {"summary.json", "manifest.json"}


@pytest.mark.parametrize("largest", thorough_but([2500], [0, 500, 2500, 5000]))
def test_a_study_says_that_it_continues(largest: int) -> None:
    code, said = run(largest, "--repeat", "3")
    assert code == 1
    assert [line.startswith("error: ") for line in said.splitlines()].count(True) == 1
    assert "Traceback" not in said
    assert "finished runs are" in said
    assert run(resource.RLIM_INFINITY, "--repeat", "3") == (0, "")
