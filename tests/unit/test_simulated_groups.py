"""Runs of many connections: their records, console output and report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dumbbell
from dumbbell.cli import invoke
from dumbbell.report.groups import groups, has_kinds
from dumbbell.report.render.group_rows import COLUMNS, rows
from dumbbell.studies.planning import RECORD

SCENARIO: dict[str, Any] = {
    "name": "many",
    "duration": "6 s",
    "topology": {
        "kind": "dumbbell",
        "pairs": 4,
        "rtt": "20 ms",
        "bottleneck": {"rate": "100 Mbit/s", "buffer": "2 bdp"},
    },
    "flows": [
        {
            "id": "web",
            "from": "s*",
            "to": "r*",
            "connections": 30,
            "mix": {"cubic": 0.8, "bbr": 0.2},
            "sizes": [{"bytes": "20 kB", "share": 0.9}, {"bytes": "1 MB", "share": 0.1}],
            "gap": "50 ms",
            "arrivals": "poisson",
        },
        {"id": "noise", "from": "s1", "to": "r1", "protocol": "udp", "rate": "5 %"},
    ],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dumbbell.Run:
    return dumbbell.run(SCENARIO, {"record.acks": False}, tmp_path_factory.mktemp("runs"), engine="simulate")


def test_each_connection_has_its_row_and_its_completion_time(run: dumbbell.Run) -> None:
    web = run.flows.filter(pl.col("group") == "web")
    assert (run.verdict, web.height) == ("valid", 30)
    counted = dict(web.group_by("received_bytes").len().iter_rows())
    assert counted == {20_000: 27, 1_000_000: 3}
    assert web["fct_s"].null_count() == 0
    assert run.flows.filter(pl.col("id") == "noise")["group"].to_list() == ["noise"]


def test_many_flows_are_told_by_kind(run: dumbbell.Run) -> None:
    kinds = groups(run)
    assert has_kinds(kinds)
    assert sorted(len(kind.flows) for kind in kinds)[-1] >= 20
    labels = {kind.label for kind in kinds}
    assert "noise udp" in labels
    assert any(label.startswith("web cubic 20 kB x ") for label in labels), labels
    table = rows(run.summary["flows"], kinds)
    assert all(len(row) == len(COLUMNS) for row in table)
    small = next(row for row in table if row[0].startswith("web cubic 20 kB"))
    assert small[COLUMNS.index("completed")] == "{0} of {0}".format(small[0].rpartition(" ")[2])
    assert next(row for row in table if row[0] == "noise udp")[COLUMNS.index("FCT p50")] == "–"  # noqa: RUF001
    assert "web cubic 20 kB x " in run.report().read_text()


def test_the_console_does_so_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dumbbell.Run, "report", lambda run: run.directory / "report.html")
    text = Path(dumbbell.__file__).with_name("scenario").joinpath("bundled/mice-and-elephants.toml").read_text()
    Path("my.toml").write_text(text)
    args = ("run", "my.toml", "--engine", "simulate", "--set", "duration=6 s", "--set", "flows.0.gap=50 ms")
    assert invoke(args) == 0
    said = capsys.readouterr().out
    assert "62 flows by kind" in said
    assert "web.17" not in said.partition("62 flows by kind")[2]


def test_the_figures_of_a_study_name_the_group(tmp_path: Path) -> None:
    varied = {**SCENARIO, "sweep": {"flows.0.connections": [1, 10, 20]}}
    study = dumbbell.run(varied, directory=tmp_path, engine="simulate", report=False)
    by_cell = study.flows.filter(pl.col("group") == "web").group_by("flows.0.connections").len()
    assert dict(by_cell.iter_rows()) == {1: 1, 10: 10, 20: 20}


def test_a_repetition_of_a_study_is_the_run_of_its_seed(tmp_path: Path) -> None:
    """The run has the random draws of that seed: when connections start, and which one has which algorithm."""
    study = dumbbell.run(SCENARIO, directory=tmp_path / "studies", engine="simulate", repeat=2, report=False)
    columns = ["id", "cc", "start_s", "received_bytes", "fct_s", "goodput_bps"]
    rows = [study.flows.filter(seed=seed).select(columns) for seed in (1, 2)]
    assert not rows[0]["start_s"].equals(rows[1]["start_s"])
    for seed, found in zip((1, 2), rows, strict=True):
        alone = dumbbell.run(SCENARIO, {"seed": seed, **RECORD}, tmp_path / "runs", engine="simulate", report=False)
        assert found.equals(alone.flows.select(columns).with_columns(pl.col("cc").cast(pl.String)))
        assert study.runs.filter(seed=seed)["run_id"].to_list() == [alone.run_id]


def test_three_hundred_connections_at_once(tmp_path: Path) -> None:
    keys = {"flows.0.connections": 300, "flows.0.gap": "0.1 ms", "record.packets": False, "record.acks": False}
    run = dumbbell.run(SCENARIO, {**keys, "duration": "20 s"}, tmp_path, engine="simulate", report=False)
    web = run.flows.filter(pl.col("group") == "web")
    assert (web.height, web["fct_s"].null_count()) == (300, 0)
    assert dict(web.group_by("received_bytes").len().iter_rows()) == {20_000: 270, 1_000_000: 30}


def test_a_connection_that_begins_when_there_is_no_time_left_is_no_error(tmp_path: Path) -> None:
    """Some random starts come too late; for a flow that the scenario names alone that would be a mistake."""
    late = {"from": "s1", "to": "r1", "start": "5990 ms", "bytes": "20 kB"}
    for more, verdict in (({"connections": 2}, "valid"), ({}, "suspect")):
        scenario = {**SCENARIO, "flows": [SCENARIO["flows"][1], {**late, **more}]}
        run = dumbbell.run(scenario, (), tmp_path, engine="simulate", report=False)
        told = {check["check"]: check["verdict"] for check in run.summary["checks"]}
        assert told["flow-errors"] == verdict
