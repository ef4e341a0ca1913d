"""Plots show the recorded values: peaks, rates, gaps, marks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_run import Synthetic

from dumbbell.records import Run
from dumbbell.report.decimate import align, envelope, extremes, round_width_ns
from dumbbell.report.events import retransmissions
from dumbbell.report.model import Line, Panel, Plots, Ticks
from dumbbell.report.panels.goodput import BYTES
from dumbbell.report.rate_panel import rates as rates_of
from dumbbell.report.series import build

MS = 1_000_000


@pytest.fixture(scope="module")
def plots(tmp_path_factory: pytest.TempPathFactory) -> Plots:
    return build(Run(Synthetic().write(tmp_path_factory.mktemp("run") / "run")))


def panel(plots: Plots, title: str) -> Panel:
    return next(panel for panel in plots.panels if panel.title == title)


def counted(plots: Plots) -> dict[str, int]:
    """Packet events -> their number."""
    view = panel(plots, "Packet events").views[0]
    counts = {lane.key: 0 for lane in view.lanes}
    for mark in view.marks:
        assert isinstance(mark, Ticks)
        assert mark.lane is not None
        assert mark.count is not None
        counts[view.lanes[mark.lane].key] += mark.count.sum()
    return counts


@settings(deadline=None)  # The machine may be busy.
@given(st.floats(1, 1e13))
def test_round_widths_are_1_2_5_and_just_large_enough(width: float) -> None:
    rounded = round_width_ns(width)
    assert width <= rounded <= 2.5 * width + 1
    assert str(rounded).rstrip("0") in {"1", "2", "5"}


@settings(deadline=None)  # The machine may be busy.
@given(st.integers(0, 99_999), st.integers(0, 99_999))
def test_extremes_keep_every_peak_at_its_own_time(peak: int, dip: int) -> None:
    values = np.full(100_000, 50)
    values[dip], values[peak] = -7, 1000
    time = np.arange(100_000) * MS
    frame = pl.LazyFrame({"t": time, "v": values})
    thinned = extremes(frame, "t", "v", 100_000 * MS, points=1000)
    assert len(thinned.values) <= 1000
    kept = dict(zip(thinned.time_ns, thinned.values, strict=True))
    assert kept[peak * MS] == 1000
    assert peak == dip or kept[dip * MS] == -7
    assert thinned.time_ns.is_sorted()


def test_extremes_of_packets_at_one_time_have_one_order() -> None:
    """Both extremes of most intervals are at one time; the picture is the same bytes each time."""
    times = [100 * (k // 4) for k in range(40_000)]
    frame = pl.LazyFrame({"t": times, "v": [k * 7919 % 1009 for k in range(40_000)]})
    thinned = [extremes(frame, "t", "v", 1_000_000, points=10_000) for _ in range(8)]
    assert len(thinned[0].time_ns) > thinned[0].time_ns.n_unique() > 100
    assert all(one.values.equals(thinned[0].values) and one.time_ns.equals(thinned[0].time_ns) for one in thinned)


def test_extremes_of_each_interval_are_those_of_all_its_packets() -> None:
    rng = np.random.default_rng(3)
    time, values = np.sort(rng.integers(0, 10**9, 50_000)), rng.integers(0, 10**6, 50_000)
    frame = pl.DataFrame({"t": time, "v": values})
    thinned = extremes(frame.lazy(), "t", "v", 10**9, points=400)
    assert thinned.width_ns == 5 * MS
    slot = (pl.col("t") // thinned.width_ns).alias("slot")
    both = [
        rows.group_by(slot).agg(low=pl.col("v").min(), high=pl.col("v").max()).sort("slot")
        for rows in (frame, pl.DataFrame({"t": thinned.time_ns, "v": thinned.values}))
    ]
    assert both[0].equals(both[1])


def test_a_short_series_stays_whole() -> None:
    frame = pl.LazyFrame({"t": [3, 1, 2], "v": [30, 10, 20]})
    thinned = extremes(frame, "t", "v", 10)
    assert (thinned.time_ns.to_list(), thinned.values.to_list(), thinned.width_ns) == ([1, 2, 3], [10, 20, 30], None)


def test_flows_of_one_round_of_samples_meet_at_one_time() -> None:
    rows = pl.DataFrame({"time_ns": [0, 40_000, 10 * MS, 10 * MS + 50_000], "flow": ["a", "b"] * 2, "v": [1, 2, 3, 4]})
    aligned = align(rows, "v", ["a", "b"], 10 * MS, 20 * MS)
    assert aligned.width_ns is None
    assert aligned.frame["time_ns"].to_list() == [0, 10 * MS]
    assert [aligned.line(flow).to_list() for flow in "ab"] == [[1, 3], [2, 4]]


def test_a_sample_that_was_not_taken_is_a_gap() -> None:
    rows = pl.DataFrame({"time_ns": [0, 1, 10 * MS, 20 * MS, 20 * MS + 1], "flow": list("ababa"), "v": [1, 2, 3, 4, 5]})
    aligned = align(rows.with_columns(flow=pl.Series(list("abaab"))), "v", ["a", "b"], 10 * MS, 30 * MS)
    assert aligned.line("b").to_list() == [2, None, 5]


def test_many_samples_are_thinned_to_the_extremes_of_each_interval() -> None:
    n = 50_000
    values = np.sin(np.arange(n) / 500) * 100
    values[31_234] = 999
    rows = pl.DataFrame({"time_ns": np.arange(n) * 10 * MS, "flow": "a", "v": values})
    aligned = align(rows, "v", ["a"], 10 * MS, n * 10 * MS)
    line = aligned.line("a")
    assert aligned.width_ns is not None
    assert len(line) <= 4000
    assert (line.max(), line.min()) == (999, values.min())
    assert aligned.frame["time_ns"].is_sorted()


def test_goodput_of_a_constant_rate_is_that_rate() -> None:
    """1250 bytes per ms are 10 Mbit/s, however the samples fall into intervals."""
    time = np.arange(0, 1000, 7) * MS
    rows = pl.DataFrame({"time_ns": time, "flow": "a", "socket": 1, "received_bytes": time // MS * 1250})
    rates = rates_of(rows.with_columns(bytes_acked=pl.lit(None, pl.UInt64)), BYTES, 100 * MS)
    assert len(rates) == 10
    assert rates["v"].to_list() == pytest.approx([10e6] * 10)


def test_goodput_of_a_foreign_program_is_the_sum_of_its_sockets_acknowledged_bytes() -> None:
    time = np.arange(0, 1000, 10) * MS
    one = pl.DataFrame({"time_ns": time, "flow": "a", "socket": 1, "bytes_acked": time // MS * 1000})
    both = pl.concat([one, one.with_columns(socket=pl.lit(2, pl.Int32), bytes_acked=pl.col("bytes_acked") // 4)])
    rates = rates_of(both.with_columns(received_bytes=pl.lit(None, pl.Int64)), BYTES, 100 * MS)
    assert rates["v"].to_list() == pytest.approx([10e6] * 10)


def test_the_sending_rate_counts_what_is_sent_again_and_goodput_does_not(tmp_path: Path) -> None:
    """Each sample's counter of bytes sent is a tenth higher than what arrived."""
    directory = Synthetic(duration_s=4).write(tmp_path / "run")
    rows = pl.read_parquet(directory / "samples.parquet")
    sent = (pl.col("received_bytes") * 1.1).cast(rows.schema["bytes_sent"])
    rows.with_columns(bytes_sent=sent).write_parquet(directory / "samples.parquet")
    plots = build(Run(directory))
    goodput, sending = (panel(plots, title) for title in ("Goodput", "Sending rate"))
    ratio = sending.views[0].lines[0].values / goodput.views[0].lines[0].values
    assert ratio.drop_nulls().to_list() == pytest.approx([1.1] * ratio.drop_nulls().len(), rel=1e-3)
    assert sending.views[0].references == goodput.views[0].references


