"""Plots of every ACK: curves that lose no peak, BBR's states, Kleinrock's plot."""

from __future__ import annotations

import json
from base64 import b64decode
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_run import Synthetic

from dumbbell import report
from dumbbell.records import Run
from dumbbell.records.schema import polars_schema
from dumbbell.report.acks import Acks
from dumbbell.report.kleinrock import as_sent, evenly_kept
from dumbbell.report.model import Line, Panel, Plots, Points, States, View
from dumbbell.report.render.payload import payload
from dumbbell.report.series import build
from dumbbell.report.states import STATES, blocks
from dumbbell.report.thin import POINTS_PER_PAGE, changes, extremes, points_per_curve

MS = 1_000_000
SPEC = Synthetic(ccs=("cubic", "bbr3", "bbr"), rate_bps=20e6, duration_s=14, stagger_s=1, acks=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(SPEC.write(tmp_path_factory.mktemp("acks") / "run"))


@pytest.fixture(scope="module")
def plots(run: Run) -> Plots:
    return build(run)


def panel(plots: Plots, title: str) -> Panel:
    return next(panel for panel in plots.panels if panel.title == title)


def line(plots: Plots, title: str, flow: str, word: str) -> Line:
    of = panel(plots, title)
    index = [quantity.word for quantity in of.quantities].index(word)
    found = next(one for one in of.views[0].lines if (one.flow, one.quantity) == (flow, index))
    assert isinstance(found, Line)
    return found


def has_states(plots: Plots) -> bool:
    return plots.panel("bbr_state") is not None


def points(view: View) -> list[Points]:
    """Points of flows."""
    return [mark for mark in view.marks if isinstance(mark, Points) and mark.look == "dot"]


def limits(view: View) -> list[Line]:
    return [mark for mark in view.marks if isinstance(mark, Line) and mark.is_level]


def rewrite(directory: Path, table: str, **columns: pl.Expr) -> Run:
    path = directory / f"{table}.parquet"
    pl.read_parquet(path).with_columns(**columns).write_parquet(path)
    return Run(directory)


VALUES = st.lists(st.one_of(st.just(float("nan")), st.integers(0, 3).map(float)), min_size=1, max_size=60)


@settings(deadline=None)  # The machine may be busy.
@given(VALUES)
def test_values_that_hold_are_kept_once_and_can_be_told_from_what_is_kept(values: list[float]) -> None:
    series = np.array(values)
    kept = changes(series)
    latest = kept[np.searchsorted(kept, np.arange(len(series)), side="right") - 1]
    assert np.array_equal(series[latest], series, equal_nan=True)
    assert kept[-1] == len(series) - 1


@settings(deadline=None)  # The machine may be busy.
@given(VALUES, st.integers(2, 30))
def test_extremes_of_every_interval_survive_and_so_do_gaps(values: list[float], points: int) -> None:
    series, time = np.array(values), np.arange(len(values), dtype=np.int64) * MS
    kept, width = extremes(time, series, len(values) * MS, points)
    if width is None:
        assert len(kept) == len(values)
        return
    for slot in np.unique(time // width):
        whole, rest = series[time // width == slot], series[kept][time[kept] // width == slot]
        assert np.array_equal(
            [np.nanmin(whole, initial=9), np.nanmax(whole, initial=-9)],
            [np.nanmin(rest, initial=9), np.nanmax(rest, initial=-9)],
        )
        assert np.isnan(whole).any() == np.isnan(rest).any()


def test_the_page_stays_small_with_any_number_of_flows() -> None:
    assert points_per_curve(1) == 20_000
    assert all(points_per_curve(n) * 8 * n <= POINTS_PER_PAGE for n in range(2, 13))


def test_panels_show_what_bbr_believes_with_what_it_measures(plots: Plots) -> None:
    words = {one.title: [quantity.word for quantity in one.quantities] for one in plots.panels}
    assert list(words) == [
        *("Goodput", "Sending rate", "BBR state", "Delivery rate", "Congestion window", "RTT", "Queue"),
        *("Bytes in flight", "Sequence", "Packet events", "Kleinrock's plot"),
    ]
    assert words["Delivery rate"] == ["rate", "bw", "bw_lo", "bw_hi"]
    assert words["Congestion window"] == ["cwnd", "ssthresh"]
    assert words["RTT"] == ["RTT", "srtt", "min_rtt"]
    assert words["Bytes in flight"] == ["in flight", "inflight_lo", "inflight_hi"]
    assert words["Sequence"] == ["snd_nxt", "snd_una", "lost", "resent"]
    assert plots.missing == ()


def test_curves_are_those_of_the_acks_and_say_so(run: Run, plots: Plots) -> None:
    assert run.acks is not None
    rows = run.acks.filter(pl.col("flow") == "f2")
    cwnd = line(plots, "Congestion window", "f2", "cwnd")
    assert cwnd.values.max() == rows["cwnd_packets"].max()
    assert cwnd.steps
    assert cwnd.time_s is not None
    assert cwnd.time_s[-1] == pytest.approx(rows["time_ns"].max() / 1e9)  # type: ignore[operator]
    assert line(plots, "RTT", "f2", "RTT").values.max() == pytest.approx(rows["rtt_us"].max() / 1e3)  # type: ignore[operator]
    assert panel(plots, "RTT").views[0].note.startswith(f"Drawn from {run.acks.height:,} ACKs")


def test_a_bound_that_ends_is_a_gap(run: Run, plots: Plots) -> None:
    bound = line(plots, "Delivery rate", "f2", "bw_lo").values
    assert bound[0] is None
    assert 0 < bound.null_count() < len(bound)
    flows = {(one.flow, one.quantity) for one in panel(plots, "Delivery rate").views[0].lines}
    assert flows == {("f1", 0), *(("f2", i) for i in range(4)), ("f3", 0), ("f3", 1)}, "only what each flow has"


def test_bounds_in_packets_are_drawn_in_bytes(run: Run, plots: Plots) -> None:
    assert run.acks is not None
    highest = run.acks.filter(pl.col("flow") == "f2")["bbr_inflight_hi_packets"].max()
    drawn = line(plots, "Bytes in flight", "f2", "inflight_hi").values.max()
    assert drawn == pytest.approx(highest * 1448 / 1e3)  # type: ignore[operator]


def test_losses_and_retransmissions_stand_on_the_sequence(run: Run, plots: Plots) -> None:
    assert run.acks is not None
    rows = run.acks.filter(pl.col("flow") == "f1")
    grown = rows.filter(pl.col("lost_total_packets").cast(pl.Int64).diff() > 0)
    marks = panel(plots, "Sequence").views[0].marks
    (lost,) = (mark for mark in marks if isinstance(mark, Points) and (mark.flow, mark.look) == ("f1", "lost"))
    assert len(lost.values) == grown.height > 0
    assert lost.values.to_list() == pytest.approx((grown["snd_una_bytes"] / 1e6).to_list())


def test_an_ack_that_is_there_before_and_after_counts_once(tmp_path: Path) -> None:
    directory = SPEC.write(tmp_path / "run")
    rows = pl.read_parquet(directory / "acks.parquet").with_columns(moment=pl.col("moment").cast(pl.String))
    before = rows.filter(pl.col("flow") == "f2").with_columns(
        moment=pl.lit("before"), cwnd_packets=pl.lit(9999, pl.UInt32)
    )
    n = rows.height
    pl.concat([rows, before]).sort("time_ns").write_parquet(directory / "acks.parquet")
    plots = build(Run(directory))
    assert line(plots, "Congestion window", "f2", "cwnd").values.max() < 9999  # type: ignore[operator]
    assert panel(plots, "Congestion window").views[0].note.startswith(f"Drawn from {n:,} ACKs")


def test_of_several_sockets_the_busiest_says_states_and_samples_the_windows(tmp_path: Path) -> None:
    run = rewrite(
        SPEC.write(tmp_path / "run"),
        "acks",
        socket=pl.when(pl.int_range(pl.len()) % 3 == 0).then(41000).otherwise("socket").cast(pl.UInt16),
    )
    plots = build(run)
    assert "The curve shows the socket that delivered most: f1, f2 and f3." in panel(plots, "Sequence").views[0].note
    assert "samples" in panel(plots, "Congestion window").views[0].note
    assert has_states(plots)


CONTROL = {"cwnd_packets": 13, "srtt_us": 20_178, "bbr_bw_bps": 1_120_000, "bytes_in_flight": 0}
"""iperf3's second connection, whose congestion control is the machine's own."""


def with_control_connection(directory: Path) -> Run:
    """f1 has another connection that delivers 190 bytes, before the rows of the first one."""
    for table, delivered, most in (("acks", "snd_una_bytes", 8), ("samples", "bytes_acked", None)):
        if not (directory / f"{table}.parquet").exists():
            continue
        rows = pl.read_parquet(directory / f"{table}.parquet")
        said = {"socket": 41000, delivered: 190, **CONTROL}
        values = {name: pl.lit(value).cast(rows.schema[name]) for name, value in said.items()}
        control = rows.filter(pl.col("flow") == "f1").head(most or rows.height).with_columns(**values)
        both = pl.concat([control, rows]).sort("time_ns", maintain_order=True)
        both.write_parquet(directory / f"{table}.parquet")
    return Run(directory)


@pytest.mark.parametrize("with_acks", [True, False])
def test_a_control_connection_is_not_in_the_curves(tmp_path: Path, with_acks: bool) -> None:
    directories = [SPEC.write(tmp_path / name) for name in ("alone", "controlled")]
    for directory in () if with_acks else directories:
        (directory / "acks.parquet").unlink()
    alone, controlled = build(Run(directories[0])), build(with_control_connection(directories[1]))
    assert [one.key for one in controlled.panels] == [one.key for one in alone.panels]
    others = {"Goodput", "Sending rate", "BBR state", "Queue", "Packet events", "Kleinrock's plot"}
    titles = {one.title for one in alone.panels} - others
    assert titles >= {"Congestion window", "RTT", "Bytes in flight"}
    for title in titles:
        before, after = (panel(plots, title).views[0] for plots in (alone, controlled))
        assert [one.flow for one in after.lines] == sorted(one.flow for one in after.lines), "as in the plan"
        assert [(one.flow, one.quantity) for one in after.lines] == [(one.flow, one.quantity) for one in before.lines]
        assert all(one.values.equals(other.values) for one, other in zip(before.lines, after.lines, strict=True))
        said = "The curve shows the socket that delivered most: f1." if with_acks else "delivered next to nothing: f1."
        assert said in after.note
        assert said not in before.note


def test_several_sockets_of_one_flow_cost_the_others_no_curve(tmp_path: Path) -> None:
    """Two connections carry f1's data, and it has no single ssthresh; f2 has one."""
    directory = SPEC.write(tmp_path / "run")
    (directory / "acks.parquet").unlink()
    rows = pl.read_parquet(directory / "samples.parquet").with_columns(ssthresh_packets=pl.lit(40, pl.UInt32))
    second = rows.filter(pl.col("flow") == "f1").with_columns(socket=pl.lit(41000, pl.UInt16))
    pl.concat([rows, second]).sort("time_ns").write_parquet(directory / "samples.parquet")
    view = panel(build(Run(directory)), "Congestion window").views[0]
    assert [one.flow for one in view.lines if one.quantity == 1] == ["f2", "f3"]
    assert "Flows with several sockets: their sum." in view.note


def test_flows_without_acks_are_drawn_from_samples(tmp_path: Path) -> None:
    directory = SPEC.write(tmp_path / "run")
    rows = pl.read_parquet(directory / "acks.parquet").filter(pl.col("flow") == "f2")
    rows.write_parquet(directory / "acks.parquet")
    plots = build(Run(directory))
    note = panel(plots, "Congestion window").views[0].note
    assert f"Drawn from {rows.height:,} ACKs, every one. Other flows: " in note
    drawn = [one.flow for one in panel(plots, "Congestion window").views[0].lines if one.quantity == 0]
    assert drawn == ["f1", "f2", "f3"], "as in the plan"
    assert {one.flow for one in panel(plots, "Sequence").views[0].lines} == {"f2"}


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"recorded": False, "why": "no CAP_BPF."}, "ACKs were not recorded: no CAP_BPF. Curves of flows are"),
        ({"recorded": False}, "ACKs were not recorded: no reason is recorded."),
        (None, None),
    ],
)
def test_where_acks_were_not_recorded_the_report_says_why(tmp_path: Path, told: Any, sentence: str | None) -> None:
    directory = Synthetic(duration_s=4).write(tmp_path / "run")
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["lab"]["acks"] = told
    (directory / "manifest.json").write_text(json.dumps(manifest))
    said = build(Run(directory)).missing
    assert (said == ()) if sentence is None else said[0].startswith(sentence)


