"""Several runs in one figure: from Python, and as a command of runs and of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from test_figure_texts import check

import dumbbell
from dumbbell.cli import invoke
from dumbbell.errors import InputError
from dumbbell.report import overlay
from dumbbell.report.model import Panel
from dumbbell.report.overlay.differences import differences
from dumbbell.report.overlay.repetitions import averaged, drawn
from dumbbell.report.overlay.traces import Quantity, Trace
from dumbbell.report.study.colours import of_names
from dumbbell.report.thin import means
from dumbbell.scenario import bundled, load

SHORT = {"duration": "1 s"}


def simulated(folder: Path, scenario: str = "single-flow", **overrides: Any) -> dumbbell.Run:
    run = dumbbell.run(scenario, overrides={**SHORT, **overrides}, directory=folder, engine="simulate", report=False)
    assert isinstance(run, dumbbell.Run)
    return run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[dumbbell.Run]:
    folder = tmp_path_factory.mktemp("runs")
    return [
        simulated(folder, **{"flows.0.cc": cc, "topology.rtt": rtt})
        for cc in ("cubic", "bbr3")
        for rtt in ("20 ms", "40 ms")
    ]


def test_runs_that_differ_in_algorithm_and_path(runs: list[dumbbell.Run]) -> None:
    """Algorithms lie over each other, paths stand side by side; labels say what differs."""
    fig = dumbbell.overlay(runs, plots=("goodput", "cwnd", "rtt", "queue"))
    assert len(fig.axes) == 4 * 2
    assert [ax.get_title(loc="left") for ax in fig.axes[:2]] == ["rtt 20 ms", "rtt 40 ms"]
    (legend,) = fig.legends
    assert [text.get_text() for text in legend.get_texts()] == ["CUBIC", "BBRv3"]
    assert [ax.get_ylabel().replace("\n", " ") for ax in fig.axes[::2]] == [
        "Goodput (Mbit/s)", "Congestion window (packets)", "RTT (ms)", "Queue (kB)",
    ]  # fmt: skip
    for ax in fig.axes:
        assert len({line.get_color() for line in ax.lines}) == 2
        assert all(len(line.get_xdata()) > 5 for line in ax.lines)  # type: ignore[arg-type]
    check(fig, "pdf")


def test_columns_whose_values_differ_more_than_tenfold_have_axes_of_their_own(
    runs: list[dumbbell.Run], tmp_path: Path
) -> None:
    short = [simulated(tmp_path, **{"flows.0.cc": cc, "topology.rtt": "2 ms"}) for cc in ("cubic", "bbr3")]
    fig = dumbbell.overlay([*runs[1::2], *short], plots=("goodput", "rtt"))
    tops = [ax.get_ylim()[1] for ax in fig.axes]
    assert tops[0] == tops[1]
    assert tops[3] > 10 * tops[2], "40 ms and 2 ms, with their queues"
    assert [ax.yaxis.get_tick_params()["labelleft"] for ax in fig.axes] == [True, False, True, True]
    (note,) = fig.texts
    said = note.get_text().replace("\n", " ")
    dense = "dense curves: mean of each 5 ms, pale: its extremes"
    assert said == f"simulated; each plot has its own vertical axis: RTT; {dense}"
    check(fig, "pdf")


def test_the_curves_as_csv_are_those_of_the_figure(runs: list[dumbbell.Run], tmp_path: Path) -> None:
    rows = pl.read_csv(overlay.write(runs, "csv", tmp_path / "x.csv", ("goodput", "cwnd")), infer_schema_length=None)
    assert rows.columns == ["run", "topology.rtt", "flows.0.cc", "flow", "panel", "time_s", "value"]
    assert rows["run"].unique(maintain_order=True).to_list() == [run.directory.name for run in runs]
    assert set(rows["panel"]) == {"goodput_bps", "cwnd_packets"}
    fig = dumbbell.overlay(runs, plots=("goodput", "cwnd"))
    for ax, panel, factor in ((fig.axes[0], "goodput_bps", 1e6), (fig.axes[2], "cwnd_packets", 1.0)):
        line = ax.lines[0]
        mine = rows.filter(pl.col("run") == runs[0].directory.name, pl.col("panel") == panel)
        x, y = list(line.get_xdata()), list(line.get_ydata())  # type: ignore[arg-type]
        assert mine["time_s"].to_list() == pytest.approx(x)
        assert (mine["value"] / factor).to_list() == pytest.approx(y)


def test_a_dense_series_is_a_line_of_means_between_its_extremes() -> None:
    time_s, values = (np.arange(1000) + 0.5) * 0.01, np.tile([0.0, 8.0], 500)
    values[5] = np.nan
    found = means(time_s, values, 10.0, 100)
    assert found is not None
    assert found.width_s == 0.1
    assert len(found.time_s) == 100
    assert found.values[0] == pytest.approx(32 / 9), "nine values: one is a gap"
    assert set(found.values[1:]) == {4.0}
    assert set(found.low) == {0.0}
    assert set(found.high) == {8.0}
    late = means(np.concatenate(([0.0], 5 + time_s / 2)), np.concatenate(([6.0], values)), 10.0, 100, holds=True)
    assert late is not None
    assert set(late.values[:50]) == {6.0}, "the first value holds for 5 s"
    assert means(time_s[:199], values[:199], 2.0, 100) is None, "it is a line as it is"


def test_a_column_for_each_value_of_a_key(runs: list[dumbbell.Run]) -> None:
    fig = dumbbell.overlay(runs, plots=("cwnd", "queue"), columns="algorithm")
    titles = [ax.get_title(loc="left") for ax in fig.axes]
    assert titles == ["CUBIC", "BBRv3", "", ""]
    assert [len(ax.lines) for ax in fig.axes] == [2, 2, 2, 2], "both RTTs lie over each other"
    cwnd, queue = fig.axes[:2], fig.axes[2:]
    assert cwnd[0].get_ylim() == cwnd[1].get_ylim()
    assert queue[0].get_ylim() == queue[1].get_ylim()
    for ax, hue in zip(fig.axes, [of_names(("cubic", "bbr3"))[i].light for i in (0, 1, 0, 1)], strict=True):
        assert {line.get_color() for line in ax.lines} == {hue}, "a queue has its run's algorithm's colour"


def test_each_run_by_itself(runs: list[dumbbell.Run]) -> None:
    fig = dumbbell.overlay(runs, plots=("rtt",), curves="none")
    assert [ax.get_title(loc="left").replace("\n", " ") for ax in fig.axes] == [
        f"rtt {rtt}, {cc}" for rtt in ("20 ms", "40 ms") for cc in ("CUBIC", "BBRv3")
    ]
    check(fig, "svg")


def test_a_list_of_one_value_is_that_value(tmp_path: Path) -> None:
    """The RTT of a dumbbell is a list, by pair."""
    both = [
        simulated(tmp_path, "bbr-vs-cubic", **{"topology.rtt": rtt, "flows.1.start": "0 s"})
        for rtt in ("20 ms", "40 ms")
    ]
    assert [(axis.label, axis.texts) for axis in differences(both)] == [("rtt", ("20 ms", "40 ms"))]


def test_runs_that_differ_in_nothing_else_have_their_seeds_or_names(tmp_path: Path) -> None:
    alike = [simulated(tmp_path, seed=seed) for seed in (1, 2)]
    assert [(axis.label, axis.texts) for axis in differences(alike)] == [("seed", ("1", "2"))]
    same = [alike[0], alike[0]]
    assert [axis.label for axis in differences(same)] == ["run"]
    with pytest.raises(InputError, match="1 run to lay over each other"):
        dumbbell.overlay(alike[:1])


def test_repetitions_are_a_mean_with_a_band(tmp_path: Path) -> None:
    alike = [simulated(tmp_path, seed=seed, **{"topology.bottleneck.loss": "1 %"}) for seed in (1, 2, 3)]
    (ax,) = dumbbell.overlay(alike, plots=("cwnd",), bands=True).axes
    assert len(ax.lines) == len(ax.collections) == 1


def test_the_mean_of_repetitions_at_a_time() -> None:
    """Means of 10 and 20 have an interval; where one run has ended, the other's mean has none."""
    panel = Panel("x", 1.0, "X", "", ())
    ends = ((0, 10.0, 10.0), (1, 20.0, 5.0))
    traces = tuple(Trace(run, "", "bbr", pl.Series([0.0, end]), pl.Series([v, v])) for run, v, end in ends)
    (found,) = averaged([Quantity(panel, traces)], [], 2, 10.0)
    (mean,) = found.traces
    assert mean.low is not None
    early, late = mean.values[50], mean.values[150]
    assert (early, late) == (15.0, 10.0)
    assert mean.low[50] == 0.0, "15 -+ 63.5 is cut at 0"
    assert mean.low[150] is None


