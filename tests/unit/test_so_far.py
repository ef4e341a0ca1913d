"""The verdict of a run that goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from synthetic_run import Synthetic

from dumbbell.analysis.so_far import SoFar
from dumbbell.records import Run
from dumbbell.server.live import Judged

WELL = {
    "sent_packets": 100_000,
    "late_over_1ms": 3,
    "lateness_p99_ns": 60_000,
    "lateness_max_ns": 1_500_000,
    "read_lag_p99_ns": 40_000,
    "ring_drops": 0,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("runs") / "mine-0123456789ab"
    return Run(Synthetic(duration_s=2, packets=False).write(folder))


@pytest.mark.parametrize(
    ("worse", "verdict", "checks"),
    [
        ({}, "valid", []),
        ({"lateness_p99_ns": 1_000_000}, "suspect", ["lateness"]),
        ({"lateness_max_ns": 10_000_000, "read_lag_p99_ns": 1_000_000}, "valid", []),
        ({"lateness_max_ns": 10_000_001, "read_lag_p99_ns": 1_000_001}, "suspect", ["stall", "read-lag"]),
        ({"late_over_1ms": 5_000}, "invalid", ["lateness"]),
        ({"lateness_max_ns": 15_000_000}, "suspect", ["stall"]),
        ({"lateness_max_ns": 300_000_000, "read_lag_p99_ns": 2_000_000}, "invalid", ["stall", "read-lag"]),
        ({"ring_drops": 1}, "invalid", ["ring-drops"]),
    ],
)
def test_the_rules_of_the_end_judge_what_is_known(run: Run, worse: Any, verdict: str, checks: list[str]) -> None:
    found, failed = SoFar(run.plan, "emulate").judge({**WELL, **worse})
    assert (str(found), [check.check for check in failed]) == (verdict, checks)


def test_nothing_is_late_in_an_engine_without_a_clock(run: Run) -> None:
    assert SoFar(run.plan, "emulate").applies
    assert not SoFar(run.plan, "simulate").applies


def test_an_event_of_progress_gets_the_verdict_and_no_other_does(run: Run) -> None:
    judged = Judged(Path(run.directory))
    event = {"event": "progress", "time_ns": 1, "health": {**WELL, "ring_drops": 2}}
    found = judged(event)
    assert found["so_far"]["verdict"] == "invalid"
    assert found["so_far"]["reasons"][0]["measured"] == "2 of all packets lost in the ring"
    assert judged({"event": "progress", "health": None}) == {"event": "progress", "health": None}
    assert judged({"event": "done"}) == {"event": "done"}
    replay = judged({"event": "replay", "n": 2, "events": [dict(event), {"event": "done"}, dict(event)]})
    assert ["so_far" in one for one in replay["events"]] == [False, False, True]
