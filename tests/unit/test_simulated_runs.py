"""Short runs of bundled scenarios on the simulation engine: all readers of a run, without a kernel."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import dumbbell
from dumbbell.cc.bundled import SIMULATED
from dumbbell.core import core
from dumbbell.engines.simulate.engine import SimulateEngine
from dumbbell.plan.expand import expand
from dumbbell.plan.wire import document
from dumbbell.quic.program import VARIABLE
from dumbbell.records.schema import TABLES, polars_schema
from dumbbell.report.series import build
from dumbbell.scenario import bundled
from dumbbell.scenario.file.loading import load

WITH_DAEMONS = {"anycast", "as100-as200", "internet", "isis-ring", "ospf-ecmp", "ospf-failure", "rerouting"}
NEEDS_A_KERNEL = {"iperf3"}
NEEDS_QUIC = {"quic-branch", "quic-conformance", "quic-fairness", "quic-pairs", "quic-vs-cubic"}
SECONDS = {"bbr-generations": 16, "incast": 5, "link-flap": 6, "rrul": 8, "short-flows": 8, "udp-cross-traffic": 11}
"""Seconds until all flows have begun and something has changed, where that takes more than three."""
ONCE: dict[str, object] = {"sweep": {}, "repeat": 1, "expect": []}
"""A study is a scenario by itself, too."""


@pytest.fixture(autouse=True)
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests write no report; pages have separate tests."""
    monkeypatch.setattr(dumbbell.Run, "report", lambda run: run.directory / "report.html")


def simulated(name: str, folder: Path, seconds: int = 3, **more: object) -> dumbbell.Run:
    run = dumbbell.run(name, {"duration": f"{seconds} s", **ONCE, **more}, folder, engine="simulate")
    assert isinstance(run, dumbbell.Run)
    return run


@pytest.mark.parametrize("name", sorted({*bundled.names()} - NEEDS_A_KERNEL - NEEDS_QUIC - WITH_DAEMONS))
def test_bundled_scenarios(name: str, tmp_path: Path) -> None:
    run = simulated(name, tmp_path, SECONDS.get(name, 3), **{"record.acks": False})
    assert run.verdict == "valid", run.summary["reasons"]
    assert run.flows["received_bytes"].min() > 0  # type: ignore[operator]
    assert run.summary["path"] is None
    assert run.acks is None


@pytest.mark.parametrize("name", sorted(NEEDS_A_KERNEL))
def test_the_others_are_refused(name: str) -> None:
    scenario = load(name)
    (problem,) = SimulateEngine().check(scenario, expand(scenario))
    assert problem.hint.startswith("run it with --engine emulate or --engine virtual")


