"""Studies in virtual time: many runs at once, each exact, also over versions of Linux."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from scenarios import flow, path

import dumbbell
from dumbbell import kernels
from dumbbell.engines.events import Event
from dumbbell.engines.names import VIRTUAL
from dumbbell.errors import InputError

SCENARIO = tomllib.loads(path(flow(cc="cubic"), duration="2 s", bottleneck='buffer = "1 bdp", loss = "0.5 %"'))
BUFFERS = ["0.5 bdp", "2 bdp"]


def test_runs_of_a_study_are_those_of_single_runs(tmp_path: Path) -> None:
    """Cells and seeds side by side; nothing is repeated, and all cores are used."""
    events: list[Event] = []
    vary = {"topology.bottleneck.buffer": BUFFERS}
    study = dumbbell.run(
        SCENARIO, directory=tmp_path, engine=VIRTUAL, vary=vary, repeat=2, report=False, on_event=events.append
    )
    assert set(study.runs["verdict"]) == {"valid"}
    planned = next(event for event in events if event["event"] == "planned")
    assert planned["forecast_s"] * planned["at_once"] < 4 * 2.0, "faster than real time"
    assert events[-1]["repeated"] == 0
    received = study.flows.sort("topology.bottleneck.buffer", "seed")["received_bytes"].to_list()
    alone = [
        dumbbell.run(
            SCENARIO,
            {"topology.bottleneck.buffer": buffer, "seed": seed, "record.packets": False},
            tmp_path / "alone",
            engine=VIRTUAL,
            report=False,
        )
        for buffer in BUFFERS
        for seed in (1, 2)
    ]
    assert received == [run.summary["flows"][0]["received_bytes"] for run in alone]
    assert len(set(received)) == 4


def test_versions_of_linux_are_a_dimension(tmp_path: Path) -> None:
    versions = ["6.1", "6.12"]
    try:
        found = {name: kernels.find(name) for name in versions}
    except InputError as error:
        pytest.skip(f"{error}: make kernel KERNEL=6.1 builds it")
    study = dumbbell.run(
        SCENARIO, directory=tmp_path, engine=VIRTUAL, vary={"emulate.kernel": versions}, repeat=1, report=False
    )
    assert set(study.runs["verdict"]) == {"valid"}
    assert study.runs["emulate.kernel"].to_list() == versions
    assert len(set(study.flows["received_bytes"])) == 2
    assert {kernel.version.rpartition(".")[0] for kernel in found.values()} == set(versions)
