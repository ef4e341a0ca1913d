"""Buffers that `dumbbell fit` tells: of links whose rate varies, that pause, or that others use, too."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell.captures.points import FILE, interfaces
from dumbbell.fitting import Fit, fit
from dumbbell.fitting.scenario import served_bps, toml
from dumbbell.fitting.words import answer

pytestmark = pytest.mark.xdist_group("fit")
STEPS = [[f"{at / 2} s", f"{4 + 3 * (at * 7 % 5)} Mbit/s"] for at in range(24)]
BUFFER = 90_000
LINKS: dict[str, dict[str, Any]] = {
    "varies": {"rate": {"steps": STEPS}},
    "pauses": {
        "rate": "16 Mbit/s",
        "slots": {"min_interval": "1 ms", "max_interval": "6 ms", "bytes": "24000 B"},
    },
    "shared": {"rate": "10 Mbit/s"},
    "codel": {"rate": "10 Mbit/s", "queue": "codel"},
}
SIDES = ("sender", "receiver")


@pytest.fixture(scope="module")
def fits(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Fit]:
    folder = tmp_path_factory.mktemp("buffers")
    found = {}
    for name, link in LINKS.items():
        flows: list[dict[str, Any]] = [{"from": "s1", "to": "r1", "cc": "cubic"}]
        if name == "shared":
            flows.append({"from": "s2", "to": "r2", "protocol": "udp", "rate": "4 Mbit/s", "on": "1 s", "off": "1 s"})
        scenario = {
            "name": name,
            "duration": "12 s",
            "topology": {
                "kind": "dumbbell", "pairs": 2, "rtt": "40 ms", "bottleneck": {"buffer": f"{BUFFER} B", **link},
            },
            "flows": flows,
            "record": {"capture": True, "packets": False, "acks": False},
        }  # fmt: skip
        run = dumbbell.run(scenario, (), folder, engine="simulate", report=False)
        for side in SIDES:
            found[name, side] = fit(run.directory / FILE, None, None, list(interfaces(run.plan, side)))
    return found


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", ["varies", "pauses", "shared"])
def test_the_buffer_is_told_by_what_losses_have_in_common(
    fits: dict[tuple[str, str], Fit], name: str, side: str
) -> None:
    found = fits[name, side].losses
    assert found.is_own == (name != "shared")
    assert found.buffer.value == pytest.approx(BUFFER, rel=0.1)
    assert found.buffer.low is not None
    assert found.buffer.high is not None
    assert found.buffer.low <= BUFFER <= found.buffer.high


@pytest.mark.parametrize("side", SIDES)
def test_a_rate_that_varies_is_no_queue_discipline(fits: dict[tuple[str, str], Fit], side: str) -> None:
    assert fits["varies", side].rate.varies
    assert not fits["varies", side].losses.is_early
    assert not fits["codel", side].losses.buffer.is_identifiable


def test_a_link_that_pauses_becomes_its_mean_rate_and_no_traffic(fits: dict[tuple[str, str], Fit]) -> None:
    found = fits["pauses", "sender"]
    assert 'id = "others"' not in toml(found)
    assert "the link pauses." in answer(found)[0]
    assert "others send over it." in answer(fits["shared", "sender"])[0]
    assert served_bps(found) == found.rate.available.value
    assert 'id = "others"' in toml(fits["shared", "sender"])


def test_a_series_has_a_rate_for_the_whole_time(fits: dict[tuple[str, str], Fit]) -> None:
    times = [time for time, _ in fits["varies", "sender"].rate.series]
    assert times[0] == 0
    assert times[-1] > 11
    assert max(later - former for former, later in pairwise(times)) < 0.21


@pytest.mark.parametrize("side", SIDES)
def test_windows_tell_what_others_send_over_time(fits: dict[tuple[str, str], Fit], side: str) -> None:
    """Others send 4 Mbit/s for every second second."""
    found = fits["shared", side].others
    assert found.rate.value == pytest.approx(2e6, abs=0.5e6)
    assert found.rate.low is not None
    assert found.rate.high is not None
    assert found.rate.low <= 2e6 <= found.rate.high
    rates = [rate for _, rate, _, _ in found.series]
    assert len(rates) > 40
    assert all(low <= rate <= high for _, rate, low, high in found.series)
    on, off = (sum(abs(rate - bps) < 0.5e6 for rate in rates) for bps in (4e6, 0.0))
    assert min(on, off) > 0.3 * len(rates)
    assert on + off > 0.7 * len(rates)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", ["varies", "pauses"])
def test_a_link_of_its_own_ways_tells_no_others(fits: dict[tuple[str, str], Fit], name: str, side: str) -> None:
    assert not fits[name, side].others.rate.is_identifiable
    assert not fits[name, side].others.series


def test_a_sender_that_drains_its_queue_has_no_company(tmp_path: Path) -> None:
    """BBR lets its queue drain in ProbeRTT, and overflows this buffer: packets are repeated meanwhile."""
    scenario = {
        "name": "drains",
        "duration": "13 s",
        "topology": {
            "kind": "dumbbell", "pairs": 1, "rtt": "132 ms", "bottleneck": {"rate": "8 Mbit/s", "buffer": "48 kB"},
        },
        "flows": [{"from": "s1", "to": "r1", "cc": "bbr"}],
        "record": {"capture": True, "packets": False, "acks": False},
    }  # fmt: skip
    run = dumbbell.run(scenario, (), tmp_path, engine="simulate", report=False)
    found = fit(run.directory / FILE, None, None, list(interfaces(run.plan, "sender"))).others
    assert found.rate.value == pytest.approx(0, abs=30e3)
    assert found.rate.low == 0
    assert max(rate for _, rate, _, _ in found.series) < 0.05 * 8e6
