"""Each metric against figures worked out by hand."""

import math
from typing import Any

import known_run
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumbbell.analysis import metrics
from dumbbell.analysis.pace import achieved_rate_bps
from dumbbell.plan.paths import base_rtt_ns, smallest_base_rtt_ns
from dumbbell.records.schema import polars_schema

BOTTLENECK = known_run.PLAN["links"][0]
REVERSE = known_run.PLAN["links"][1]


@pytest.fixture(scope="module")
def packets() -> pl.LazyFrame:
    return known_run.packets().lazy()


@pytest.fixture(scope="module")
def links() -> pl.LazyFrame:
    return known_run.links().lazy()


def test_goodput() -> None:
    assert metrics.goodput_bps(1_250_000, 1_000_000_000, 2_000_000_000) == 10e6
    assert metrics.goodput_bps(0, 0, 1) == 0
    assert metrics.goodput_bps(1, 5, 5) is None


ENDED_BY_US = {"exit_code": -15, "ended_by_us": True, "server_exit_code": None, "server_ended_by_us": False}
BY_ITSELF = ENDED_BY_US | {"exit_code": 0, "ended_by_us": False}


@pytest.mark.parametrize(
    ("workload", "measured", "run_end_ns", "end_ns"),
    [
        # Starved: the last byte came at 3, or none at all.
        ({"kind": "tcp", "bytes": None}, {"end_ns": 3}, 20, 10),
        ({"kind": "tcp", "bytes": None}, {"end_ns": None}, 20, 10),
        ({"kind": "udp", "bytes": None}, {"end_ns": 3, "completed": True}, 20, 10),
        # Interrupted at 7.
        ({"kind": "tcp", "bytes": None}, {"end_ns": 3}, 7, 7),
        ({"kind": "tcp", "bytes": 5}, {"end_ns": 3, "completed": True}, 20, 3),
        ({"kind": "tcp", "bytes": 5}, {"end_ns": 3, "completed": False}, 20, 10),
        # Failed: its last sample was at 4.
        ({"kind": "tcp", "bytes": None}, {"end_ns": 3, "error": "reset"}, 20, 4),
        ({"kind": "command"}, {"end_ns": 3, "command": ENDED_BY_US}, 20, 10),
        ({"kind": "command"}, {"end_ns": 3, "command": BY_ITSELF}, 20, 3),
        ({"kind": "command"}, {"end_ns": None, "command": BY_ITSELF}, 20, 10),
    ],
)
def test_active_end(workload: dict[str, Any], measured: dict[str, Any], run_end_ns: int, end_ns: int) -> None:
    account = {"error": None, "completed": False, "command": None} | measured
    assert metrics.active_end_ns({"stop_ns": 10, "workload": workload}, account, run_end_ns, 4) == end_ns


def test_active_end_of_a_failed_flow_without_samples() -> None:
    flow = {"stop_ns": 10, "workload": {"kind": "tcp", "bytes": None}}
    assert metrics.active_end_ns(flow, {"error": "refused", "end_ns": None}, 20, None) == 10


@pytest.mark.parametrize(
    ("values", "index"),
    [([1, 1], 1.0), ([1, 0], 0.5), ([1, 1, 1, 0], 0.75), ([3, 1], 0.8), ([5], None), ([0, 0], None)],
)
def test_jain_index(values: list[float], index: float | None) -> None:
    assert metrics.jain_index(values) == index


@given(st.lists(st.floats(0.001, 1e10), min_size=2, max_size=20), st.floats(0.001, 1000))
def test_jain_index_is_bounded_and_independent_of_scale(values: list[float], scale: float) -> None:
    index = metrics.jain_index(values)
    assert index is not None
    assert 1 / len(values) - 1e-9 <= index <= 1 + 1e-9
    assert metrics.jain_index([value * scale for value in values]) == pytest.approx(index)


