"""`--events`: progress for other programs; `--no-report`: the report is made later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dumbbell.cli import invoke

SCENARIO = """\
name = "small"
duration = "3 s"
topology = { kind = "path", rtt = "10 ms", bottleneck = { rate = "5 Mbit/s", buffer = "1 bdp" } }
flows = [{ from = "h1", to = "h2", cc = "cubic" }]
"""
RUN = ["run", "small.toml", "--engine", "simulate", "--no-report"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SCENARIO)


def test_events_of_a_run_are_lines_of_json_in_a_file() -> None:
    assert invoke([*RUN, "--quiet", "--events", "events.jsonl"]) == 0
    found = [json.loads(line) for line in Path("events.jsonl").read_text().splitlines()]
    assert [one["event"] for one in found if one["event"] != "progress"][:2] == ["planned", "simulating"]
    last = [one for one in found if one["event"] == "progress"][-1]
    assert last["flows"][0]["received_bytes"] > 0
    assert found[0].keys() == {"event", "run_id", "engine"}


def test_events_of_a_study_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([*RUN, "--json", "--repeat", "2", "--events", "-"]) == 0
    shown = capsys.readouterr()
    told = json.loads(shown.out)
    assert (told["runs"], told["report"]) == (2, None)
    last = [one for line in shown.err.splitlines() if (one := json.loads(line))["event"] == "progress"][-1]
    assert (last["runs"], last["of"]) == (2, 2)


def test_a_file_that_cannot_be_written_is_refused_before_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([*RUN, "--events", "no/such/folder"]) == 2
    assert "error: cannot write no/such/folder" in capsys.readouterr().err
    assert not Path("runs").exists()


def test_without_a_report_the_last_line_is_the_directory(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([*RUN, "--quiet"]) == 0
    (run,) = (path for path in Path("runs").iterdir() if path.is_dir())
    assert capsys.readouterr().out.splitlines()[-1] == str(run)
    assert not (run / "report.html").exists()