def test_the_band_of_a_goodput_ends_at_what_the_path_carries(tmp_path: Path) -> None:
    """Also where an event raises the rate; a mean above it stays, as data behind a repaired hole come at once."""
    loss: dict[str, Any] = {
        "topology.bottleneck.loss": "1 %",
        "topology.bottleneck.rate": "20 Mbit/s",
        "flows.0.cc": "bbr",
    }
    event: dict[str, Any] = {"events": [{"at": "0.5 s", "link": "bottleneck", "rate": "30 Mbit/s"}]}
    for more, rate in (({}, 20e6), (event, 30e6)):
        alike = [simulated(tmp_path, seed=seed, **loss, **more) for seed in (1, 2)]
        (goodput,), _ = drawn(alike, ("goodput",), [], bands=True)
        (mean,) = goodput.traces
        assert mean.most == rate
        assert mean.high is not None
        pairs = [(v, high) for v, high in zip(mean.values, mean.high, strict=True) if high is not None]
        assert all(high <= max(rate, v) for v, high in pairs)
        assert any(high == rate for _, high in pairs), "two runs have wide intervals"


def test_cases_of_a_study_stand_side_by_side_by_their_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order of the file, with the name of the case in place of what it sets."""
    monkeypatch.chdir(tmp_path)
    cases = "".join(
        f'[[sweep.cases]]\nname = "{name}"\n"topology.rtt" = "{rtt}"\n"topology.bottleneck.rate" = "{rate}"\n'
        for name, rtt, rate in (("slow", "20 ms", "2 Mbit/s"), ("fast", "10 ms", "20 Mbit/s"))
    )
    sweep = '[sweep]\n"flows.0.cc" = ["cubic", "bbr"]\n'
    Path("x.toml").write_text(bundled.text("single-flow").replace('"15 s"', '"1 s"') + sweep + cases)
    assert invoke(["run", "x.toml", "--engine", "simulate"]) == 0
    assert invoke(["report", "singleflow", "--overlay"]) == 2
    assert "hint: did you mean single-flow?" in capsys.readouterr().err
    assert invoke(["report", "single-flow", "--overlay", "--plots", "cwnd", "--format", "csv"]) == 0
    rows = pl.read_csv("overlay.csv", infer_schema_length=None)
    assert rows["case"].unique(maintain_order=True).to_list() == ["slow", "fast"]
    assert set(rows["flows.0.cc"]) == {"cubic", "bbr"}
    (kept,) = Path("studies").glob("*/single-runs/cell-3-0-*")
    scenario = load(kept / "scenario.toml")
    assert (scenario.flows[0].cc.name, str(scenario.topology.rtt)) == ("bbr", "10 ms")  # type: ignore[union-attr]


def test_the_command_of_a_study(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulated studies keep no records: the first run of each cell is carried out again, once."""
    monkeypatch.chdir(tmp_path)
    study = dumbbell.run("single-flow", overrides=SHORT, vary={"flows.0.cc": ["cubic", "bbr"]}, engine="simulate")
    command = ["report", str(study.directory), "--overlay", "--plots", "cwnd,queue", "--format", "pdf"]
    for name in ("a.pdf", "b.pdf"):
        assert invoke([*command, "--output", name]) == 0
    assert len(list((study.directory / "single-runs").glob("cell-*"))) == 2
    assert Path("a.pdf").read_bytes() == Path("b.pdf").read_bytes()
    assert invoke(["report", str(study.directory), "--overlay", "--plots", "speed"]) == 2
    assert "no plot 'speed'" in capsys.readouterr().err
    assert invoke(["report", str(study.directory), "--overlay", "--format", "tex"]) == 2
    assert "no overlay as tex" in capsys.readouterr().err
    assert invoke(["report", str(study.directory), "--plots", "rtt"]) == 2
    assert "--plots without --overlay" in capsys.readouterr().err
