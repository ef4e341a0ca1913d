"""The kernel's Reno and CUBIC against ours, on the same path in virtual time: their windows must move alike."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from statistics import median

import polars as pl
import pytest
from scenarios import flow, link, path

import dumbbell
from benches.frame.curves import PATHS, Curve, Cycle, of, scenario
from dumbbell.engines.names import VIRTUAL

SECONDS = {"reno": 15, "cubic": 15}

PEAK = 0.04
"""The buffer overflows at the same window, give or take what a round trip adds and a delayed ACK holds back."""
MEAN = 0.04
PERIOD = 0.1
"""A round trip at either end of a cycle of ten or more, and the time that the repair of the losses takes."""
GOODPUT = 0.03


def carry_out(directory: Path, text: str) -> dumbbell.Run:
    """Run a scenario in virtual time."""
    run = dumbbell.run(tomllib.loads(text), directory=directory, engine=VIRTUAL, report=False)
    assert run.verdict != "invalid", run.summary["reasons"]
    return run


@pytest.fixture(scope="module")
def curves(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Curve]:
    """Curves by algorithm: the kernel's, and ours."""
    found = {}
    for name, (rate, rtt, buffer) in PATHS.items():
        for cc in (name, f"bpf_{name}"):
            text = scenario(cc, rate, rtt, buffer, seconds=SECONDS[name])
            found[cc] = of(carry_out(tmp_path_factory.mktemp(cc), text))
    return found


def typical(cycles: list[Cycle]) -> Cycle:
    """The median of each figure: now and then a retransmission is lost, and its time-out makes one cycle longer."""
    return Cycle(*(median(getattr(cycle, field.name) for cycle in cycles) for field in fields(Cycle)))


def same(theirs: Cycle, ours: Cycle) -> None:
    """The cycles agree."""
    assert ours.peak == pytest.approx(theirs.peak, rel=PEAK), (theirs, ours)
    assert ours.mean == pytest.approx(theirs.mean, rel=MEAN), (theirs, ours)
    assert ours.period == pytest.approx(theirs.period, rel=PERIOD), (theirs, ours)


def same_goodput(theirs: Curve, ours: Curve) -> None:
    assert ours.goodput_bps == pytest.approx(theirs.goodput_bps, rel=GOODPUT)


@pytest.mark.xdist_group("curves")
def test_reno_s_cycles_are_the_kernels(curves: dict[str, Curve]) -> None:
    theirs, ours = curves["reno"].cycles(), curves["bpf_reno"].cycles()
    assert min(len(theirs), len(ours)) >= 3, (theirs, ours)
    same(typical(theirs), typical(ours))
    same_goodput(curves["reno"], curves["bpf_reno"])


@pytest.mark.xdist_group("curves")
def test_cubic_s_curve_is_the_kernels(curves: dict[str, Curve]) -> None:
    """Cycle by cycle: fast convergence makes each differ from the one before."""
    theirs, ours = curves["cubic"], curves["bpf_cubic"]
    # HyStart ends slow start before there is a loss: at the same ACK, give or take a few.
    assert ours.slow_start == pytest.approx(theirs.slow_start, rel=0.1)
    both = list(zip(theirs.cycles(), ours.cycles(), strict=False))
    assert len(both) >= 2, both
    for one, other in both:
        same(one, other)
    same_goodput(theirs, ours)


def test_dctcp_holds_the_queue_at_the_threshold(tmp_path: Path) -> None:
    """Marks instead of losses, a full link, and a queue that stays near the threshold: 20 packets, 12 ms."""
    bottleneck = 'buffer = "200 packets", queue = { kind = "drop-tail", ce_threshold = "20 packets" }'
    run = carry_out(tmp_path, path(flow(cc="bpf_dctcp"), bottleneck=bottleneck, duration="5 s"))
    (found,) = run.summary["flows"]
    assert link(run)["marks"] > 50
    later = run.samples.filter(pl.col("time_ns") > 1e9)
    assert later["retransmitted_segments"].max() == later["retransmitted_segments"].min()
    # 20 Mbit/s carry 19.1 Mbit/s of payload.
    assert found["goodput_bps"] > 0.95 * 19.1e6
    assert 4 < found["queue_ms"]["p50"] < 16, found["queue_ms"]
    # A cut by half at each mark, as Reno's, would empty the queue: alpha made it smaller.
    windows = later["cwnd_packets"].drop_nulls()
    assert windows.min() > 0.6 * windows.max(), (windows.min(), windows.max())
