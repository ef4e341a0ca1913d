"""Each metric against figures worked out by hand."""

from typing import Any

import known_run
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dumbbell.analysis import metrics
from dumbbell.plan.routes import base_rtt_ns, least_rtts_ns, smallest_base_rtt_ns
from dumbbell.records.schema import polars_schema


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


@settings(deadline=None)  # The machine may be busy.
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


def test_rtt_is_of_connections_that_carried_data() -> None:
    """iperf3's control connection is idle, and its RTT that of an empty path."""
    schema = polars_schema("samples")
    sockets = ((1, 190, 20_000), (2, 2_000_000, 40_000), (3, 20_000, 42_000))
    rows = [
        {"flow": "f1", "socket": socket, "bytes_acked": min(acked, 1000 * time), "srtt_us": srtt, "min_rtt_us": srtt}
        for socket, acked, srtt in sockets
        for time in range(2001)
    ]
    frame = pl.DataFrame([dict.fromkeys(schema) | row for row in rows], schema=schema)
    assert metrics.rtt_ms(frame.lazy()) == {"f1": metrics.Rtt(40.0, 41.0, 42.0)}


def test_rtt_of_udp_is_none() -> None:
    schema = polars_schema("samples")
    frame = pl.DataFrame([dict.fromkeys(schema) | {"flow": "u1"}], schema=schema)
    assert metrics.rtt_ms(frame.lazy()) == {"u1": metrics.Rtt(None, None, None)}


def test_queueing_delay_is_the_time_in_the_queue_of_packets_that_left(packets: pl.LazyFrame) -> None:
    delay = metrics.queueing_delay_ms(packets)["bottleneck"]
    assert (delay.p50, delay.p95, delay.max) == pytest.approx((3.7888, 3.7888, 3.7888))
    assert "bottleneck-reverse" not in metrics.queueing_delay_ms(packets)
    long = packets.with_columns(sojourn_ns=pl.when(pl.col("packet") < 10).then(10**9).otherwise("sojourn_ns"))
    assert metrics.queueing_delay_ms(long)["bottleneck"].max == 1000
    dropped = pl.when(pl.col("packet") >= 10).then("departure_ns")
    assert metrics.queueing_delay_ms(long.with_columns(departure_ns=dropped))["bottleneck"].max < 4


def test_queueing_delay_of_a_flow_adds_up_its_way(packets: pl.LazyFrame) -> None:
    """f1 waits at two links, f2 crosses one of them, and what the reverse link says is of acknowledgements."""
    plan = known_run.PLAN | {
        "nodes": [{"kind": "host", "name": name} for name in ("h1", "h2", "h3")],
        "links": [
            known_run.link("bottleneck", "h1", "s"),
            known_run.link("second", "s", "h2"),
            known_run.link("third", "s", "h3", None),
            known_run.link("bottleneck-reverse", "h2", "h1"),
        ],
        "flows": [{"id": "f1", "from": "h1", "to": "h2"}, {"id": "f2", "from": "h1", "to": "h3"}],
    }
    named = {name: pl.lit(name).cast(pl.Categorical) for name in ("second", "third", "bottleneck-reverse")}
    second = packets.filter(pl.col("flow") == "f1").with_columns(
        link=named["second"], sojourn_ns=pl.lit(1_000_000, pl.Int64)
    )
    third = packets.filter(pl.col("flow") == "f2").with_columns(link=named["third"], sojourn_ns=pl.lit(0, pl.Int64))
    back = packets.with_columns(link=named["bottleneck-reverse"], sojourn_ns=pl.lit(10**9, pl.Int64))
    delays = metrics.flow_queueing_delay_ms(pl.concat([packets, second, third, back]), plan)
    assert {flow: delay.max for flow, delay in delays.items()} == pytest.approx({"f1": 4.7888, "f2": 3.7888})


def test_queueing_delay_of_a_flow_is_of_packets_that_arrived(packets: pl.LazyFrame) -> None:
    lost = pl.col("packet") % 4 == 0
    frame = packets.with_columns(
        fate=pl.when(lost).then(pl.lit("lost-after")).otherwise(pl.lit("delivered")),
        sojourn_ns=pl.when(lost).then(10**9).otherwise("sojourn_ns"),
    )
    assert metrics.flow_queueing_delay_ms(frame, known_run.PLAN)["f1"].max == pytest.approx(3.7888)


def test_marked_share_is_of_ecn_capable_packets_that_arrived(packets: pl.LazyFrame) -> None:
    n = pl.col("packet")
    ecn = pl.when(n % 2 == 1).then(pl.lit("not-ect")).when(n % 8 == 0).then(pl.lit("ce")).otherwise(pl.lit("ect0"))
    frame = packets.filter(n < 1600).with_columns(ecn=ecn)
    assert metrics.marked(frame, known_run.PLAN) == {"f1": metrics.Marked(200, 0.25)}
    none_arrived = frame.with_columns(fate=pl.lit("dropped-tail"))
    assert metrics.marked(none_arrived, known_run.PLAN) == {}


