"""A policy that was exported as a program does in a kernel in virtual time what it does in its training environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from stages import thorough_after

import dumbbell
from dumbbell.engines.names import VIRTUAL
from dumbbell.gym.export import write
from tests.unit.gym_networks import calm, figures, held, one


@pytest.mark.parametrize("network", thorough_after(1, [{}, {"topology.rtt": "100 ms"}]), ids=["40 ms", "100 ms"])
@pytest.mark.parametrize("interval", thorough_after(1, ["1 rtt", "10 ms"]))
def test_a_policy_in_a_kernel_agrees_with_its_environment(
    interval: str, network: dict[str, Any], tmp_path: Path
) -> None:
    policy = calm(interval)
    write(policy, "mine", tmp_path / "mine.bpf.c")
    expected = held(policy, network, tmp_path)
    program = {**network, "flows.0.cc": str(tmp_path / "mine.bpf.c")}
    run = dumbbell.run(one(duration="10 s"), program, directory=tmp_path, engine=VIRTUAL, report=False)
    assert run.verdict == "valid", run.summary["reasons"]
    goodput, rtt = figures(run)
    assert goodput == pytest.approx(expected[0], rel=0.03)
    assert rtt == pytest.approx(expected[1], rel=0.03)
