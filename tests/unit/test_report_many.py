"""Reports of thousands of flows: distributions of each kind in place of a curve per flow, from tables read in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dumbbell
from dumbbell.report import spread, write
from dumbbell.report.model import Band, Group, Line, Panel, Plots
from dumbbell.report.render.notebook import of_run
from dumbbell.report.series import build

N = 1_200
SCENARIO: dict[str, Any] = {
    "name": "thousands",
    "duration": "2 s",
    "topology": {
        "kind": "dumbbell",
        "pairs": 2,
        "rtt": "20 ms",
        "bottleneck": {"rate": "200 Mbit/s", "buffer": "2 bdp", "queue": "fq-codel"},
    },
    "flows": [
        {"id": "bulk", "from": "s*", "to": "r*", "connections": N, "mix": {"cubic": 0.75, "bbr": 0.25}},
        {"id": "ping", "from": "s1", "to": "r1", "protocol": "ping", "interval": "50 ms"},
    ],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dumbbell.Run:
    directory = tmp_path_factory.mktemp("runs")
    return dumbbell.run(SCENARIO, {"record.acks": False}, directory, engine="simulate", report=False)


@pytest.fixture(scope="module")
def plots(run: dumbbell.Run) -> Plots:
    return build(run)


def panel(plots: Plots, key: str) -> Panel:
    found = next((panel for panel in plots.panels if panel.key == key), None)
    assert found is not None, [one.key for one in plots.panels]
    return found


def curves(panel: Panel, quantity: int) -> dict[str, Line]:
    return {line.name: line for line in panel.views[0].lines if isinstance(line, Line) and line.quantity == quantity}


def goodputs(run: dumbbell.Run, group: Group) -> pl.Series:
    return run.flows.filter(pl.col("id").cast(pl.String).is_in(group.flows))["goodput_bps"]


def test_no_plot_has_a_curve_per_flow(plots: Plots) -> None:
    assert len(plots.groups) == 3
    for one in plots.panels:
        for view in one.views:
            assert len(view.marks) < 40, one.title
    assert {"Goodput", "Sending rate", "Congestion window", "RTT", "Queueing delay", "Packet events"} <= {
        one.title for one in plots.panels
    }


def test_curves_are_quantiles_over_the_flows_of_a_kind(run: dumbbell.Run, plots: Plots) -> None:
    window = panel(plots, "cwnd_packets")
    width = spread.Many(run, plots.groups).width_ns
    last = (
        run.samples.filter(pl.col("cwnd_packets").is_not_null(), pl.col("time_ns") // width == 24)
        .group_by(pl.col("flow").cast(pl.String))
        .agg(pl.col("cwnd_packets").last())
    )
    for group in plots.groups[:2]:
        of_kind = last.filter(pl.col("flow").is_in(group.flows))["cwnd_packets"]
        found = [curves(window, quantity)[group.label].values[24] for quantity in range(3)]
        assert found == [of_kind.median(), of_kind.quantile(0.1), of_kind.quantile(0.9)]
    bands = [mark for mark in window.views[0].marks if isinstance(mark, Band)]
    assert [band.group for band in bands] == [0, 1]


def test_rates_are_those_since_the_sample_before_the_interval(run: dumbbell.Run, plots: Plots) -> None:
    goodput = panel(plots, "goodput_bps")
    width = spread.Many(run, plots.groups).width_ns
    of = run.samples.filter(pl.col("flow").cast(pl.String).is_in(plots.groups[0].flows))
    last = (
        of.filter(pl.col("received_bytes").is_not_null(), (pl.col("time_ns") // width).is_in([23, 24]))
        .group_by("flow", pl.col("time_ns") // width > 23)
        .agg(at_ns=pl.col("time_ns").last(), bytes=pl.col("received_bytes").last())
        .sort("flow", "time_ns")
        .group_by("flow")
        .agg(
            v=8e9
            * (pl.col("bytes").last() - pl.col("bytes").first())
            / (pl.col("at_ns").last() - pl.col("at_ns").first())
        )
    )["v"]
    found = [curves(goodput, quantity)[plots.groups[0].label].values[24] * goodput.per_unit for quantity in range(3)]
    assert found == pytest.approx([last.median(), last.quantile(0.1), last.quantile(0.9)])
    assert found[2] > 0


def test_parts_of_any_size_give_the_same_plots(
    run: dumbbell.Run, plots: Plots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spread, "_ROWS", 5_000)
    again = build(run)
    assert [one.key for one in again.panels] == [one.key for one in plots.panels]
    for key in ("goodput_bps", "sending_rate_bps", "cwnd_packets", "srtt_ms", "sojourn_ms"):
        whole, in_parts = (panel(one, key).views[0].lines for one in (plots, again))
        for one, other in zip(whole, in_parts, strict=True):
            assert isinstance(one, Line)
            assert one.values.equals(other.values), (key, one.name)
    counts = [
        sum(
            mark.count.sum()
            for mark in panel(one, "events").views[0].marks
            if mark.kind == "tick" and mark.count is not None
        )
        for one in (plots, again)
    ]
    assert counts[0] == counts[1] > 0


def test_the_distribution_of_goodput_has_every_flow(run: dumbbell.Run, plots: Plots) -> None:
    of_flows = panel(plots, "goodput_of_flows")
    assert of_flows.across is not None
    (view,) = of_flows.views
    for line in view.lines:
        assert isinstance(line, Line)
        assert line.x is not None
        assert line.x.is_sorted()
        flows = goodputs(run, plots.groups[line.group or 0])
        assert line.x[0] * of_flows.across.per_unit == pytest.approx(flows.min())
        assert line.x[-1] * of_flows.across.per_unit == pytest.approx(flows.max())


def test_the_page_lists_flows_at_both_ends_and_says_so(run: dumbbell.Run, tmp_path: Path) -> None:
    (path,) = write(run, "html", tmp_path / "report.html")
    text = path.read_text(encoding="utf-8")
    assert len(text) < 1_500_000
    assert f"The 10 flows with the highest goodput and the 10 with the lowest, of {N + 1:,}." in text
    assert f"The first 10 of {N + 1:,} flows; all are in plan.json" in text
    best = run.flows.sort("goodput_bps", descending=True, nulls_last=True)["id"].cast(pl.String)
    assert f"{best[0]}</th>" in text
    assert f"{best[N // 2]}</th>" not in text


def test_csv_and_figures_have_kinds(run: dumbbell.Run, plots: Plots, tmp_path: Path) -> None:
    write(run, "csv", tmp_path / "csv")
    kinds = {group.label for group in plots.groups}
    for name in ("goodput_bps", "goodput_bps_p10"):
        assert set(pl.read_csv(tmp_path / "csv" / f"{name}.csv")["flow"]) == kinds, name
    for name in ("cwnd_packets_p90", "goodput_of_flows"):
        assert set(pl.read_csv(tmp_path / "csv" / f"{name}.csv")["flow"]) == kinds - {plots.groups[2].label}, name
    (figure,) = write(run, "png", tmp_path / "report.png")
    assert figure.stat().st_size > 50_000


def test_a_notebook_shows_kinds(run: dumbbell.Run) -> None:
    html = of_run(run)
    assert len(html) < 20_000
    assert f"bulk cubic x {3 * N // 4}" in html