def test_retransmissions_are_counted_per_socket_and_from_the_first_sample() -> None:
    samples = pl.DataFrame(
        {
            "time_ns": [1, 1, 2, 2, 3],
            "flow": ["a"] * 5,
            "socket": [1, 2, 1, 2, 1],
            "retransmitted_segments": [2, 0, 2, 5, 3],
        }
    )
    assert retransmissions([samples]).rows() == [(1, "a", 2), (2, "a", 5), (3, "a", 1)]


def test_every_panel_is_there_in_reading_order(plots: Plots) -> None:
    titles = [panel.title for panel in plots.panels]
    assert titles == [
        "Goodput",
        "Sending rate",
        "Congestion window",
        "RTT",
        "Queue",
        "Bytes in flight",
        "Packet events",
    ]
    assert plots.missing == ()


def test_levels_come_from_the_plan(plots: Plots) -> None:
    assert panel(plots, "Goodput").views[0].references[0].value == 100
    assert panel(plots, "RTT").views[0].references[0].value == 30
    assert panel(plots, "Bytes in flight").views[0].references[0].label == "BDP 375 kB"
    queue = panel(plots, "Queue").views[0]
    assert queue.references[0].value == 375
    assert queue.second is not None
    assert queue.second.factor * 375 == pytest.approx(30), "a full buffer of 1 BDP delays by one base RTT"