def test_common_window() -> None:
    assert metrics.common_window([(0, 10), (4, 12)]) == (4, 10)
    assert metrics.common_window([(0, 4), (4, 12)]) is None
    assert metrics.common_window([]) is None


def test_received_in_window() -> None:
    samples = known_run.samples().lazy()
    received = metrics.received_in_window(samples, ["f1", "f2", "silent"], 500_000_000, 1_500_000_000)
    assert received == {"f1": 750_000, "f2": 250_000, "silent": 0}


def test_received_in_window_counts_from_zero_before_the_first_sample() -> None:
    received = metrics.received_in_window(known_run.samples().lazy(), ["f1"], 0, 2_000_000_000)
    assert received == {"f1": 1_500_000}


def test_rtt_ignores_samples_without_one() -> None:
    schema = polars_schema("samples")
    rows = [
        {"flow": "f1", "srtt_us": srtt, "min_rtt_us": least}
        for srtt, least in ((None, None), (20_000, 20_000), (40_000, 19_500))
    ]
    frame = pl.DataFrame([dict.fromkeys(schema) | row for row in rows], schema=schema)
    assert metrics.rtt_ms(frame.lazy()) == {"f1": metrics.Rtt(19.5, 30.0, 39.0)}


def test_rtt_of_udp_is_none() -> None:
    schema = polars_schema("samples")
    frame = pl.DataFrame([dict.fromkeys(schema) | {"flow": "u1"}], schema=schema)
    assert metrics.rtt_ms(frame.lazy()) == {"u1": metrics.Rtt(None, None, None)}


def test_queueing_delay_excludes_serialisation_and_drops(packets: pl.LazyFrame) -> None:
    delay = metrics.queueing_delay_ms(packets, BOTTLENECK)
    assert delay is not None
    assert (delay.p50, delay.p95, delay.max) == pytest.approx((3.7888, 3.7888, 3.7888))
    dropped = packets.with_columns(departure_ns=pl.lit(None, pl.Int64))
    assert metrics.queueing_delay_ms(dropped, BOTTLENECK) is None
    assert metrics.queueing_delay_ms(packets, REVERSE) is None


def test_overhead_lengthens_serialisation(packets: pl.LazyFrame) -> None:
    delay = metrics.queueing_delay_ms(packets, BOTTLENECK | {"overhead_bytes": 125})
    assert delay is not None
    assert delay.p50 == pytest.approx(3.7888 - 0.1)


def test_links_without_a_rate_have_no_queueing_delay(packets: pl.LazyFrame, links: pl.LazyFrame) -> None:
    assert metrics.queueing_delay_ms(packets, BOTTLENECK | {"rate_bps": None}) is None
    assert metrics.queueing_delay_from_links_ms(links, BOTTLENECK | {"rate_bps": None}) is None


def test_utilisation(packets: pl.LazyFrame) -> None:
    # Back to back from 10 ms on: 100 % from there, and the 10 ms missing at the start.
    assert metrics.utilisation(packets, BOTTLENECK, 1_000_000_000, 2_000_000_000) == pytest.approx(1.0, abs=0.0013)
    assert metrics.utilisation(packets, BOTTLENECK, 0, 1_000_000_000) == pytest.approx(0.99, abs=0.0013)
    assert metrics.utilisation(packets, BOTTLENECK | {"overhead_bytes": 1514}, 0, 10**9) == pytest.approx(
        1.98, abs=0.003
    )
    assert metrics.utilisation(packets, REVERSE, 0, 10**9) == 0
    assert metrics.utilisation(packets, BOTTLENECK | {"rate_bps": None}, 0, 10**9) is None


def test_utilisation_from_links_agrees_with_packets(packets: pl.LazyFrame, links: pl.LazyFrame) -> None:
    window = (500_000_000, 1_500_000_000)
    exact = metrics.utilisation(packets, BOTTLENECK, *window)
    assert metrics.utilisation_from_links(links, BOTTLENECK, *window) == pytest.approx(exact, abs=0.0013)


