"""`dumbbell runs`: list, show, tag, remove, clean."""

from __future__ import annotations

import fcntl
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dumbbell.cli import invoke

SCENARIO = """\
name = "small"
duration = "200 ms"
topology = { kind = "path", rtt = "10 ms", bottleneck = { rate = "5 Mbit/s", buffer = "1 bdp" } }
flows = [{ from = "h1", to = "h2", cc = "cubic" }]
"""


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Two plans, one of which was run twice; one run failed, one was killed, one goes on, and a folder is no run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dumbbell.Run.report", lambda run: run.directory / "report.html")
    Path("small.toml").write_text(SCENARIO)
    command = ["run", "small.toml", "--engine", "simulate", "--quiet"]
    assert invoke([*command, "--tag", "baseline", "--tag", "x"]) == 0
    assert invoke([*command, "--set", "seed=2"]) == 0
    assert invoke([*command, "--set", "seed=2"]) == 0
    for name, status in (("small-0123456789ab.failed-1", "failed"), (".partial-small-0123456789ab-77", "running")):
        (Path("runs") / name).mkdir()
        (Path("runs") / name / "manifest.json").write_text(json.dumps({"name": "small", "status": status}))
    Path("runs/other").mkdir()
    capsys.readouterr()
    return tmp_path / "runs"


def listed(capsys: pytest.CaptureFixture[str], *args: str) -> list[dict[str, Any]]:
    assert invoke(["runs", *args, "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    found = listed(capsys, "list")
    assert [one["verdict"] for one in found] == ["valid", "valid", "valid", "failed", "killed"]
    assert [one["overrides"] for one in found[:3]] == [["seed=2"], ["seed=2"], []]
    assert found[2]["tags"] == ["baseline", "x"]
    assert found[0]["size"] > 1000
    assert [one["path"] for one in listed(capsys, "list", "--tag", "x")] == [found[2]["path"]]
    assert invoke(["runs", "list"]) == 0
    assert capsys.readouterr().out.startswith("5 runs, ")


def test_a_run_without_its_name_is_not_whole(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    whole = next(one for one in runs.iterdir() if (one / "summary.json").exists())
    partial = runs / ".partial-small-0123456789ab-78"
    shutil.copytree(whole, partial)

    def verdict() -> str:
        return next(one["verdict"] for one in listed(capsys, "list") if one["path"].endswith(partial.name))

    assert verdict() == "killed"
    with (partial / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert verdict() == "running"


def test_show_and_tag(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["runs", "show", "baseline"]) == 0
    assert capsys.readouterr().out.startswith("verdict: valid\n")
    assert invoke(["runs", "tag", "later", "baseline"]) == 0
    assert invoke(["runs", "tag", "x", "later", "--remove"]) == 0
    assert [one["tags"] for one in listed(capsys, "list", "--tag", "later")] == [["baseline", "later"]]
    assert invoke(["runs", "tag", "no tag", "later"]) == 2
    assert invoke(["runs", "show", "nothing"]) == 2
    assert "error: no run 'nothing' in runs" in capsys.readouterr().err


def test_remove(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = (one["path"] for one in listed(capsys, "list", "--tag", "x"))
    assert invoke(["runs", "remove", "baseline"]) == 0
    assert capsys.readouterr().out == f"{path}\n"
    assert not Path(path).exists()
    assert (runs / "other").is_dir()


def test_a_run_that_goes_on_stays(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    partial = runs / ".partial-small-0123456789ab-77"
    with (partial / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert invoke(["runs", "remove", partial.name]) == 2
        assert "is being written" in capsys.readouterr().err
        assert partial.name not in {Path(one["path"]).name for one in listed(capsys, "clean", "--yes")}
    assert partial.is_dir()


def test_clean_removes_what_is_left_over_and_not_tagged(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left = {path.name for path in runs.iterdir() if path.name.endswith((".1", ".failed-1", "-77"))}
    assert len(left) == 3
    assert {Path(one["path"]).name for one in listed(capsys, "clean")} == left
    assert all((runs / name).is_dir() for name in left)
    assert invoke(["runs", "tag", "keep", "small-0123456789ab.failed-1"]) == 0
    assert {Path(one["path"]).name for one in listed(capsys, "clean", "--yes")} == left - {
        "small-0123456789ab.failed-1"
    }
    assert len(listed(capsys, "list")) == 3
    assert (runs / "other").is_dir()