def test_the_queue_says_how_many_packets_it_was_drawn_from(plots: Plots) -> None:
    view = panel(plots, "Queue").views[0]
    assert "Drawn from 161,822 packets: min and max of each 10 ms." in view.note
    assert len(view.time_s) <= 4000


def test_drops_and_retransmissions_add_up_to_what_was_recorded(plots: Plots, tmp_path: Path) -> None:
    run = Run(Synthetic().write(tmp_path / "run"))
    assert run.packets is not None
    dropped = run.packets.filter(pl.col("fate") == "dropped-tail").height
    resent = run.samples.group_by("flow").agg(pl.col("retransmitted_segments").max())["retransmitted_segments"].sum()
    counts = counted(plots)
    assert counts == {"tail": dropped, "retransmission": resent}
    assert dropped > 0


def test_without_packets_the_queue_comes_from_the_links_table(tmp_path: Path) -> None:
    run = Run(Synthetic(packets=False).write(tmp_path / "run"))
    plots = build(run)
    queue = panel(plots, "Queue")
    assert [view.name for view in queue.views] == ["bottleneck", "bottleneck-reverse"]
    highest = run.links.filter(pl.col("link") == "bottleneck")["queue_bytes_max"].max()
    assert queue.views[0].lines[0].values.max() == pytest.approx(highest / 1000)  # type: ignore[operator]
    assert "no record of packets" in queue.views[0].note
    lanes = panel(plots, "Packet events").views[0].lanes
    assert [(lane.key, lane.name) for lane in lanes] == [
        *(("retransmission", flow) for flow in ("f1", "f2")),
        ("drop", "any flow"),
    ]


CODEL = {
    **{"kind": "fq-codel", "target_ns": 5_000_000, "interval_ns": 100_000_000, "quantum_bytes": 1514, "flows": 1024},
    **{"ecn": True, "ce_threshold_ns": None},
}
BUSY = Synthetic(
    queue=CODEL,
    dropped_as=("dropped-early", "dropped-down"),
    marked_share=0.1,
    slow_from_s=12,
    events=((5, {"delay_ns": 20_000_000}), (15, {"up": False}), (15.5, {})),
)


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(BUSY.write(tmp_path_factory.mktemp("busy") / "run"))


