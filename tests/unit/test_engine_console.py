"""The output of `dumbbell run`, and its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import known_run
import pytest
from stages import thorough_after
from test_pipeline_run import SCENARIO, FakeEngine

import dumbbell
from dumbbell.cli import invoke
from dumbbell.cli.progress import Bar, Lines
from dumbbell.engines.emulate import engine


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dumbbell.Run, "report", lambda run: run.directory / "report.html")
    path = tmp_path / "synthetic.toml"
    path.write_text(SCENARIO)
    return path


def execute(monkeypatch: pytest.MonkeyPatch, mode: str, *arguments: str) -> int:
    monkeypatch.setattr(engine, "EmulateEngine", lambda: FakeEngine(mode))
    return invoke(["run", "synthetic.toml", *arguments])


def test_plain_lines_end_with_the_report(
    scenario: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(monkeypatch, "good") == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    assert lines[0] == "synthetic.toml: checking"
    assert lines[1:5] == ["building the lab", "starting hosts and links", "running", "writing the records"]
    assert any(line.startswith("f1 cubic") and "6.00 Mbit/s" in line for line in lines)
    assert any(line.startswith("bottleneck ") and "10 Mbit/s" in line and "99.4 %" in line for line in lines)
    assert "verdict: valid" in lines
    assert lines[-1].startswith("runs/synthetic-")
    assert lines[-1].endswith("/report.html")


def test_json_is_all_there_is(
    scenario: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(monkeypatch, "good", "--json", "--output", "elsewhere") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["verdict"] == "valid"
    assert summary["run_dir"].startswith("elsewhere/synthetic-")


def test_an_invalid_run_says_why(
    scenario: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(monkeypatch, "ring-drops", "--quiet") == 3
    out = capsys.readouterr().out
    assert "verdict: invalid" in out
    assert f"ring-drops: 7 of {known_run.PACKETS} packets lost in the ring" in out


def test_a_failed_run(scenario: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(monkeypatch, "refuse") == 1
    error = capsys.readouterr().err
    assert "cannot make a namespace" in error
    assert ".failed-1" in error
    assert "hint: sudo sysctl" in error


def test_bad_input(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert execute(monkeypatch, "good", "--set", "duration=20") == 2


def progress(time_ns: int, *received: int) -> dict[str, Any]:
    flows = [{"id": f"f{number}", "received_bytes": count} for number, count in enumerate(received, 1)]
    return {"event": "progress", "time_ns": time_ns, "flows": flows}


def test_goodput_is_of_the_last_second(capsys: pytest.CaptureFixture[str]) -> None:
    """10 Mbit/s in the first second, 4 in the second: the line after two seconds says 4."""
    lines = Lines()
    lines({"event": "planned", "plan": known_run.plan()})
    for tenth in range(1, 21):
        received = 125_000 * tenth if tenth <= 10 else 1_250_000 + 50_000 * (tenth - 10)
        lines(progress(tenth * 100_000_000, received, 0))
    assert capsys.readouterr().out == "   2.0 s  f1 cubic 4.0   f2 bbr 0.0 Mbit/s\n"


def test_the_bar_takes_every_event() -> None:
    with Bar() as bar:
        for event in (
            "planned",
            "helper",
            "lab",
            "ready",
            "started",
            "simulating",
            "stopping",
            "done",
            "end",
            "composing",
        ):
            bar({"event": event, "plan": known_run.plan(), "process": "traffic"})
        bar(progress(10**9, 10**6, 0))
        (task,) = bar.tasks
    assert (task.completed, task.total, task.description) == (1.0, 2.0, "judging the run")


def test_the_first_line_comes_before_heavy_imports() -> None:
    code = """
import sys
class Out:
    def write(self, text):
        heavy = {"polars", "numpy", "matplotlib", "rich", "dumbbell.scenario"} & set(sys.modules)
        sys.__stderr__.write(f"{text.strip()} {sorted(heavy)}")
        sys.exit(0)
    def flush(self): pass
    def isatty(self): return False
sys.stdout = Out()
from dumbbell.cli import invoke
invoke(["run", "bbr-vs-cubic"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "bbr-vs-cubic: checking []"


def test_many_flows_fit_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines()
    ids = [f"f{number}" for number in range(1, 251)]
    for second in range(4):
        flows = [{"id": flow, "received_bytes": second * 125_000} for flow in ids]
        lines({"event": "progress", "time_ns": second * 10**9, "flows": flows})
    (line,) = capsys.readouterr().out.splitlines()
    assert line == "   2.0 s  f1 1.0   f2 1.0   f3 1.0   f4 1.0   all 250 flows 250.0 Mbit/s"


@pytest.mark.parametrize(
    ("mode", "code", "options"),
    thorough_after(
        1, [(*of, options) for of in (("ring-drops", 3), ("good", 0)) for options in ([], ["--quiet"], ["--json"])]
    ),
)
def test_a_reader_that_leaves_does_not_end_the_run(mode: str, code: int, options: list[str], scenario: Path) -> None:
    program = (
        "import sys, dumbbell\n"
        "from test_pipeline_run import FakeEngine\n"
        "from dumbbell.cli import main\n"
        "from dumbbell.engines.emulate import engine\n"
        "dumbbell.Run.report = lambda run: run.directory / 'report.html'\n"
        f"engine.EmulateEngine = lambda: FakeEngine({mode!r})\n"
        f"sys.argv = ['dumbbell', 'run', 'synthetic.toml', *{options!r}]\n"
        "main()"
    )
    reader, writer = os.pipe()
    os.close(reader)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    os.close(writer)
    assert (done.returncode, done.stderr) == (code, "")
    assert [path.name.startswith("synthetic-") for path in Path("runs").iterdir() if path.is_dir()] == [True]


def test_a_simulation_has_ten_lines_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    """Seconds of it may pass between two events; each event is printed once."""
    lines = Lines()
    lines({"event": "planned", "plan": known_run.plan(duration_ns=100 * 10**9), "engine": "simulate"})
    for second in (0, 3, 9, 11, 15, 29, 31, 99, 100):
        lines(progress(second * 10**9, second * 125_000, 0))
    told = [line.split(" s ")[0].strip() for line in capsys.readouterr().out.splitlines()]
    assert told == ["11.0", "29.0", "99.0"]


def test_a_slow_simulation_says_when_it_will_be_done(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    lines = Lines(clock=lambda: now[0])
    lines({"event": "planned", "plan": known_run.plan(duration_ns=100 * 10**9), "engine": "simulate"})
    # A second of it takes 20 s. Lines come every 10 s, though a tenth of the run takes 200 s.
    for wall in range(0, 41, 4):
        now[0] = float(wall)
        lines(progress(wall * 50_000_000, 0, 0))
    told = capsys.readouterr().out.splitlines()
    assert [line.split(" s ")[0].strip() for line in told] == ["0.6", "1.2", "1.8"]
    assert told[0].endswith("   33 min 8 s left")
