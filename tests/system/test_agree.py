"""The simulator against this kernel in real time, on three short scenarios.

`test_virtual_agree.py` compares the same scenarios exactly; `dumbbell agree --matrix` is the long way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from harness import Place
from proof import not_proven
from scenarios import flow, path

pytestmark = [pytest.mark.real_time, pytest.mark.alone]

SCENARIOS = {
    "cubic": path(flow(cc="cubic"), duration="4 s"),
    "reno-loss": path(flow(cc="reno"), duration="4 s", bottleneck='buffer = "1 bdp", loss = "0.5 %"'),
    "bbr": path(flow(cc="bbr"), duration="4 s"),
}
"""20 Mbit/s and 20 ms. The loss takes the same packets under both engines, so that two repetitions are enough."""

GOODPUT = 0.06
RTT_SHARE, RTT_MS = 0.1, 2.0
"""Twice the targets of the matrix, whose runs are three times as long: start-up is a larger part of these runs, and the
machine that runs the tests may be late by a millisecond and still be valid."""


def quantity(found: Mapping[str, Any], measure: str) -> Mapping[str, Any]:
    (row,) = [row for row in found["quantities"] if row["measure"] == measure and row["scope"] != "link"]
    return dict(row)


def test_kernel_and_simulator_agree(here: Place) -> None:
    for name, text in SCENARIOS.items():
        (here.directory / f"{name}.toml").write_text(text.replace('name = "test"', f'name = "{name}"'))
    files = [f"./{name}.toml" for name in SCENARIOS]

    done = here.invoke("agree", *files, "--repeat", "2", "--json", "--output", "found", timeout_s=300)
    # 3: some run was invalid each time it was tried.
    assert done.returncode in (0, 1, 3), done.stderr
    told = {one["name"]: one for one in json.loads(done.stdout)}
    assert set(told) == set(SCENARIOS)
    for name, found in told.items():
        if not found["quantities"]:
            not_proven(f"{name}: {found['refused']}")
        assert (here.directory / "found" / name / "agreement.html").exists()
        goodput, rtt = quantity(found, "total goodput"), quantity(found, "RTT p50")
        assert goodput["emulate"] > 1, name
        assert goodput["ratio"] == pytest.approx(1, abs=GOODPUT), (name, goodput)
        assert abs(rtt["difference"]) <= max(RTT_MS, RTT_SHARE * rtt["emulate"]), (name, rtt)