def test_each_reason_has_marks_of_its_own(busy: Run) -> None:
    plots = build(busy)
    assert busy.packets is not None
    counts = counted(plots)
    assert list(counts) == ["early", "down", "mark", "retransmission"]
    for kind, fate in (("early", "dropped-early"), ("down", "dropped-down")):
        assert counts[kind] == busy.packets.filter(pl.col("fate") == fate).height > 0
    marked = busy.packets["mark"].count()
    assert counts["mark"] == marked > 1000
    queue = panel(plots, "Queue").views[0]
    assert [mark.edge for mark in queue.marks if isinstance(mark, Ticks)] == ["drop", "mark"]
    assert f"Ticks below: {marked:,} ECN marks." in queue.note
    assert "Triangles: drops (20 early and 15 down)." in queue.note


def test_a_packet_that_was_marked_and_lost_counts_as_lost_once(tmp_path: Path) -> None:
    directory = Synthetic().write(tmp_path / "run")
    packets = pl.read_parquet(directory / "packets.parquet")
    both = pl.col("packet") < 3
    packets.with_columns(
        mark=pl.when(both).then(pl.lit("early")),
        fate=pl.when(both).then(pl.lit("lost-after")).otherwise("fate"),
    ).write_parquet(directory / "packets.parquet")
    counts = counted(build(Run(directory)))
    assert counts["lost"] == 3
    assert "mark" not in counts


def test_capacity_follows_the_rate_and_is_0_while_the_link_is_down(busy: Run) -> None:
    view = panel(build(busy), "Goodput").views[0]
    assert view.references == ()
    level = view.lines[-1]
    assert isinstance(level, Line)
    assert (level.name, level.is_level, level.flow) == ("capacity", True, None)
    capacity = dict(zip(view.time_s.round(3), level.values, strict=True))
    expected = {1.05: 100, 11.85: 100, 12.15: 25, 14.85: 25, 15.25: 0, 15.85: 25}
    assert {at: capacity[at] for at in expected} == pytest.approx(expected, rel=0.01)


def test_there_is_no_capacity_while_there_is_no_limit(busy: Run, tmp_path: Path) -> None:
    directory = BUSY.write(tmp_path / "run")
    rows = pl.read_parquet(directory / "links.parquet")
    unlimited = pl.col("time_ns").is_between(2 * 10**9, 4 * 10**9)
    rows.with_columns(capacity_bytes=pl.when(~unlimited).then("capacity_bytes")).write_parquet(
        directory / "links.parquet"
    )
    view = panel(build(Run(directory)), "Goodput").views[0]
    capacity = dict(zip(view.time_s.round(3), view.lines[-1].values, strict=True))
    assert capacity[3.05] is None
    assert capacity[1.05] == capacity[5.05] == pytest.approx(100, rel=0.01)


def test_links_that_cannot_be_read_cost_the_capacity_only(tmp_path: Path) -> None:
    directory = BUSY.write(tmp_path / "run")
    (directory / "links.parquet").write_bytes(b"PAR1")
    plots = build(Run(directory))
    assert [panel.title for panel in plots.panels][:4] == ["Goodput", "Sending rate", "Congestion window", "RTT"]
    assert [line.flow for line in plots.panels[0].views[0].lines] == ["f1", "f2"]
    assert [sentence.partition(" (")[0] for sentence in plots.missing] == ["Capacity: links.parquet cannot be read"]


def test_waits_have_a_panel_where_bytes_do_not_tell_them(busy: Run, plots: Plots) -> None:
    assert [panel.title for panel in build(busy).panels][4:6] == ["Queue", "Queueing delay"]
    assert panel(build(busy), "Queue").views[0].second is None
    view = panel(build(busy), "Queueing delay").views[0]
    assert [line.flow for line in view.lines] == ["f1", "f2"]
    assert [(level.value, level.label) for level in view.references] == [(5, "target 5 ms")]
    assert busy.packets is not None
    longest = busy.packets.filter(pl.col("departure_ns").is_not_null())["sojourn_ns"].max()
    assert max(line.values.max() for line in view.lines) == pytest.approx(longest / 1e6)  # type: ignore[type-var,operator]
    assert "Queueing delay" not in {panel.title for panel in plots.panels}


