"""Shortages of memory in a kernel in virtual time stand in its records and in its verdict."""

from __future__ import annotations

import pytest
from harness import Place
from scenarios import checks, flow, path

from dumbbell.engines.names import VIRTUAL


@pytest.mark.thorough
def test_a_receiver_that_throws_segments_away_makes_a_run_invalid(here: Place) -> None:
    """Eight BBR fill path and queue with 675 MB: more than the guest has."""
    flows = (flow(cc="bbr") for _ in range(8))
    huge = path(*flows, rate="1 Gbit/s", rtt="600 ms", bottleneck='buffer = "8 bdp"', duration="14 s")
    check = checks(here.run(huge, "--engine", VIRTUAL))["tcp-memory"]
    assert check["verdict"] == "invalid", check
    assert "TCPOFODrop" in check["measured"]


def test_a_run_with_room_lacks_nothing(here: Place) -> None:
    check = checks(here.run(path(flow(cc="bbr"), duration="1 s"), "--engine", VIRTUAL))["tcp-memory"]
    assert (check["verdict"], check["measured"]) == ("valid", "nothing thrown away")