def test_queueing_delay_from_links(links: pl.LazyFrame) -> None:
    delay = metrics.queueing_delay_from_links_ms(links, BOTTLENECK)
    assert delay is not None
    assert (delay.p50, delay.max) == pytest.approx((3 * 1.2112, 4 * 1.2112))
    assert metrics.queueing_delay_from_links_ms(links, BOTTLENECK | {"rate_bps": None}) is None


def test_completion_time() -> None:
    assert metrics.completion_s(1000, 500_000_000, 2_000_000_000, True) == 1.5
    assert metrics.completion_s(1000, 0, 2_000_000_000, False) is None
    assert metrics.completion_s(None, 0, 2_000_000_000, True) is None


def test_achieved_rate_is_the_configured_one_if_lateness_is_steady(packets: pl.LazyFrame) -> None:
    assert achieved_rate_bps(packets, BOTTLENECK) == pytest.approx(known_run.RATE)
    assert achieved_rate_bps(packets, REVERSE) is None


def test_achieved_rate_shows_an_emulator_that_falls_behind(packets: pl.LazyFrame) -> None:
    """Lateness that grows by a tenth of the time stretches time by a tenth, whatever the schedule says."""
    behind = packets.with_columns(sent_ns=pl.col("delivery_ns") + pl.col("departure_ns") // 10)
    assert achieved_rate_bps(behind, BOTTLENECK) == pytest.approx(known_run.RATE / 1.1, rel=1e-6)


def test_achieved_rate_leaves_idle_times_out(packets: pl.LazyFrame) -> None:
    late = pl.when(pl.col("packet") >= 800).then(300_000_000).otherwise(0)
    gap = packets.with_columns(pl.col("departure_ns", "delivery_ns", "sent_ns") + late)
    assert achieved_rate_bps(gap, BOTTLENECK) == pytest.approx(known_run.RATE)


def test_achieved_rate_counts_packets_that_were_lost_after_it(packets: pl.LazyFrame) -> None:
    lost = pl.col("packet") % 3 == 0
    frame = packets.with_columns(
        sent_ns=pl.when(lost).then(None).otherwise(pl.col("sent_ns")),
        delivery_ns=pl.when(lost).then(None).otherwise(pl.col("delivery_ns")),
    )
    assert achieved_rate_bps(frame, BOTTLENECK) == pytest.approx(known_run.RATE)


def test_achieved_rate_finds_lateness_on_another_link(packets: pl.LazyFrame) -> None:
    """`sent_ns` stands on the last link of a path: its rows carry the lateness of the bottleneck's packets."""
    last = packets.with_columns(
        pl.lit("access").cast(pl.Categorical).alias("link"),
        sent_ns=pl.col("delivery_ns") + pl.col("departure_ns") // 10,
    )
    both = pl.concat([packets.with_columns(sent_ns=pl.lit(None, pl.Int64)), last])
    assert achieved_rate_bps(both, BOTTLENECK) == pytest.approx(known_run.RATE / 1.1, rel=1e-6)


def test_achieved_rate_needs_a_tenth_of_a_second(packets: pl.LazyFrame) -> None:
    assert achieved_rate_bps(packets.filter(pl.col("packet") < 82), BOTTLENECK) is None


def test_base_rtt_is_there_and_back() -> None:
    assert base_rtt_ns(known_run.PLAN, known_run.PLAN["flows"][0]) == 20_000_000
    assert smallest_base_rtt_ns(known_run.PLAN) == 20_000_000


def test_no_metric_is_nan() -> None:
    empty = pl.DataFrame(schema=polars_schema("packets")).lazy()
    used = metrics.utilisation(empty, BOTTLENECK, 0, 10**9)
    assert used == 0
    assert not math.isnan(used)
    assert metrics.queueing_delay_ms(empty, BOTTLENECK) is None
    assert achieved_rate_bps(empty, BOTTLENECK) is None