def test_events_of_the_plan_are_changes_in_words(busy: Run) -> None:
    changes = build(busy).changes
    assert [change.label for change in changes] == ["5 s: delay 20 ms", "15 s: down; delay 15 ms", "15.5 s: up"]
    assert {change.link for change in changes} == {"bottleneck"}


def test_levels_of_what_changes(busy: Run) -> None:
    plots = build(busy)
    assert [level.value for level in panel(plots, "RTT").views[0].references] == [30, 35]
    assert panel(plots, "Bytes in flight").views[0].references[0].label == "mean BDP 438 kB"


def test_a_curve_of_packets_keeps_the_extremes_of_each_interval() -> None:
    rows = pl.DataFrame({"time_ns": [1, 2, 3, 11 * MS], "flow": list("aaba"), "v": [5.0, 9.0, 1.0, 3.0]})
    aligned = envelope(rows, ["a", "b"], 20_000 * MS)
    assert aligned.width_ns == 10 * MS
    assert aligned.line("a").head(4).to_list() == [5, 9, 3, 3]
    assert aligned.line("b").head(4).to_list() == [1, 1, 1, 1], "one empty interval is no gap"
    assert aligned.frame["time_ns"].head(2).to_list() == [2.5 * MS, 7.5 * MS]


def test_udp_has_throughput_and_no_window(tmp_path: Path) -> None:
    plots = build(Run(Synthetic(ccs=("cubic", "udp")).write(tmp_path / "run")))
    assert [line.flow for line in panel(plots, "Goodput").views[0].lines] == ["f1", "f2"]
    assert [line.flow for line in panel(plots, "Congestion window").views[0].lines] == ["f1"]


def test_only_udp_leaves_the_panels_of_tcp_out_and_says_so(tmp_path: Path) -> None:
    plots = build(Run(Synthetic(ccs=("udp",)).write(tmp_path / "run")))
    assert [panel.title for panel in plots.panels] == ["Goodput", "Sending rate", "Queue"]
    assert plots.missing == ("Congestion window, RTT and Bytes in flight: no flow has samples of it.",)


def test_windows_of_several_sockets_are_added(tmp_path: Path) -> None:
    alone, split = (build(Run(Synthetic(sockets=n).write(tmp_path / str(n)))) for n in (1, 4))
    one, four = (panel(plots, "Congestion window").views[0].lines[0].values.max() for plots in (alone, split))
    assert four == pytest.approx(one, abs=4)
    assert "sum" in panel(split, "Congestion window").views[0].note


def test_missing_tables_cost_their_panels_and_are_named(tmp_path: Path) -> None:
    directory = Synthetic().write(tmp_path / "run")
    (directory / "samples.parquet").unlink()
    plots = build(Run(directory))
    assert [panel.title for panel in plots.panels] == ["Queue", "Packet events"]
    assert "samples.parquet is missing" in plots.missing[0]


def test_colours_stay_with_flows_and_many_flows_are_grouped(tmp_path: Path) -> None:
    twelve = build(Run(Synthetic(ccs=("cubic",) * 12, duration_s=2).write(tmp_path / "a"))).groups
    assert len({(group.light, group.dash) for group in twelve}) == 12
    many = build(Run(Synthetic(ccs=("cubic", "bbr") * 10, duration_s=2).write(tmp_path / "b"))).groups
    assert [(group.label, len(group.flows)) for group in many] == [("cubic x 10", 10), ("bbr x 10", 10)]


def test_a_level_far_above_the_curves_is_told_in_words(tmp_path: Path) -> None:
    directory = Synthetic(ccs=("udp",)).write(tmp_path / "run")
    plan = json.loads((directory / "plan.json").read_text())
    plan["links"][0]["rate_bps"] = 10**12
    (directory / "plan.json").write_text(json.dumps(plan))
    view = panel(build(Run(directory)), "Goodput").views[0]
    assert view.references == ()
    assert "Far above: capacity 1000 Gbit/s." in view.note
