"""The pace of a link, compared with its plan: known departures, made late or too fast."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import known_run
import numpy as np
import polars as pl
import pytest

from dumbbell.analysis import pace as paces
from dumbbell.analysis.capacity import Capacity
from dumbbell.analysis.pace import Pace, measure
from dumbbell.plan.network import History
from dumbbell.plan.types import Link
from dumbbell.records.schema import polars_schema

MS = 1_000_000
STEADY: History = ((0, known_run.state(known_run.link("bottleneck", "h1", "h2"))),)


def varying(**variation: Any) -> Link:
    return known_run.state(known_run.link("bottleneck", "h1", "h2", 10_000_000, variation=variation))


def pace(packets: pl.LazyFrame, history: History = STEADY) -> Pace:
    return measure(packets, {"bottleneck": history}, _counts(packets))["bottleneck"]


def _counts(packets: pl.LazyFrame) -> dict[str, int]:
    return dict(packets.group_by(pl.col("link").cast(pl.String)).len().collect().iter_rows())


@pytest.fixture(scope="module")
def packets() -> pl.LazyFrame:
    return known_run.packets().lazy()


def test_the_pace_is_the_configured_one_if_lateness_is_steady(packets: pl.LazyFrame) -> None:
    assert pace(packets).achieved == pytest.approx(1)
    assert pace(packets).excess_packets == pytest.approx(0, abs=1e-6)
    both = measure(packets, {"bottleneck-reverse": STEADY, "bottleneck": STEADY}, _counts(packets))
    assert both == {"bottleneck-reverse": Pace(None, 0.0), "bottleneck": pace(packets)}


def test_an_emulator_that_falls_behind_shows(packets: pl.LazyFrame) -> None:
    """Lateness that grows by a tenth of the time stretches time by a tenth, whatever the schedule says."""
    behind = packets.with_columns(sent_ns=pl.col("delivery_ns") + pl.col("departure_ns") // 10)
    assert pace(behind).achieved == pytest.approx(1 / 1.1, rel=1e-6)


def test_idle_times_are_left_out(packets: pl.LazyFrame) -> None:
    late = pl.when(pl.col("packet") >= 800).then(300 * MS).otherwise(0)
    gap = packets.with_columns(pl.col("arrival_ns", "departure_ns", "delivery_ns", "sent_ns") + late)
    assert pace(gap).achieved == pytest.approx(1)


def test_a_pause_while_packets_wait_is_a_slow_link(packets: pl.LazyFrame) -> None:
    late = pl.when(pl.col("packet") >= 800).then(300 * MS).otherwise(0)
    gap = packets.with_columns(pl.col("departure_ns", "delivery_ns", "sent_ns") + late)
    achieved = pace(gap.with_columns(arrival_ns=0)).achieved
    busy_ns = (known_run.PACKETS - 1) * known_run.SERVICE_NS
    assert achieved == pytest.approx(busy_ns / (busy_ns + 300 * MS), rel=1e-6)


def test_packets_that_were_lost_afterwards_count(packets: pl.LazyFrame) -> None:
    lost = pl.col("packet") % 3 == 0
    frame = packets.with_columns(
        sent_ns=pl.when(lost).then(None).otherwise(pl.col("sent_ns")),
        delivery_ns=pl.when(lost).then(None).otherwise(pl.col("delivery_ns")),
    )
    assert pace(frame).achieved == pytest.approx(1)


def test_lateness_is_found_on_another_link(packets: pl.LazyFrame) -> None:
    """`sent_ns` is known at the last link of a path: its rows carry the lateness of the bottleneck's packets."""
    last = packets.with_columns(
        pl.lit("access").cast(pl.Categorical).alias("link"),
        sent_ns=pl.col("delivery_ns") + pl.col("departure_ns") // 10,
    )
    both = pl.concat([packets.with_columns(sent_ns=pl.lit(None, pl.Int64)), last])
    assert pace(both).achieved == pytest.approx(1 / 1.1, rel=1e-6)


