"""Flows that ping, from the scenario to the report: exact in simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dumbbell
from dumbbell.errors import ScenarioError
from dumbbell.records.schema import polars_schema
from dumbbell.report.series import build

PING = {"from": "s1", "to": "r1", "protocol": "ping", "interval": "100 ms"}
BULK = {"from": "s1", "to": "r1", "cc": "cubic", "start": "1 s"}


def scenario(*flows: dict[str, Any], **bottleneck: Any) -> dict[str, Any]:
    limits = {"rate": "10 Mbit/s", "buffer": "2 bdp", **bottleneck}
    topology = {"kind": "dumbbell", "pairs": 1, "rtt": "40 ms", "bottleneck": limits}
    return {"name": "pings", "duration": "5 s", "topology": topology, "flows": list(flows)}


def run(where: Path, given: dict[str, Any], report: bool = False) -> dumbbell.Run:
    found = dumbbell.run(given, directory=where, engine="simulate", report=report)
    assert isinstance(found, dumbbell.Run)
    return found


def test_an_idle_path_takes_its_rtt(tmp_path: Path) -> None:
    found = run(tmp_path, scenario(PING))
    assert found.pings is not None
    assert found.pings["number"].to_list() == list(range(50))
    assert found.pings["time_ns"].to_list() == [100_000_000 * n for n in range(50)]
    # Two transmissions of 98 bytes at 10 Mbit/s, and at most 135 us at the host that answers.
    assert dict(found.scan("pings").collect_schema()) == polars_schema("pings")
    rtts_ms = found.pings["rtt_ns"] / 1e6
    assert rtts_ms.is_between(40.1568, 40.3).all()
    (flow,) = found.summary["flows"]
    assert flow["ping"]["sent"] == 50
    assert flow["ping"]["lost"] == 0
    assert flow["ping"]["p50_ms"] == pytest.approx(rtts_ms.median())
    assert (flow["protocol"], flow["cc"], flow["retransmitted_segments"]) == ("ping", None, None)
    assert found.summary["responsiveness"] is None, "nothing loads the path"
    assert found.verdict == "valid"


def test_lost_requests_are_counted(tmp_path: Path) -> None:
    found = run(tmp_path, scenario({**PING, "stop": "3 s"}, loss={"model": "periodic", "every": 10}))
    assert found.pings is not None
    lost = found.pings.filter("lost")
    assert lost.height == found.summary["flows"][0]["ping"]["lost"] == 3
    assert lost["rtt_ns"].null_count() == 3


def test_responsiveness_is_as_its_definition_says(tmp_path: Path) -> None:
    found = run(tmp_path, scenario(PING, BULK))
    assert found.pings is not None
    start_s, stop_s = 1.0, 5.0
    window = pl.col("time_ns").is_between(start_s * 1e9, stop_s * 1e9)

    def rpm(rtts_ms: pl.Series) -> float:
        kept = rtts_ms.drop_nulls().sort()
        kept = kept.head(-(-len(kept) * 95 // 100))
        return 60_000 / float(kept.mean())  # type: ignore[arg-type]

    foreign = rpm(found.pings.filter(window)["rtt_ns"] / 1e6)
    loaded = rpm(found.samples.filter(window & (pl.col("flow") == "f2"))["srtt_us"] / 1e3)
    told = found.summary["responsiveness"]
    assert told["foreign_rpm"] == pytest.approx(foreign)
    assert told["loaded_rpm"] == pytest.approx(loaded)
    assert told["rpm"] == pytest.approx((foreign + loaded) / 2)
    assert told["rpm"] < 60_000 / 40


def test_a_study_has_pings_and_responsiveness(tmp_path: Path) -> None:
    fixed = {**scenario(PING, BULK), "starts": "0 s"}
    study = dumbbell.run(fixed, directory=tmp_path, engine="simulate", report=False, repeat=2)
    assert isinstance(study, dumbbell.Study)
    alone = run(tmp_path / "runs", scenario(PING, BULK))
    assert study.runs["rpm"][0] == alone.summary["responsiveness"]["rpm"]
    first = study.flows.filter(run=0)
    assert first["ping_p99_ms"].to_list() == alone.flows["ping_p99_ms"].to_list()


def test_the_report_shows_pings(tmp_path: Path) -> None:
    found = run(tmp_path, scenario(PING, BULK, loss={"model": "periodic", "every": 7}), report=True)
    panel = next(panel for panel in build(found).panels if panel.title == "Ping RTT")
    (view,) = panel.views
    assert [mark.kind for mark in view.marks] == ["line", "tick"]
    page = (found.directory / "report.html").read_text()
    assert "Responsiveness under load" in page
    assert "99th percentile (ms)" in page


def test_two_pings_of_a_host_have_identifiers_of_their_own() -> None:
    same = [{**PING, "port": 7}, {**PING, "port": 7}]
    with pytest.raises(ScenarioError, match="port 7 of r1 is taken by flow f1"):
        dumbbell.expand(dumbbell.load(scenario(*same)))
    dumbbell.expand(dumbbell.load(scenario({**PING, "port": 7}, {**PING, "port": 7, "echo": "udp"})))
