"""Policers of each kind that hides its bucket, and paths whose losses only look like a policer's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dumbbell
from dumbbell.captures.points import FILE, interfaces
from dumbbell.fitting import Fit, fit
from dumbbell.fitting.bucket import Bucket
from dumbbell.fitting.trace import Bools, Floats, Trace

pytestmark = pytest.mark.xdist_group("fit-policers")
SIDES = ("sender", "receiver")
PACKET = 1514.0


def path(
    rate: str, rtt: str, cc: str, policer: tuple[str, str] | None = None, others: str = "", **link: Any
) -> dict[str, Any]:
    bottleneck = {"rate": rate, **link}
    if policer is not None:
        bottleneck["policer"] = {"rate": policer[0], "burst": policer[1]}
    flows = [{"from": "s1", "to": "r1", "cc": cc}]
    if others:
        flows.append({"from": "s2", "to": "r2", "protocol": "udp", "rate": others})
    return {
        "name": "policers",
        "duration": "15 s",
        "topology": {"kind": "dumbbell", "pairs": 2, "rtt": rtt, "bottleneck": bottleneck},
        "flows": flows,
        "record": {"capture": True, "packets": False, "acks": False},
    }


POLICED = {
    "few packets wait behind it": path("13 Mbit/s", "18 ms", "reno", ("4 Mbit/s", "30 kB"), buffer="22 kB"),
    "bursts overflow behind it": path("18 Mbit/s", "60 ms", "cubic", ("11 Mbit/s", "150 kB"), buffer="42 kB"),
    "the sender never lets it fill": path("33 Mbit/s", "9 ms", "bbr", ("21 Mbit/s", "55 kB"), buffer="15 kB"),
    "losses behind it are not made up for 10 s": path(
        "39.7 Mbit/s", "9.3 ms", "bbr", ("21.5 Mbit/s", "128 kB"), buffer="38 kB"
    ),
    "the last packets of bursts are lost": path(
        "33.6 Mbit/s", "91 ms", "cubic", ("12.1 Mbit/s", "57 kB"), buffer="127 kB"
    ),
}
OTHERS = {
    "random loss": path("20 Mbit/s", "30 ms", "bbr", buffer="75 kB", loss="1 %"),
    "a queue discipline": path("20 Mbit/s", "30 ms", "cubic", buffer="200 kB", queue="codel"),
    "steady other traffic": path("20 Mbit/s", "30 ms", "reno", others="8 Mbit/s", buffer="75 kB"),
    "a full queue": path("8 Mbit/s", "30 ms", "cubic", buffer="30 kB"),
}


def fits(table: dict[str, Any], folder: Path) -> list[Fit]:
    run = dumbbell.run(table, (), folder, engine="simulate", report=False)
    return [fit(run.directory / FILE, None, None, list(interfaces(run.plan, side))) for side in SIDES]


@pytest.mark.parametrize("name", POLICED)
def test_a_policer_is_found(name: str, tmp_path: Path) -> None:
    truth = float(POLICED[name]["topology"]["bottleneck"]["policer"]["rate"].split()[0]) * 1e6
    for found in fits(POLICED[name], tmp_path):
        rate = found.policer.rate
        assert rate.value == pytest.approx(truth, rel=0.02), found.transfer.side
        assert rate.low is not None
        assert rate.high is not None
        assert rate.low <= truth <= rate.high
        assert not found.losses.buffer.is_identifiable
        assert not found.losses.loss.is_identifiable


@pytest.mark.parametrize("name", OTHERS)
def test_losses_of_another_kind_are_no_policer(name: str, tmp_path: Path) -> None:
    for found in fits(OTHERS[name], tmp_path):
        assert not found.policer.is_found, found.transfer.side
        assert not found.policer.is_likely


class Sent:
    """A trace for `Bucket`: packets that are sent in bursts through a bucket of 8 Mbit/s and 30 kB."""

    segment_bytes = PACKET

    def __init__(self, seed: int, is_policed: bool, bursts: int = 300) -> None:
        random = np.random.default_rng(seed)
        starts = np.cumsum(random.uniform(5e6, 60e6, bursts))
        sizes = random.integers(2, 60, bursts)
        self.sent_ns: Floats = np.concatenate(
            [start + 1e4 * np.arange(count) for start, count in zip(starts, sizes, strict=True)]
        )
        self.sent_bytes = np.full(len(self.sent_ns), PACKET)
        if not is_policed:
            self.lost: Bools = random.random(len(self.sent_ns)) < 0.02
            return
        self.lost = np.zeros(len(self.sent_ns), dtype=bool)
        tokens, last = 30_000.0, self.sent_ns[0]
        for at, time in enumerate(self.sent_ns.tolist()):
            tokens, last = min(30_000.0, tokens + (time - last) * 8e6 / 8e9), time
            self.lost[at] = tokens < PACKET
            tokens -= 0.0 if self.lost[at] else PACKET


def bucket(sent: Sent) -> Bucket:
    seen: Trace = sent  # type: ignore[assignment]
    return Bucket(seen, np.zeros(len(sent.lost), dtype=bool), 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_a_bucket_explains_each_loss_within_a_packet(seed: int) -> None:
    band = bucket(Sent(seed, is_policed=True)).search()[0]
    assert band.rate_bps == pytest.approx(8e6, rel=0.01)
    assert band.top == pytest.approx(30_000, abs=1.5 * PACKET)
    assert band.share > 0.95
    assert band.passed_beyond < 0.001
    assert band.contrast > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_no_bucket_explains_losses_by_chance(seed: int) -> None:
    bands = bucket(Sent(seed, is_policed=False)).search()
    assert all(band.contrast < 0.3 for band in bands)


@pytest.mark.parametrize("seed", range(3))
def test_few_losses_part_at_the_rate_of_a_bucket(seed: int) -> None:
    few = bucket(Sent(seed, is_policed=True, bursts=25))
    low, high = few.parting(7e6, 9e6)
    assert low <= 8e6 <= high
    assert high - low < 0.1 * 8e6


def test_few_losses_tell_a_policer_to_its_sender_and_bound_it_at_the_receiver(tmp_path: Path) -> None:
    """40 packets are lost in three episodes: many rates put them into a band, few part them from what passed."""
    table = path("47574 kbit/s", "119.2 ms", "cubic", ("15688 kbit/s", "48725 B"), buffer="495772 B")
    at_sender, at_receiver = fits(table | {"duration": "12.7 s", "seed": 586}, tmp_path)
    assert at_sender.policer.rate.value == pytest.approx(15.688e6, rel=0.02)
    assert at_receiver.policer.is_likely
    assert not at_receiver.policer.rate.is_identifiable
    for found in (at_sender, at_receiver):
        rate = found.policer.rate
        assert rate.low is not None
        assert rate.high is not None
        assert rate.low <= 15.688e6 <= rate.high
        assert not found.losses.buffer.is_identifiable
        assert not found.losses.loss.is_identifiable


def test_the_first_losses_of_a_long_transfer_tell_its_policer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search over millions of packets takes seconds for each, so it ends behind enough losses."""
    table = path("20 Mbit/s", "30 ms", "cubic", ("6 Mbit/s", "40 kB"), buffer="75 kB")
    searched: list[int] = []

    class Counted(Bucket):
        def __init__(self, trace: Trace, *rest: Any) -> None:
            searched.append(len(trace.lost))
            super().__init__(trace, *rest)

    monkeypatch.setattr("dumbbell.fitting.policer.Bucket", Counted)
    monkeypatch.setattr("dumbbell.fitting.policer._ENOUGH", 2000)
    monkeypatch.setattr("dumbbell.fitting.policer._ENOUGH_RUNS", 20)
    for found in fits(table, tmp_path):
        assert found.policer.rate.value == pytest.approx(6e6, rel=0.02)
        assert found.policer.burst.value == pytest.approx(40e3, abs=3 * PACKET)
    assert 2000 <= max(searched) < 4000