def test_a_tenth_of_a_second_is_needed(packets: pl.LazyFrame) -> None:
    assert pace(packets.filter(pl.col("packet") < 82)).achieved is None


def test_no_packets_no_pace() -> None:
    assert pace(pl.DataFrame(schema=polars_schema("packets")).lazy()) == Pace(None, 0.0)


def test_a_copy_leaves_behind_its_original(packets: pl.LazyFrame) -> None:
    """A copy has its original's number: departures count twice, the lateness of each once."""
    twice = packets.with_columns(packet=pl.col("packet") // 2, duplicate=pl.col("packet") % 2 == 1)
    assert pace(twice).achieved == pytest.approx(1)


def test_order_does_not_matter(packets: pl.LazyFrame) -> None:
    """Fair queueing and jitter: packets leave in another order than they came, and are logged in another order than
    they leave."""
    mixed = packets.with_columns(pl.col("packet", "flow").reverse()).reverse()
    assert pace(mixed).achieved == pytest.approx(1)


def test_a_link_that_is_too_fast_is_found_even_if_it_idles(packets: pl.LazyFrame) -> None:
    """100 packets in half the time that they need, and then nothing for as long."""
    n = pl.col("packet").cast(pl.Int64)
    early = pl.when(n < 100).then(n * known_run.SERVICE_NS // 2).otherwise(0)
    burst = packets.with_columns(pl.col("departure_ns", "delivery_ns", "sent_ns") - early)
    # The time from the first departure to the hundredth has room for 49 and a half.
    assert pace(burst).excess_packets == pytest.approx(49.5, abs=0.01)


def test_overhead_counts(packets: pl.LazyFrame) -> None:
    link = STEADY[0][1]
    history = ((0, replace(link, rate_bps=20_000_000, overhead_bytes=known_run.FRAME)),)
    assert pace(packets, history).achieved == pytest.approx(1, rel=1e-6)


def test_a_link_that_is_down_has_no_capacity() -> None:
    up = known_run.state(known_run.link("bottleneck", "h1", "h2", 8_000_000))
    history = ((0, up), (1000 * MS, replace(up, up=False)), (1500 * MS, up))
    at = np.array([1000, 1200, 1500, 2000]) * MS
    assert Capacity(history, 3000 * MS).until(at) / 1e6 == pytest.approx([1, 1, 1, 1.5])


def test_steps_and_events_are_the_capacity() -> None:
    at = np.array([0, 500, 1000, 1500, 2000, 2500]) * MS
    link = varying(kind="steps", steps=[[0, 8_000_000], [1000 * MS, 16_000_000]], period_ns=2000 * MS)
    assert Capacity(((0, link),), 3000 * MS).until(at) / 1e6 == pytest.approx([0, 0.5, 1, 2, 3, 3.5])
    # An event after 1.5 s: the steps go on from the origin, not from the event.
    slow = known_run.state(known_run.link("bottleneck", "h1", "h2", 800_000))
    history = ((0, slow), (1500 * MS, link))
    assert Capacity(history, 3000 * MS).until(at) / 1e6 == pytest.approx([0, 0.05, 0.1, 0.15, 1.15, 1.65])


def test_the_last_of_steps_without_a_period_lasts() -> None:
    link = varying(kind="steps", steps=[[0, 8_000_000], [1000 * MS, 16_000_000]], period_ns=None)
    at = np.array([500, 1000, 3000]) * MS
    assert Capacity(((0, link),), 3000 * MS).until(at) / 1e6 == pytest.approx([0.5, 1, 5])


def test_the_capacity_of_fast_links_and_long_runs_fits() -> None:
    """Bits per second times nanoseconds do not, in 64 bits: at 100 Gbit/s for an hour."""
    link = replace(STEADY[0][1], rate_bps=100_000_000_000)
    hour = 3600 * 1000 * MS
    assert Capacity(((0, link),), hour).until(np.array([hour // 2, hour])) == pytest.approx([22.5e12, 45e12])


def test_opportunities_are_the_capacity() -> None:
    link = varying(kind="opportunities", times=[[0, 1], [4 * MS, 2]], bytes=1000, period_ns=10 * MS)
    capacity = Capacity(((0, link),), 100 * MS)
    at = np.array([0, 3, 4, 5, 10, 14]) * MS
    assert capacity.until(at).tolist() == [1000, 1000, 3000, 3000, 4000, 6000]
    assert capacity.before(at).tolist() == [0, 1000, 1000, 3000, 3000, 4000]


def departures(times_ns: list[int]) -> pl.LazyFrame:
    first = known_run.packets().row(0, named=True)
    rows = [
        first | {"packet": n, "size_bytes": 1000, "arrival_ns": 0, "departure_ns": at, "delivery_ns": at, "sent_ns": at}
        for n, at in enumerate(times_ns)
    ]
    return pl.DataFrame(rows, schema=polars_schema("packets")).lazy()


def test_a_busy_link_with_steps_keeps_its_pace() -> None:
    """8 Mbit/s for 100 ms, nothing for 100 ms, and so on: a packet of 1000 bytes each ms, while there is a rate."""
    link = varying(kind="steps", steps=[[0, 8_000_000], [100 * MS, 0]], period_ns=200 * MS)
    times = [at * MS for at in range(1, 1000) if 0 < at % 200 <= 100]
    found = pace(departures(times), ((0, link),))
    assert found.achieved == pytest.approx(1)
    assert found.excess_packets == pytest.approx(0, abs=1e-6)
    early = pace(departures([at - at % 200 // 2 for at in times]), ((0, link),))
    assert early.excess_packets < 1


def test_a_busy_link_with_opportunities_keeps_its_pace() -> None:
    """Two packets and a half each 10 ms: three leave, then two; a cut packet begins at one time and ends at the
    next."""
    link = varying(kind="opportunities", times=[[5 * MS, 5]], bytes=500, period_ns=10 * MS)
    times = [at * MS for slot in range(5, 1000, 20) for at in (slot, slot, slot + 10, slot + 10, slot + 10)]
    found = pace(departures(times), ((0, link),))
    assert found == Pace(pytest.approx(1), 0.0)
    unused = pace(departures(times[::2]), ((0, link),)).achieved
    assert unused == pytest.approx(0.5, abs=0.02)


def test_slots_may_idle_while_packets_wait(packets: pl.LazyFrame) -> None:
    slots = {"min_interval_ns": MS, "max_interval_ns": MS, "packets": None, "bytes": None}
    history = ((0, replace(STEADY[0][1], slots=slots)),)
    late = packets.with_columns(pl.col("departure_ns", "delivery_ns", "sent_ns") * 2)
    assert pace(late, history) == Pace(None, 0.0)
    early = packets.with_columns(pl.col("departure_ns") // 2)
    assert pace(early, history).excess_packets > 100


@pytest.mark.parametrize("most", [1, 1000, 1 << 30])
def test_links_are_measured_alike_together_and_alone(
    packets: pl.LazyFrame, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    slower = packets.with_columns(pl.col("departure_ns") + pl.col("packet").cast(pl.Int64) * MS, link=pl.lit("slower"))
    several = pl.concat([packets.with_columns(pl.col("link").cast(pl.String)), slower], how="vertical_relaxed")
    monkeypatch.setattr(paces, "MOST_ROWS", most)
    scans = []
    departures = paces._departures
    monkeypatch.setattr(paces, "_departures", lambda *given: scans.append(given[1]) or departures(*given))
    found = measure(several, {"bottleneck": STEADY, "slower": STEADY}, _counts(several))
    assert found == {"bottleneck": pace(packets), "slower": found["slower"]}
    assert found["slower"].achieved != found["bottleneck"].achieved
    # The last one is that of `pace`.
    assert scans[:-1] == ([["bottleneck", "slower"]] if most > 5000 else [["bottleneck"], ["slower"]])
