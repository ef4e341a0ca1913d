"""`dumbbell cc new`: a folder that compiles, runs and scores at once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from dumbbell.cli import invoke

NEEDS_CLANG = pytest.mark.skipif(shutil.which("clang") is None, reason="apt-get install clang")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@NEEDS_CLANG
def test_what_it_makes_compiles_runs_and_scores_as_reno(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["cc", "new", "mine"]) == 0
    assert "dumbbell cc score mine.bpf.c" in capsys.readouterr().out
    assert sorted(path.name for path in Path("mine").iterdir()) == ["mine.bpf.c", "study.toml", "test.toml"]
    assert not any("NAME" in path.read_text() for path in Path("mine").iterdir())
    monkeypatch.chdir("mine")
    assert invoke(["run", "test.toml", "--engine", "simulate", "--quiet"]) == 0
    # The expectations can fail: a tenth of the window is too little.
    smaller = ["--set", 'flows.0.cc={ bpf = "mine.bpf.c", parameters = { keep = 100 } }']
    assert invoke(["run", "test.toml", "--engine", "simulate", "--quiet", *smaller]) == 4
    assert invoke(["plan", "study.toml", "--engine", "simulate"]) == 0
    capsys.readouterr()
    assert invoke(["cc", "score", "mine.bpf.c", "--beside", "reno", "--case", "itself", "--json"]) == 0
    mine, reno = json.loads(capsys.readouterr().out)["algorithms"]
    assert mine["score"] == pytest.approx(reno["score"], abs=0.02)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Mine", "'Mine' cannot be the name of a congestion control"),
        ("a" * 16, "at most 15"),
        ("cubic", "cubic is a congestion control already"),
        ("there", "there is there already"),
    ],
)
def test_names_that_cannot_be(name: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("there").mkdir()
    assert invoke(["cc", "new", name]) == 2
    assert said in capsys.readouterr().err
    assert list(Path().rglob("*")) == [Path("there")]
