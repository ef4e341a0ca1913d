"""Simulated runs of a study are judged as single ones are: the same rules, the same evidence, the same verdict."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell.analysis.judging import Judge, reasons
from dumbbell.cli import invoke
from dumbbell.errors import Interrupted, RunInvalid
from dumbbell.report.study import write
from dumbbell.statistics.frames import usable
from dumbbell.studies import status
from dumbbell.studies.outcome import exit_code
from dumbbell.studies.planning import RECORD

SCENARIO: dict[str, Any] = {
    "name": "judged",
    "duration": "3 s",
    "topology": {
        "kind": "path",
        "rtt": "20 ms",
        "bottleneck": {"rate": "10 Mbit/s", "buffer": "1 bdp", "reverse": {"rate": "100 Mbit/s"}},
    },
    "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}],
}
RMEM = "hosts.sysctl.net.ipv4.tcp_rmem"
CASES: list[dict[str, Any]] = [
    {"name": "sound"},
    # Its receiver takes less than the path carries, as if we had computed wrongly.
    {
        "name": "held back",
        RMEM: "4096 6291456 6291456",
        "topology.rtt": "100 ms",
        "topology.bottleneck.rate": "1 Gbit/s",
    },
    # The same, because the scenario wants it.
    {"name": "asked for", RMEM: "4096 16384 16384"},
    # No time is left to connect.
    {"name": "too late", "flows.0.start": "2990 ms"},
    # No packet arrives.
    {"name": "dead", "topology.bottleneck.loss": "100 %"},
]
VERDICTS = {
    "sound": "valid",
    "held back": "invalid",
    "asked for": "suspect",
    "too late": "suspect",
    "dead": "suspect",
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> dumbbell.Study:
    wanted = {**SCENARIO, "sweep": {"cases": CASES}}
    study = dumbbell.run(wanted, (), tmp_path_factory.mktemp("studies"), engine="simulate", report=False)
    assert isinstance(study, dumbbell.Study)
    return study


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_verdict_is_that_of_the_single_run(study: dumbbell.Study, tmp_path: Path, case: dict[str, Any]) -> None:
    (row,) = study.runs.filter(case=case["name"]).iter_rows(named=True)
    changes = {key: value for key, value in case.items() if key != "name"}
    run = dumbbell.run(SCENARIO, {**changes, **RECORD}, tmp_path, engine="simulate", report=False)
    assert isinstance(run, dumbbell.Run)
    assert run.run_id == row["run_id"]
    assert row["verdict"] == run.verdict == VERDICTS[case["name"]]
    assert row["reasons"] == reasons(run.summary["reasons"])
    assert row["error"] == (f"invalid: {row['reasons']}" if run.verdict == "invalid" else None)


def test_what_is_invalid_counts_nowhere_and_is_told(
    study: dumbbell.Study, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    # A flow that delivers nothing is a result: starvation counts.
    assert usable(study)["cell"].to_list() == [0, 2, 3, 4]
    assert study.flows["case"].to_list() == ["sound", "asked for", "too late", "dead"]
    assert study.flows.filter(case="dead").select("cc", "received_bytes").row(0) == ("cubic", 0)
    told = status.status(study)
    assert (told.done, told.refused) == (4, {"invalid: window-limits": 1})
    assert exit_code(study) == RunInvalid.exit_code
    assert invoke(["status", str(study.directory)]) == RunInvalid.exit_code
    said = capsys.readouterr().out
    assert "1 run can't be used: invalid: window-limits\n" in said
    assert "--failed" not in said, "they are deterministic"
    (page,) = write(study, "html", tmp_path / "report.html")
    assert re.search(r"<span>5 runs: .*, 1 invalid</span>", page.read_text())


def test_a_suspect_run_counts_and_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The window is a few percent of the busy time too small."""
    held = {RMEM: "4096 56000 56000", "duration": "10 s", "topology.bottleneck.buffer": "0.3 bdp"}
    study = dumbbell.run(SCENARIO, held, tmp_path, engine="simulate", repeat=2)  # with its report
    assert isinstance(study, dumbbell.Study)
    assert study.runs.select("verdict", "reasons", "error").unique().rows() == [("suspect", "window-limits", None)]
    assert status.status(study).suspicions == {"window-limits": 2}
    assert "2 runs: 0 valid, 2 suspect (window-limits 2)" in (study.directory / "report.html").read_text()
    assert invoke(["status", str(study.directory)]) == 0
    assert "2 of 2 runs, 2 of them suspect (window-limits 2)\n" in capsys.readouterr().out


def test_an_interrupt_while_a_run_is_judged_ends_the_study_and_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, asked = Judge.__call__, []

    def interrupted(judging: Judge, plan: int, evidence: str) -> tuple[str, str | None]:
        asked.append(plan)
        if len(asked) == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return judge(judging, plan, evidence)

    monkeypatch.setattr(Judge, "__call__", interrupted)
    with pytest.raises(Interrupted, match="the study was interrupted"):
        dumbbell.run(SCENARIO, {"topology.bottleneck.loss": "100 %"}, tmp_path, engine="simulate", repeat=5_000)
    (directory,) = tmp_path.iterdir()
    assert 1 <= len(asked) < 5_000
    assert dumbbell.Study(directory).manifest["status"] == "interrupted"


def test_evidence_that_the_screen_lets_through_is_judged_by_all_rules() -> None:
    """A plan's links, and a packet that has vanished from one."""
    from dumbbell.plan.expand import expand
    from dumbbell.plan.identity import canonical
    from dumbbell.plan.wire import document
    from dumbbell.scenario.file.loading import load

    plan = expand(load(SCENARIO))
    counts = {"arrived_packets": 9, "duplicated": 0, "delivered_packets": 8, "lost_before": 0, "lost_after": 0}
    link = {"name": "bottleneck", **counts, "inside": 0, "dropped": {}}
    ledger = {"entered_packets": 9, "duplicated_packets": 0, "left_packets": 9, "dropped_packets": 0}
    flow = {"id": "f1", "error": None, "received_bytes": 1, "cc_requested": "cubic", "cc_actual": "reno"}
    flow |= {"retransmitted_segments": 0, "busy_us": 0}
    evidence = {
        "network": {"links": [link], **ledger, "inside_packets": 0},
        "traffic": {"wall_s": 3.0, "interrupted": False, "flows": [flow]},
        "min_rtt_us": {"f1": 19_000},
        "largest_window": 2_000_000,
    }
    judge = Judge([canonical(document(plan))], "simulate")
    assert judge(0, canonical(evidence)) == ("invalid", "conservation, rtt-floor, algorithm, congestion-window")
    # An RTT of whole milliseconds may be by timestamps alone.
    flow["retransmitted_segments"] = 1
    assert judge(0, canonical(evidence)) == ("invalid", "conservation, algorithm, congestion-window")