def test_acks_that_cannot_be_read_leave_the_samples(tmp_path: Path) -> None:
    directory = SPEC.write(tmp_path / "run")
    (directory / "acks.parquet").write_bytes(b"PAR1")
    plots = build(Run(directory))
    assert plots.missing[0].startswith("Every ACK: acks.parquet cannot be read")
    assert panel(plots, "Congestion window").views[0].note.startswith("Drawn from 3,900 samples")
    pl.DataFrame(schema=polars_schema("acks")).write_parquet(directory / "acks.parquet")
    plots = build(Run(directory))
    assert (plots.missing, has_states(plots)) == ((), False)


def test_rare_peaks_of_the_delivery_rate_are_cut_off_and_told(tmp_path: Path) -> None:
    peak = pl.when(pl.int_range(pl.len()) == 500).then(10**9).otherwise("delivery_rate_bps").cast(pl.UInt64)
    view = panel(build(rewrite(SPEC.write(tmp_path / "run"), "acks", delivery_rate_bps=peak)), "Delivery rate").views[0]
    assert view.top is not None
    assert view.top < 60
    assert "Cut off: peaks up to 1.00 Gbit/s." in view.note


def test_a_lane_of_states_has_no_gap_and_no_overlap(run: Run, plots: Plots) -> None:
    of = panel(plots, "BBR state")
    view = of.views[0]
    assert [one.name for one in view.lanes] == ["f2", "f3"]
    found = [mark for mark in view.marks if isinstance(mark, States)]
    assert [one.lane for one in found] == [0, 1]
    for one in found:
        assert one.start_s[1:].to_list() == one.end_s[:-1].to_list()
        assert (one.end_s >= one.start_s).all()
    v3, v1 = ([of.states[i].key for i in one.state] for one in found)
    assert v3[:4] == ["startup", "drain", "probe_bw_down", "probe_bw_cruise"]
    assert set(v1) == {"startup", "drain", "probe_bw_above", "probe_bw_below", "probe_bw", "probe_rtt"}


