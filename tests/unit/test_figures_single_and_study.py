"""A simulated run has the same figures by itself and in a study, to the last digit."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from stages import thorough_but

import dumbbell
from dumbbell.engines.realm.routing import routers
from dumbbell.plan.expand import expand
from dumbbell.plan.network import network
from dumbbell.records.schema import TABLES
from dumbbell.scenario import bundled
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.study import Sweep
from dumbbell.studies.planning import RECORD
from dumbbell.studies.tables import rows

SHORT_S = 12
"""Long enough to tell convergence."""
RUNS = ("jain_index", "jain_start_s", "jain_stop_s", "packets", "verdict", "reasons")
OF_PACKETS = ("queue_p50_ms", "queue_p95_ms", "queue_max_ms", "ce_packets", "ce_share")
"""Figures of flows that take a row per packet, which a study doesn't have."""
EACH_KIND = ("bbr-generations", "link-flap", "parking-lot", "short-flows", "udp-cross-traffic")
"""Scenarios with several kinds of flows, networks and events."""


def can_be_simulated(name: str) -> bool:
    scenario = load(name)
    plan = expand(scenario)
    is_modelled = all(flow.workload.kind not in ("command", "quic") for flow in plan.flows) and not routers(plan)
    return scenario.sweep == Sweep() and is_modelled


@pytest.mark.parametrize(
    "name",
    thorough_but(EACH_KIND, [name for name in bundled.names() if can_be_simulated(name)]),
)
def test_a_run_has_the_same_figures_in_a_study(tmp_path: Path, name: str) -> None:
    starts = [flow.start_ns / 1e9 for flow in expand(load(name)).flows]
    short = {**RECORD, "duration": f"{max(SHORT_S, 1 + int(max(starts)))} s", "starts": "0 s"}
    study = dumbbell.run(name, short, tmp_path, engine="simulate", report=False, repeat=2)
    assert isinstance(study, dumbbell.Study)
    run = dumbbell.run(name, short, tmp_path / "runs", engine="simulate", report=False)
    assert isinstance(run, dumbbell.Run)
    assert study.runs["run_id"][0] == run.run_id

    flows = study.flows.filter(run=0)
    found = [column for column in TABLES["flows"] if column not in OF_PACKETS]
    assert flows.select(found).rows() == run.flows.select(found).rows()
    assert flows.select(OF_PACKETS).null_count().rows() == [(flows.height,) * len(OF_PACKETS)]

    alone = rows(run, {}, {})
    links = study.links.filter(run=0)
    assert links["link"].to_list() == [
        link.name for link in run.plan.links if link.name not in network(run.plan).transparent
    ]
    assert links.select([*alone["links"][0]]).to_dicts() == alone["links"]
    assert study.runs.filter(run=0).select(RUNS).to_dicts() == [{key: alone["runs"][0][key] for key in RUNS}]
    assert run.flows.select(pl.col("goodput_bps").max()).item() > 0