def test_marked_share_of_a_link(links: pl.LazyFrame) -> None:
    marked = links.with_columns(marked_packets=pl.col("departed_packets") // 10)
    last = known_run.links()["departed_packets"].max()
    assert metrics.marked_share(marked) == {"bottleneck": last // 10 / last}  # type: ignore[operator]


def test_utilisation(links: pl.LazyFrame) -> None:
    # Back to back from 10 ms on: 100 % from there, and the 10 ms missing at the start.
    assert metrics.utilisation(links, "bottleneck", 1_000_000_000, 2_000_000_000) == pytest.approx(1.0, abs=0.0013)
    assert metrics.utilisation(links, "bottleneck", 0, 1_000_000_000) == pytest.approx(0.99, abs=0.0013)
    assert metrics.utilisation(links, "bottleneck-reverse", 0, 10**9) == 0
    assert metrics.utilisation(links, "nothing", 0, 10**9) is None


def test_utilisation_follows_a_rate_that_changes(links: pl.LazyFrame) -> None:
    """Ten times the rate in the second second, and the same packets: a tenth of it is used."""
    at = pl.col("time_ns")
    faster = pl.when(at > 10**9).then(1_250_000 + (at - 10**9) * 10 // 800).otherwise(at // 800)
    frame = links.with_columns(capacity_bytes=faster.cast(pl.UInt64))
    assert metrics.utilisation(frame, "bottleneck", 10**9, 2 * 10**9) == pytest.approx(0.1, abs=0.0013)
    assert metrics.utilisation(frame, "bottleneck", 0, 2 * 10**9) == pytest.approx(1.99 / 11, abs=0.0013)


def test_utilisation_needs_a_rate_at_all_times(links: pl.LazyFrame) -> None:
    late = links.with_columns(capacity_bytes=pl.when(pl.col("time_ns") >= 10**9).then("capacity_bytes"))
    assert metrics.utilisation(late, "bottleneck", 0, 2 * 10**9) is None
    assert metrics.utilisation(late, "bottleneck", 10**9, 2 * 10**9) == pytest.approx(1.0, abs=0.0013)
    paused = links.with_columns(capacity_bytes=pl.lit(1000, pl.UInt64))
    assert metrics.utilisation(paused, "bottleneck", 10**9, 2 * 10**9) is None


def test_queueing_delay_from_links(links: pl.LazyFrame) -> None:
    delay = metrics.queueing_delay_from_links_ms(links, "bottleneck", known_run.RATE)
    assert delay is not None
    assert (delay.p50, delay.max) == pytest.approx((3 * 1.2112, 4 * 1.2112))
    assert metrics.queueing_delay_from_links_ms(links, "nothing", known_run.RATE) is None


def test_completion_time() -> None:
    assert metrics.completion_s(1000, 500_000_000, 2_000_000_000, True) == 1.5
    assert metrics.completion_s(1000, 0, 2_000_000_000, False) is None
    assert metrics.completion_s(None, 0, 2_000_000_000, True) is None


def test_base_rtt_is_there_and_back() -> None:
    assert base_rtt_ns(known_run.PLAN, known_run.PLAN["flows"][0]) == 20_000_000
    assert smallest_base_rtt_ns(known_run.PLAN) == 20_000_000


def test_the_least_rtt_is_that_of_the_best_moment() -> None:
    """10 ms there until an event makes it 4, or where packets may overtake, which have a delay of 1 ms."""
    plan = known_run.PLAN
    ends = [(flow["from"], flow["to"]) for flow in plan["flows"]]
    link = next(one for one in plan["links"] if one["name"] == "bottleneck")
    later = {"at_ns": 10**9, "link": {**link, "delay_ns": link["delay_ns"] - 4_000_000}}
    assert least_rtts_ns({**plan, "events": []})[ends[0]] == 20_000_000
    assert least_rtts_ns({**plan, "events": [later]})[ends[0]] == 16_000_000
    later = {"at_ns": 10**9, "link": {**link, "delay_ns": 10**9, "reorder": {"delay_ns": link["delay_ns"] - 1_000_000}}}
    assert least_rtts_ns({**plan, "events": [later]})[ends[0]] == 19_000_000


def test_no_metric_is_nan() -> None:
    packets = pl.DataFrame(schema=polars_schema("packets")).lazy()
    links = pl.DataFrame(schema=polars_schema("links")).lazy()
    assert metrics.utilisation(links, "bottleneck", 0, 10**9) is None
    assert metrics.queueing_delay_ms(packets) == {}
    assert metrics.flow_queueing_delay_ms(packets, known_run.PLAN) == {}
    assert metrics.marked(packets, known_run.PLAN) == {}
    assert metrics.marked_share(links) == {}