def acks(states: list[str], gain: float = 1.0) -> Acks:
    rows = pl.DataFrame({"time_ns": np.arange(len(states)) * MS, "bbr_state": states, "bbr_pacing_gain": gain})
    return Acks("f1", 0, rows, 1)


def test_blocks_last_until_the_next_state() -> None:
    found = blocks(acks(["startup", "startup", "drain", "drain", "probe_rtt"]), 0, 5 * MS)
    assert found is not None
    one = found.states
    assert found.width_ns is None
    assert [STATES[i].key for i in one.state] == ["startup", "drain", "probe_rtt"]
    assert (one.start_s.to_list(), one.end_s.to_list()) == ([0, 0.002, 0.004], [0.002, 0.004, 0.004])


def test_too_many_blocks_are_thinned_and_the_note_would_say_so() -> None:
    found = blocks(acks(["drain", "startup"] * 6000), 0, 12_000 * MS)
    assert found is not None
    assert len(found.states.state) <= 4000
    assert found.width_ns == 10 * MS


def test_states_differ_in_colour_or_height() -> None:
    assert len({(state.light, state.height) for state in STATES if "_BW" not in state.word}) == 3
    phases = [state for state in STATES if state.word.startswith("PROBE_BW: ") and "gain" not in state.word]
    assert len({state.light for state in phases}) == len({state.dark for state in phases}) == 4


# Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009):
# linear sRGB as full colour vision, protanopes, deuteranopes and tritanopes see it.
VISION = {
    "full": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(color: str, vision: str) -> Any:
    """CIE L*a*b* of `#rrggbb` under D65, for a kind of vision."""
    srgb = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(VISION[vision] @ linear, 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("ground", ["light", "dark"])
def test_anybody_can_tell_the_colours_of_states_apart(vision: str, ground: str) -> None:
    colors = {getattr(state, ground) for state in STATES}
    assert len(colors) == 7
    assert min(np.linalg.norm(lab(a, vision) - lab(b, vision)) for a, b in combinations(colors, 2)) > 20


def test_the_operating_point_is_where_the_limits_meet(plots: Plots) -> None:
    plot = panel(plots, "Kleinrock's plot")
    assert plot.across is not None
    capacity, bdp_bytes = 20e6 * 1448 / 1514, plot.across.per_unit
    assert bdp_bytes == pytest.approx(capacity * 0.030 / 8)
    assert (plot.across.unit, plot.across.levels[0]) == ("BDP", 1)
    upper, lower = plot.views
    (rate,), (rtt,) = limits(upper), limits(lower)
    assert rate.x is not None
    assert rtt.x is not None
    assert (rate.x[1] * bdp_bytes, rate.values[1] * upper.per_unit) == pytest.approx((bdp_bytes, capacity))
    assert (rtt.x[1], rtt.values[1]) == pytest.approx((1, 30))
    full = plot.across.levels[1]
    assert rtt.values[2] == rtt.values[3] == pytest.approx(rtt.x[2] * bdp_bytes * 8e3 / capacity)
    assert rtt.x[2] == pytest.approx(full), "more is dropped"
    assert full == pytest.approx(2, rel=0.001)
    assert [cloud.flow for cloud in points(upper)] == ["f1", "f2", "f3"]
    of_cubic = points(upper)[0].state
    assert of_cubic is not None
    assert of_cubic.null_count() == len(of_cubic), "CUBIC has no such state"


def test_an_ack_is_paired_with_what_was_in_flight_as_its_packet_was_sent() -> None:
    rows = pl.DataFrame({"time_ns": np.arange(6) * MS, "inflight": [1, 2, 3, 4, 5, 6], "rtt": [2.0, 2, 2, 2, 3, None]})
    paired = as_sent(rows.with_columns(rate=pl.Series([8, 8, 9, 9, 7, 7]), state=pl.Series(range(6))))
    found = paired.select("time_ns", "inflight", "state", "rate").rows()
    assert found == [(2 * MS, 1, 0, 9), (3 * MS, 2, 1, None), (4 * MS, 2, 1, 7)]


def test_points_that_lie_alone_survive_the_thinning() -> None:
    rng = np.random.default_rng(1)
    heap = pl.DataFrame({"inflight": rng.normal(5e4, 10, 50_000), "rate": rng.normal(1e7, 10, 50_000), "rtt": 40.0})
    alone = pl.DataFrame({"inflight": [9e4, 1e4], "rate": [9e6, 2e6], "rtt": [70.0, 40.0]})
    kept = evenly_kept(pl.concat([heap, alone]), 1000)
    assert len(kept) <= 1000
    assert kept.is_sorted()
    assert kept[-2:].to_list() == [50_000, 50_001]


def test_without_acks_kleinrock_s_plot_is_of_samples(tmp_path: Path) -> None:
    directory = Synthetic(duration_s=4).write(tmp_path / "run")
    run = rewrite(directory, "samples", delivery_rate_bps=(50_000_000 + pl.int_range(pl.len())).cast(pl.UInt64))
    plots = build(run)
    assert not has_states(plots)
    assert (
        panel(plots, "Kleinrock's plot")
        .views[0]
        .note.startswith(
            "One point per sample. In flight, and state: one RTT earlier, as the packet was sent. RTT: smoothed."
        )
    )
    assert panel(plots, "Delivery rate").views[0].references[0].value == 100


def test_there_are_no_limits_where_the_capacity_changes(tmp_path: Path) -> None:
    plots = build(Run(Synthetic(duration_s=6, slow_from_s=3, acks=True).write(tmp_path / "run")))
    plot = panel(plots, "Kleinrock's plot")
    assert plot.across is not None
    assert (limits(plot.views[0]), plot.across.levels, plot.across.unit) == ([], (), "kB")
    assert "the capacity changes" in plot.views[0].note


def test_of_many_flows_some_of_each_group_have_lanes_and_points(tmp_path: Path) -> None:
    spec = Synthetic(ccs=("bbr3", "cubic") * 10, rate_bps=200e6, duration_s=3, stagger_s=0.01, acks=True)
    plots = build(Run(spec.write(tmp_path / "run")))
    view = panel(plots, "BBR state").views[0]
    assert len(view.lanes) == 6
    assert len(points(panel(plots, "Kleinrock's plot").views[0])) == 12
    assert "Not drawn: 8 more flows." in view.note
    assert "Sequence" not in {one.title for one in plots.panels}


def test_times_on_the_page_are_exact_to_a_microsecond(plots: Plots) -> None:
    told = json.loads(payload(plots))
    shown = next(one for one in told["content"]["panels"] if one["key"] == "cwnd_packets")["views"][0]["marks"][0]
    kind, packed = told["series"][shown["timeS"]["series"]]
    assert kind == "times"
    ticks = np.frombuffer(b64decode(packed), dtype="<u4")
    drawn = panel(plots, "Congestion window").views[0].lines[0].time_s
    assert drawn is not None
    assert np.abs(ticks * told["tick"] - drawn.to_numpy()).max() < 1e-6


def test_csv_has_a_file_for_each_quantity(run: Run, tmp_path: Path) -> None:
    written = {path.name: pl.read_csv(path) for path in report.write(run, "csv", tmp_path / "csv")}
    assert {"bbr_bw_bps.csv", "bbr_bw_hi_bps.csv", "ssthresh_packets.csv", "rtt_ms.csv", "snd_una_bytes.csv"} <= set(
        written
    )
    states = written["bbr_state.csv"]
    assert states.columns == ["time_s", "end_s", "flow", "state"]
    assert set(states.filter(pl.col("flow") == "f3")["state"]) >= {"probe_bw_above", "probe_rtt"}
    columns = ["time_s", "flow", "state", "bytes_in_flight", "delivery_rate_bps", "rtt_ms"]
    assert written["kleinrock.csv"].columns == columns
    bound = written["bbr_bw_lo_bps.csv"]
    assert bound["bbr_bw_lo_bps"].null_count() > 0, "where a bound ends"
    assert run.acks is not None
    highest = run.acks.filter(pl.col("flow") == "f2")["bbr_inflight_hi_packets"].max()
    assert written["bbr_inflight_hi_bytes.csv"]["bbr_inflight_hi_bytes"].max() == pytest.approx(highest * 1448)  # type: ignore[operator]


@pytest.mark.filterwarnings("error")
def test_figures_have_all_of_it(run: Run) -> None:
    figure = report.figure(run)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [
        *(
            "Goodput",
            "Sending rate",
            "BBR state",
            "Delivery rate",
            "Congestion window",
            "RTT",
            "Queue, bottleneck",
            "Bytes in flight",
        ),
        *("Sequence", "Packet events, from above: tail, resent", "", "Kleinrock's plot"),
    ]
    legend = figure.axes[titles.index("BBR state")].get_legend()
    assert legend is not None
    words = [text.get_text() for text in legend.get_texts()]
    assert words == ["STARTUP", "DRAIN", "DOWN", "CRUISE", "REFILL", "UP", "PROBE_RTT"]
