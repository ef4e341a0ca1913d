"""Rates of links that are faster than hosts handle packets one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dumbbell
from dumbbell.captures.points import FILE, interfaces
from dumbbell.fitting import fit
from dumbbell.fitting.batches import without_batches
from dumbbell.fitting.capacity import peaks
from dumbbell.fitting.trace import Floats

PACKET = 1514.0


def rate_bps(gaps: Floats, sizes: Floats) -> Floats:
    return sizes * 8e9 / gaps


def moderated(wire_ns: Floats, least_ns: float) -> Floats:
    """Times at which a host sees packets whose interrupts come that far apart at least; 0.5 us a packet."""
    seen: list[float] = []
    interrupt, count = -np.inf, 0
    for time in wire_ns.tolist():
        if time > interrupt:
            interrupt = max(time, interrupt + least_ns)
            count = 0
        seen.append(interrupt + 500.0 * count)
        count += 1
    return np.maximum.accumulate(np.array(seen))


@pytest.mark.parametrize("least_us", [20, 50, 100, 250])
@pytest.mark.parametrize("mbps", [300, 1000, 10_000])
def test_batches_of_a_host_keep_the_links_rate(mbps: int, least_us: int) -> None:
    wire = np.arange(40_000) * PACKET * 8e3 / mbps
    gaps, sizes, is_batched = without_batches(moderated(wire, least_us * 1e3), np.full(40_000, PACKET))
    assert is_batched
    assert np.quantile(rate_bps(gaps, sizes), 0.95) == pytest.approx(mbps * 1e6, rel=0.1)
    assert np.median(rate_bps(gaps, sizes)) == pytest.approx(mbps * 1e6, rel=0.02)


def test_gaps_of_a_slow_link_stay_as_they_are() -> None:
    wire = np.arange(1000) * 151_400.0
    gaps, sizes, is_batched = without_batches(wire, np.full(1000, PACKET))
    assert not is_batched
    assert np.array_equal(gaps, np.diff(wire))
    assert len(sizes) == len(gaps)


@pytest.mark.parametrize("mbps", [100, 1000])
def test_acks_in_batches_show_no_faster_link(mbps: int, tmp_path: Path) -> None:
    """At 1 Gbit/s a third of the ACKs follow another one at once."""
    table = {
        "name": "fast",
        "duration": "1.5 s",
        "topology": {
            "kind": "dumbbell",
            "pairs": 1,
            "rtt": "5 ms",
            "bottleneck": {"rate": f"{mbps} Mbit/s", "buffer": "1 bdp"},
        },
        "flows": [{"from": "s1", "to": "r1", "cc": "cubic"}],
        "record": {"capture": True, "packets": False, "acks": False},
    }
    run = dumbbell.run(table, (), tmp_path, engine="simulate", report=False)
    found = fit(run.directory / FILE, None, None, list(interfaces(run.plan, "sender")))
    capacity = found.rate.capacity
    assert capacity.value == pytest.approx(mbps * 1e6, rel=0.02)
    assert capacity.low is not None
    assert capacity.high is not None
    assert capacity.low <= mbps * 1e6 <= capacity.high
    assert found.losses.buffer.value == pytest.approx(mbps * 1e6 * 5e-3 / 8, rel=0.1)


@pytest.mark.parametrize("count", [3, 10, 200, 2000])
def test_peaks_of_rates_are_those_that_scipy_finds(count: int) -> None:
    from scipy.signal import find_peaks

    random = np.random.default_rng(count)
    for levels in (2, 5, 50):
        values = np.r_[0.0, np.round(random.random(count) * levels), 0.0]
        tops, about = find_peaks(values, height=0.05 * values.max(), prominence=0.0)
        assert peaks(values, 0.05 * values.max()) == list(zip(tops.tolist(), about["prominences"], strict=True))
