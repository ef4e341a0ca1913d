"""Convergence time: by hand, and the same of single runs and of studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import known_run
import polars as pl
import pytest

import dumbbell
from dumbbell.analysis import metrics
from dumbbell.records.files import write_json
from dumbbell.records.schema import polars_schema
from dumbbell.studies.planning import RECORD

MS = 1_000_000
S = 1000 * MS


def samples(**rates: list[tuple[int, int]]) -> pl.DataFrame:
    """Every 10 ms, of flows that get so many bytes in each: pieces of (ms, bytes)."""
    schema = polars_schema("samples")
    rows = []
    for flow, pieces in rates.items():
        gained = [size for ms, size in pieces for _ in range(ms // 10)]
        for i, total in enumerate(accumulate(gained, initial=0)):
            rows.append(dict.fromkeys(schema) | {"time_ns": 10 * MS * i, "flow": flow, "socket": 1, "bytes_sent": 0})
            rows[-1]["received_bytes"] = total
    return pl.DataFrame(rows, schema)


@pytest.fixture
def found(tmp_path: Path) -> Any:
    """Convergence times (s) of bulk flows that are active from `start_ms` to `end_ms`; `None` if they are unknown."""

    def compute(
        frame: pl.DataFrame,
        flows: str,
        start_ms: int,
        end_ms: int,
        interval_ms: int = 10,
        events: Sequence[Mapping[str, Any]] = (),
    ) -> dict[str, float | None] | None:
        first = known_run.PLAN["flows"][0] | {"stop_ns": end_ms * MS}
        plan = known_run.PLAN | {"duration_ns": end_ms * MS, "events": list(events)}
        plan |= {"flows": [first | {"id": flow, "port": port} for port, flow in enumerate(flows, 1)]}
        plan["record"] = plan["record"] | {"sample_interval_ns": interval_ms * MS}
        files = known_run.engine_output() | {"samples.parquet": frame}
        account = known_run.traffic_flow("a", "cubic", 0) | {"start_ns": start_ms * MS}
        files["traffic.json"]["flows"] = [account | {"id": flow} for flow in flows]
        known_run.make(tmp_path / "known", files=files)
        write_json(tmp_path / "known" / "plan.json", plan)
        told = metrics.compute(tmp_path / "known", "emulator.json")["flows"]
        if all(flow["converged"] is None for flow in told):
            return None
        assert all(flow["converged"] == (flow["convergence_s"] is not None) for flow in told)
        return {flow["id"]: flow["convergence_s"] for flow in told}

    return compute


def test_from_the_first_second_that_is_fair(found: Any) -> None:
    """Three tenths of the second at 3.7 s are unfair: 30 % off the fair share; at 3.8 s it is 20 %."""
    frame = samples(a=[(4000, 200), (16000, 100)], b=[(4000, 0), (16000, 100)])
    assert found(frame, "ab", 0, 20_000) == {"a": 3.8, "b": 3.8}
    # Counted from the change.
    assert found(frame, "ab", 2000, 20_000) == {"a": 1.8, "b": 1.8}
    # The one alone has what it gets in the end.
    assert found(frame, "b", 0, 20_000) == {"b": 3.8}


def test_who_leaves_it_within_5_s_has_not_come_to_it(found: Any) -> None:
    def swing(after_ms: int, size: int) -> list[tuple[int, int]]:
        return [(after_ms, 100), (2000, size), (18_000 - after_ms, 100)]

    assert found(samples(a=swing(4400, 160), b=swing(4400, 40)), "ab", 0, 20_000) == {"a": 6.0, "b": 6.0}
    assert found(samples(a=swing(5000, 160), b=swing(5000, 40)), "ab", 0, 20_000) == {"a": 0.0, "b": 0.0}


def test_never_is_not_unknown(found: Any) -> None:
    frame = samples(a=[(20_000, 130)], b=[(20_000, 70)], c=[(20_000, 0)])
    assert found(frame, "ab", 0, 20_000) == {"a": None, "b": None}
    assert found(frame, "ab", 0, 9_900) is None
    assert found(frame, "ab", 0, 20_000, interval_ms=101) is None
    assert found(frame, "c", 0, 20_000) is None
    # One that was never sampled got nothing: the other has twice the fair share.
    assert found(frame, "ax", 0, 20_000) == {"a": None, "x": None}


def test_the_last_change_counts(found: Any) -> None:
    frame = samples(a=[(4000, 200), (16000, 100)], b=[(4000, 0), (16000, 100)])
    link = known_run.PLAN["links"][0]
    events = [{"at_ns": at, "link": link} for at in (MS, 2 * S, 20 * S)]
    assert found(frame, "ab", 0, 20_000, events=events[:0]) == {"a": 3.8, "b": 3.8}
    # The time counts from the second event; the third comes when all is over.
    assert found(frame, "ab", 0, 20_000, events=events) == {"a": 1.8, "b": 1.8}


SCENARIO: dict[str, Any] = {
    "name": "two",
    "duration": "16 s",
    "topology": {"kind": "dumbbell", "rtt": "20 ms", "bottleneck": {"rate": "5 Mbit/s", "buffer": "1 bdp"}},
    "flows": [
        {"from": "s1", "to": "r1", "cc": "cubic"},
        {"from": "s1", "to": "r1", "cc": "cubic", "start": "1.5 s"},
        {"from": "s1", "to": "r1", "cc": "cubic", "bytes": "100 kB", "start": "3 s"},
    ],
    "expect": [
        {"metric": "convergence_time", "statistic": "most", "max": "15 s"},
        {"metric": "converged_share", "min": "100 %"},
    ],
}
SLOWER = {"events": [{"at": "4 s", "link": "bottleneck", "rate": "2 Mbit/s"}]}
STARVING = {"flows.1.start": "14 s"}
VARIED: dict[str, Any] = {"flows.0.cc": ["cubic", "bbr"]}


@pytest.mark.parametrize("changes", [{}, SLOWER, STARVING])
def test_a_study_finds_what_single_runs_find(tmp_path: Path, changes: dict[str, Any]) -> None:
    study = dumbbell.run(SCENARIO, changes, tmp_path, engine="simulate", report=False, vary=VARIED)
    for cell, cc in enumerate(VARIED["flows.0.cc"]):
        once = {**changes, **RECORD, "flows.0.cc": cc, "expect": []}
        run = dumbbell.run(SCENARIO, once, tmp_path / "runs", engine="simulate", report=False)
        assert isinstance(run, dumbbell.Run)
        columns = ["id", "converged", "convergence_s"]
        assert study.flows.filter(cell=cell).select(columns).rows() == run.flows.select(columns).rows()
        told = [(flow["converged"], flow["convergence_s"]) for flow in run.summary["flows"]]
        assert told == run.flows.select(columns[1:]).rows()
        assert told[2] == (None, None), "it has a size"
        # 10 s together: not if one begins at 14 s of 16.
        assert (told[0][0] is None) == (changes is STARVING)


def test_two_flows_of_one_kind_converge_and_it_can_be_expected(tmp_path: Path) -> None:
    # All of 20 seeds converge within 15 s; with CUBIC 14 do.
    reno = {"duration": "30 s", "expect.0.max": "20 s", "flows.0.cc": "reno", "flows.1.cc": "reno"}
    study = dumbbell.run(SCENARIO, reno, tmp_path, engine="simulate", repeat=3, report=False)
    assert isinstance(study, dumbbell.Study)
    times = study.flows["convergence_s"].drop_nulls()
    assert times.len() == 6
    assert 0 < times.max() < 20  # type: ignore[operator]
    assert [one["answer"] for one in study.manifest["expectations"]] == ["holds", "holds"]


def test_runs_without_a_value_are_told_of(tmp_path: Path) -> None:
    """BBRv1 takes what CUBIC leaves in so small a buffer: they have no fair shares."""
    greedy = {"flows.0.cc": "bbr", "topology.bottleneck.buffer": "0.3 bdp"}
    study = dumbbell.run(SCENARIO, greedy, tmp_path, engine="simulate", repeat=2, report=False)
    assert isinstance(study, dumbbell.Study)
    assert study.flows.filter(pl.col("converged").is_not_null())["converged"].to_list() == [False] * 4
    time, share = study.manifest["expectations"]
    assert (time["answer"], time["why"]) == ("cannot be told", "no run has it")
    assert share["answer"] == "fails"