@pytest.mark.parametrize("name", sorted(NEEDS_QUIC))
def test_those_of_quic_need_its_program(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    scenario = load(name)
    (problem,) = SimulateEngine().check(scenario, expand(scenario))
    assert "make quic" in problem.hint


@pytest.mark.parametrize("name", sorted(WITH_DAEMONS))
def test_routing_daemons_are_refused(name: str) -> None:
    scenario = load(name)
    problems = SimulateEngine().check(scenario, expand(scenario))
    assert problems
    assert all("routing daemons" in f"{one.wrong} {one.why}" for one in problems)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dumbbell.Run:
    return dumbbell.run(
        "bbr-generations",
        {"duration": "16 s", "topology.bottleneck.rate": "20 Mbit/s"},
        tmp_path_factory.mktemp("runs"),
        engine="simulate",
    )


@pytest.mark.parametrize("table", sorted(TABLES.keys() - {"pings", "requests", "routes"}))
def test_tables_are_those_of_emulation(run: dumbbell.Run, table: str) -> None:
    assert dict(run.scan(table).collect_schema()) == polars_schema(table)


def test_time_is_virtual_and_begins_at_zero(run: dumbbell.Run) -> None:
    for table, column in (("samples", "time_ns"), ("links", "time_ns"), ("acks", "time_ns"), ("packets", "arrival_ns")):
        least, most = run.scan(table).select(pl.col(column).min(), pl.col(column).max().alias("most")).collect().row(0)
        assert 0 <= least < 100_000_000, table
        assert 15_900_000_000 < most <= 16_000_000_000, table


def test_nothing_is_late(run: dumbbell.Run) -> None:
    assert run.packets is not None
    sent = run.packets.filter(pl.col("sent_ns").is_not_null())
    assert sent.height > 0
    assert sent.filter(pl.col("sent_ns") != pl.col("delivery_ns")).is_empty()


def test_each_generation_tells_its_states(run: dumbbell.Run) -> None:
    assert run.acks is not None
    flow, state = (pl.col(column).cast(pl.String) for column in ("flow", "bbr_state"))
    told = dict(run.acks.group_by(flow).agg(state.drop_nulls().unique()).rows())
    states = {row["cc"]: set(told[row["id"]]) for row in run.summary["flows"]}
    assert states["cubic"] == set()
    assert {"startup", "probe_bw"} <= states["bbr"]
    for cc in ("bbr2", "bbr3"):
        assert {"startup", "probe_bw_cruise"} <= states[cc]


def test_what_cubic_aims_at_is_in_the_panel_of_its_window(run: dumbbell.Run) -> None:
    (panel,) = [one for one in build(run).panels if one.title == "Congestion window"]
    assert [quantity.word for quantity in panel.quantities] == ["cwnd", "ssthresh", "W_max"]
    (line,) = [one for one in panel.views[0].lines if one.quantity == 2]
    (cubic,) = [row["id"] for row in run.summary["flows"] if row["cc"] == "cubic"]
    assert run.acks is not None
    rows = run.acks.filter(pl.col("flow") == cubic)
    assert line.flow == cubic
    assert line.values.max() == rows["cubic_w_max_packets"].max()
    assert run.acks.filter(pl.col("flow") != cubic)["cubic_w_max_packets"].null_count() == run.acks.height - rows.height


def test_the_manifest_says_what_it_cost_and_that_nothing_was_loaded(run: dumbbell.Run) -> None:
    cost = run.manifest["cost"]
    assert cost["simulated_s"] == 16
    assert cost["times_real_time"] == pytest.approx(16 / cost["wall_s"])
    assert "lab" not in run.manifest
    assert {one["label"]: one["loaded"] for one in run.manifest["algorithms"]} == {"bbr2": None, "bbr3": None}


def test_the_core_has_the_algorithms_that_are_named_and_says_so() -> None:
    plan = document(expand(load("single-flow")))

    def problems(cc: str) -> list[dict[str, str]]:
        plan["flows"][0]["workload"]["cc"] = cc
        found: list[dict[str, str]] = json.loads(core.simulate_check(json.dumps(plan), True))
        return found

    assert [name for name in SIMULATED if problems(name)] == []
    (problem,) = problems("illinois")
    assert [name for name in SIMULATED if name not in problem["why"]] == []


PARAMETERS = {"name": "bbr3", "parameters": {"beta_keep": 40}}


def test_parameters_have_an_effect_and_a_label(tmp_path: Path) -> None:
    flows = [{"from": "h1", "to": "h2", "cc": cc} for cc in ("bbr3", PARAMETERS)]
    bottleneck = {"rate": "20 Mbit/s", "loss": "2 %"}
    topology = {"kind": "path", "rtt": "20 ms", "bottleneck": bottleneck}
    run = dumbbell.run(
        {"name": "two", "duration": "5 s", "topology": topology, "flows": flows}, (), tmp_path, engine="simulate"
    )
    plain, changed = run.summary["flows"]
    assert (plain["cc"], changed["cc"]) == ("bbr3", "bbr3 (beta_keep=40)")
    assert plain["received_bytes"] != changed["received_bytes"]
    assert run.manifest["algorithms"][1]["parameters"] == {"beta_keep": 40}


def test_single_segments_are_another_run(tmp_path: Path) -> None:
    trains, single = (simulated("single-flow", tmp_path, 1, **{"simulate.tso": tso}) for tso in (True, False))
    assert trains.run_id != single.run_id
    longest = []
    for run in (trains, single):
        assert run.packets is not None
        data = run.packets.filter((pl.col("link") == "bottleneck") & (pl.col("payload_bytes") > 0))
        longest.append(data.group_by("arrival_ns").len()["len"].max())
    assert longest[0] > 1  # type: ignore[operator]
    assert json.loads((single.directory / "simulator.json").read_text())["tso"] is False


SETTINGS = {"tcp_rmem": "4096 131072 6291456", "tcp_wmem": "4096 16384 4194304", "tcp_early_retrans": "3"}
"""Values of settings that not any number fits; 1 else."""


def test_settings_that_the_reference_names_are_taken() -> None:
    text = (Path(__file__).parents[2] / "docs" / "reference" / "scenario.md").read_text()
    paragraph = text.partition("A simulation follows `net.ipv4.`")[2].partition("It refuses all")[0]
    named = [word for word in paragraph.split("`") if word.startswith("tcp_")]
    assert len(named) == 20
    scenario = load("single-flow", {f"hosts.sysctl.net.ipv4.{name}": SETTINGS.get(name, "1") for name in named})
    assert SimulateEngine().check(scenario, expand(scenario)) == []
