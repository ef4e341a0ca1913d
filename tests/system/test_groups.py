"""Many connections, and traffic that comes and goes: the same in a kernel and simulated."""

from __future__ import annotations

import polars as pl
import pytest
from harness import Place
from scenarios import flow, path

from dumbbell.engines.names import VIRTUAL

SIMULATE = ("--engine", "simulate")
KERNEL = ("--engine", VIRTUAL)

BURSTS = [
    # 2 Mbit/s of 20 on average, in 8 bursts: one each 0.5 s, and the rest of their last one.
    flow(id="video", on="100 kB", off="400 ms"),
    # 8 bursts of 100 ms at 5 Mbit/s: 42 datagrams in each.
    flow(id="noise", protocol="udp", rate="25 %", on="100 ms", off="400 ms"),
]


@pytest.mark.parametrize(
    "engine", [(), pytest.param(SIMULATE, marks=pytest.mark.thorough)], ids=["emulated", "simulated"]
)
def test_hundreds_of_sized_connections_are_all_completed(here: Place, engine: tuple[str, ...]) -> None:
    """300 of 20 kB, 0.1 ms apart: 6 MB, of which the bottleneck takes 0.1 s each 1.25 MB."""
    web = flow(id="web", connections=300, gap="0.1 ms", bytes="20 kB", mix={"cubic": 0.5, "reno": 0.5})
    run = here.run(path(web, rate="100 Mbit/s", rtt="10 ms", duration="4 s"), *engine)
    assert run.flows["group"].to_list() == ["web"] * 300
    assert run.flows["id"].to_list() == [f"web.{n}" for n in range(1, 301)]
    assert sorted(run.flows["cc"].to_list()) == ["cubic"] * 150 + ["reno"] * 150
    assert run.flows["received_bytes"].unique().to_list() == [20_000]
    # No flow is faster than a handshake and half a round trip.
    assert run.flows["fct_s"].null_count() == 0
    assert run.flows["fct_s"].min() > 0.015
    starts = run.flows["start_s"].to_list()
    assert starts == sorted(starts)
    assert starts[-1] >= 0.0299


def test_on_and_off_carry_as_much_in_a_kernel_as_simulated(here: Place) -> None:
    tcp = path(flow(on="300 ms", off="500 ms"), duration="3 s")
    kernel, simulated = (here.run(tcp, *engine).flows for engine in (KERNEL, SIMULATE))
    # Four bursts at 20 Mbit/s less what slow start takes.
    assert kernel["received_bytes"][0] == pytest.approx(simulated["received_bytes"][0], rel=0.08)
    assert 1_500_000 < simulated["received_bytes"][0] < 3_000_000
    kernel, simulated = (here.run(path(*BURSTS, duration="4 s"), *engine) for engine in (KERNEL, SIMULATE))
    for name in ("video", "noise"):
        real, model = (run.flows.filter(pl.col("id") == name)["received_bytes"].item() for run in (kernel, simulated))
        assert real == pytest.approx(model, rel=0.05), name
    (udp,) = [one["udp"] for one in simulated.summary["flows"] if one["id"] == "noise"]
    assert udp["sent_packets"] == 8 * 42
