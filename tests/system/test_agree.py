"""The simulator against this kernel in real time, on short scenarios.

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


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] if name != "cubic" else []) for name in SCENARIOS]
)
def test_kernel_and_simulator_agree(here: Place, name: str) -> None:
    (here.directory / f"{name}.toml").write_text(SCENARIOS[name].replace('name = "test"', f'name = "{name}"'))
    done = here.invoke("agree", f"./{name}.toml", "--repeat", "2", "--json", "--output", "found", timeout_s=300)
    # 3: some run was invalid each time it was tried.
    assert done.returncode in (0, 1, 3), done.stderr
    (found,) = json.loads(done.stdout)
    assert found["name"] == name
    if not found["quantities"]:
        not_proven(f"{found['refused']}")
    assert (here.directory / "found" / name / "agreement.html").exists()
    goodput, rtt = quantity(found, "total goodput"), quantity(found, "RTT p50")
    assert goodput["emulate"] > 1
    assert goodput["ratio"] == pytest.approx(1, abs=GOODPUT), goodput
    assert abs(rtt["difference"]) <= max(RTT_MS, RTT_SHARE * rtt["emulate"]), rtt
