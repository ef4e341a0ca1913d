"""The study's report: page, figures and tables, of a study that is known."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.cli import invoke
from dumbbell.errors import InputError
from dumbbell.report import words
from dumbbell.report.study import write
from dumbbell.report.study.build import HEADLINES, build
from dumbbell.report.study.colours import NEUTRAL, of_names
from dumbbell.report.study.figures import figure
from dumbbell.report.study.grid import check_reference, grids, rounded
from dumbbell.report.study.kinds import name_of
from dumbbell.report.study.page import page
from dumbbell.scenario.study import Plot, PlotKind

BUFFERS = ("0.1 bdp", "1 bdp", "10 bdp")
GRID = [{"b.buffer": buffer, "t.rtt": rtt} for buffer in BUFFERS for rtt in ("10 ms", "50 ms")]


def goodput(cell: Any, cc: str) -> float:
    """bbr gets a tenth less for each step of the buffer, cubic twice as much with the longer RTT."""
    step = BUFFERS.index(cell["b.buffer"])
    return 50 * 0.9**step if cc == "bbr" else 20.0 * (2 if cell["t.rtt"] == "50 ms" else 1)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spec = Synthetic(cells=GRID, repeat=4, goodput_mbit=goodput, fct_s=1.0, failed=(3,))
    return spec.write(tmp_path_factory.mktemp("reported") / "study")


@pytest.fixture
def study(path: Path) -> Study:
    return Study(path)


def series(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="series">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])["content"]  # type: ignore[no-any-return]


def test_the_page_holds_all_cells_and_all_runs(study: Study) -> None:
    told = series(page(build(study, 0.95, "t")))
    goodputs = next(panel for panel in told["panels"] if panel["title"] == "Goodput")
    assert (goodputs["unit"], goodputs["of"]) == ("Mbit/s", ["cubic", "bbr"])
    assert len(goodputs["points"]) == 2 * len(GRID)
    assert sorted(point[2] for point in goodputs["points"]) == [3] * 2 + [4] * 10
    assert [len(runs) for runs in told["runs"]] == [4, 4, 4, 3, 4, 4]
    assert told["axes"][0]["kind"] == "log"
    assert (told["x"], told["lines"]) == (0, 1)
    assert told["runs"][2][3][0] == 20
    assert told["runs"][2][3][2:] == [4, 3, 0]
    assert told["verdicts"] == ["valid"]
    assert told["command"].endswith("/scenario.toml --engine simulate")


def test_a_run_with_records_has_the_command_that_writes_its_report(tmp_path: Path) -> None:
    directory = Synthetic().write(tmp_path / "study")
    assert series(page(build(Study(directory), 0.95, "t")))["records"] is None
    (directory / "runs").mkdir()
    assert series(page(build(Study(directory), 0.95, "t")))["records"] == f"{directory}/runs/synthetic-"


def test_suspect_runs_count_and_are_told(tmp_path: Path) -> None:
    reasons = {0: "lateness, stall", 2: "lateness"}
    judged = {0: "suspect", 1: "invalid", 2: "suspect"}
    directory = Synthetic(verdicts=judged, reasons=reasons).write(tmp_path / "study")
    plots = build(Study(directory), 0.95, "t")
    text = page(plots)
    assert "5 runs: 2 valid, 2 suspect (lateness 2, stall 1), 1 invalid" in text
    assert '<div class="verdict suspect" role="status"><p><strong>suspect</strong>' in text
    told = series(text)
    verdicts = [told["verdicts"][run[4]] for run in told["runs"][0]]
    assert verdicts == ["suspect (lateness, stall)", "suspect (lateness)", "valid", "valid"]
    assert '<small class="doubt">2 of 4 suspect</small>' in text
    assert "2 of 4 runs are suspect" in text
    for written in write(Study(directory), "csv", tmp_path / "csv"):
        assert set(pl.read_csv(written)["suspect_runs"]) == {2}
    assert all("2 of 4 runs are suspect" in one.read_text() for one in write(Study(directory), "tex", tmp_path / "tex"))


def test_a_study_whose_runs_are_all_valid_says_so(tmp_path: Path) -> None:
    text = page(build(Study(Synthetic().write(tmp_path / "study")), 0.95, "t"))
    assert '<div class="verdict valid" role="status"><p><strong>valid</strong> <span>5 runs: 5 valid</span></p>' in text
    assert '<small class="doubt">' not in text


@pytest.mark.parametrize(
    ("answers", "kind", "said"),
    [
        (["holds", "holds"], "valid", "2 expectations held"),
        (["holds", "cannot be told"], "suspect", "1 of 2 expectations undecided"),
        (["fails", "cannot be told"], "invalid", "1 of 2 expectations failed; 1 of 2 expectations undecided"),
    ],
)
def test_expectations_stand_in_the_first_lines(tmp_path: Path, answers: list[str], kind: str, said: str) -> None:
    told = [
        {"expectation": f"jain_index >= 0.{i}", "answer": one, "why": f"0.{i} in 5 runs"}
        for i, one in enumerate(answers)
    ]
    directory = Synthetic(manifest={"expectations": told}).write(tmp_path / "study")
    text = page(build(Study(directory), 0.95, "t"))
    (banner,) = re.findall(r'<div class="verdict (\w+)" role="status">(.*?)</div>', text, re.DOTALL)
    assert banner[0] == kind
    assert said in banner[1]
    for one in told:
        line = f"<b>{one['expectation'].replace('>', '&gt;')}</b>: {one['answer']}: <span>{one['why']}</span>"
        assert (line in banner[1]) == (one["answer"] != "holds")


def test_an_algorithm_alone_in_a_plot_has_its_own_colour(tmp_path: Path) -> None:
    """Retransmissions are of TCP only; all flows together have no algorithm's colour."""
    cells = [{"t.rtt": rtt} for rtt in ("10 ms", "30 ms", "50 ms")]
    plots = build(Study(Synthetic(cells=cells, ccs=("udp", "cubic")).write(tmp_path / "study")), 0.95, "t")
    of_udp, of_cubic = of_names(plots.of)
    colours: dict[str, list[Any]] = {}
    for panel in plots.panels:
        (grid,) = grids(plots, panel)
        colours[f"{panel.metric.name} of {panel.scope}"] = [column.colour for column in grid.columns]
    assert colours["goodput of algorithm"] == [of_udp, of_cubic]
    assert colours["retransmitted_segments of algorithm"] == [of_cubic]
    assert colours["goodput of run"] == colours["utilisation of link"] == [None]
    for panel in plots.panels:
        if panel.scope in ("run", "link"):
            curves = figure(plots, panel).axes[0].get_lines()
            assert curves[0].get_color() == NEUTRAL[0]


def test_a_case_may_leave_a_key_out(tmp_path: Path) -> None:
    """The cells of `[[sweep.cases]]` do the same."""
    cells = [{"case": "plain"}, *({"case": "red", "queue.min_th": text} for text in ("10 kB", "90 kB"))]
    told = series(page(build(Study(Synthetic(cells=cells).write(tmp_path / "study")), 0.95, "t")))
    axes = {axis["label"]: axis["texts"] for axis in told["axes"]}
    assert axes == {"case": ["plain", "red"], "min_th": [words.UNKNOWN, "10 kB", "90 kB"]}


def test_an_algorithm_that_is_varied_looks_the_same_by_value_and_by_algorithm(tmp_path: Path) -> None:
    names = ("cubic", "reno", "bbr")
    cells = [{"b.buffer": buffer, "flows": cc} for buffer in BUFFERS for cc in names]
    plots = build(Study(Synthetic(cells=cells, goodput_mbit=lambda cell, cc: 9.0).write(tmp_path / "study")), 0.95, "t")
    looks: dict[str, list[Any]] = {}
    for panel in plots.panels:
        if panel.metric.name == "goodput":
            (grid,) = grids(plots, panel)
            looks[panel.scope] = [column.colour for column in grid.columns]
    assert looks["run"] == looks["algorithm"] == list(of_names(names))


@pytest.mark.parametrize(("ccs", "scopes"), [(("bbr",), ["run"]), (("cubic", "bbr"), ["run", "algorithm"])])
@pytest.mark.parametrize("kind", ["auto", "boxes"])
def test_a_picture_of_the_only_flow_of_each_run_is_drawn_once(
    tmp_path: Path, kind: PlotKind, ccs: tuple[str, ...], scopes: list[str]
) -> None:
    made = Study(Synthetic(cells=GRID, ccs=ccs, goodput_mbit=goodput).write(tmp_path / "study"))
    plots = build(made, 0.95, "t", described=Plot(metric="goodput", kind=kind, name="mine"))
    assert [panel.scope for panel in plots.panels] == scopes
    assert [name_of(plots, panel) for panel in plots.panels] == (
        ["mine"] if len(scopes) == 1 else ["mine_by_run", "mine_by_algorithm"]
    )


def test_the_first_line_says_how_many_runs_there_are(study: Study) -> None:
    text = page(build(study, 0.95, "t"))
    assert "24 runs: 23 valid, 1 failed" in text
    assert 'class="verdict suspect"' in text


def test_nothing_is_thinned_in_silence(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 'class="missing"><li' not in page(build(study, 0.95, "t"))
    monkeypatch.setattr("dumbbell.report.study.payload.MOST_STEPS", 10)
    monkeypatch.setattr("dumbbell.report.study.payload.LEAST_STEPS", 2)
    monkeypatch.setattr("dumbbell.report.study.payload.MOST_VALUES", 10)
    monkeypatch.setattr("dumbbell.report.study.page.MOST_TABLES", 1)
    text = page(build(study, 0.95, "t"))
    assert "drawn from 2 evenly spaced quantiles" in text
    assert "Lists of runs omit their " in text
    assert re.search(r"1 of \d+ tables are listed", text)
    assert '<div id="any-table"></div>' in text
    assert all(panel["values"] is None for panel in series(text)["panels"])


def test_markup_in_names_is_text(tmp_path: Path) -> None:
    spec = Synthetic(cells=[{"k": "</script><b>"}, {"k": "x"}], manifest={"name": "<i>"})
    text = page(build(Study(spec.write(tmp_path / "study")), 0.95, "t"))
    assert "<b>" not in text
    assert "<i>" not in text


def test_changes_are_against_the_first_value_of_the_second_key(study: Study) -> None:
    plots = build(study, 0.95, "t")
    panel = next(one for one in plots.panels if one.title == "Goodput")
    (grid,) = grids(plots, panel)
    rtts = ("rtt 10 ms", "rtt 50 ms")
    assert [column.label for column in grid.columns] == [f"{cc}, {rtt}" for cc in ("CUBIC", "BBRv1") for rtt in rtts]
    assert grid.reference_words() == "against rtt 10 ms"
    change = grid.change(0, grid.columns[1])
    assert change is not None
    assert change.relative is not None
    assert change.relative.value == pytest.approx(1.0, abs=0.1)
    assert change.method == "paired"
    # A run of this cell failed: the others still have partners.
    other = grid.change(1, grid.columns[1])
    assert other is not None
    assert (change.by, other.by) == ("4 pairs", "3 pairs")
    assert "3 pairs by seed" in page(plots)
    assert grid.change(0, grid.columns[0]) is None


def test_another_reference(study: Study) -> None:
    plots = build(study, 0.95, "t", "50 ms")
    (grid,) = grids(plots, plots.panels[1])
    assert grid.change(0, grid.columns[1]) is None
    assert grid.change(0, grid.columns[0]) is not None


def test_a_reference_may_be_a_value_of_the_first_key(study: Study) -> None:
    plots = build(study, 0.95, "t", "1 bdp")
    (grid,) = grids(plots, next(one for one in plots.panels if one.title == "Goodput"))
    assert grid.reference_words() == "against buffer 1 bdp"
    changes = [grid.change(row, grid.columns[0]) for row in grid.rows]
    assert [change is None for change in changes] == [False, True, False]


def test_an_algorithm_is_a_reference_beside_a_second_key(study: Study) -> None:
    """By either of its names, and at the same value of that key."""
    for name in ("bbr", "BBRv1"):
        plots = build(study, 0.95, "t", name)
        check_reference(plots)
        (grid,) = grids(plots, plots.panels[1])
        changes = [grid.change(0, column) for column in grid.columns]
        assert [change is None for change in changes] == [False, False, True, True]
        assert grid.reference_words() == "against BBRv1"
        assert changes[0] is not None
        assert changes[0].reference == pytest.approx(50e6, rel=0.1)


def test_without_a_second_key_changes_are_against_the_first_algorithm(tmp_path: Path) -> None:
    cells = [{"b.buffer": buffer} for buffer in BUFFERS]
    study = Study(Synthetic(cells=cells).write(tmp_path / "study"))
    plots = build(study, 0.95, "t")
    by_algorithm, total = plots.panels[1], plots.panels[0]
    assert next(grids(plots, by_algorithm)).reference_words() == "against CUBIC"
    assert next(grids(plots, total)).reference_words() == "against buffer 0.1 bdp"


def test_tables_as_csv_have_everything_in_full(study: Study, tmp_path: Path) -> None:
    files = {one.name: one for one in write(study, "csv", tmp_path / "csv")}
    table = pl.read_csv(files["goodput_by_algorithm.csv"])
    assert table.height == 12
    assert table["n"].sum() == 2 * 23
    row = table.row(0, named=True)
    assert (row["b.buffer"], row["t.rtt"], row["algorithm"], row["unit"]) == ("0.1 bdp", "10 ms", "cubic", "bit/s")
    assert row["low"] < row["mean"] < row["high"]
    assert row["mean"] == pytest.approx(20e6, rel=0.05)


def test_tables_in_latex(study: Study, tmp_path: Path) -> None:
    files = {one.name: one.read_text() for one in write(study, "tex", tmp_path)}
    text = files["goodput_share_by_algorithm.tex"]
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 1
    assert r"Share of bandwidth (\%): simulated, mean and 95 \% interval (Student's t), n = 3 to 4" in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    # One row of heads is above the four columns, and one above each two columns.
    assert [line.count("&") for line in rows[:2]] == [2, 4]
    assert {line.count("&") for line in rows[1:]} == {4}
    assert re.search(r"\$\d+\.?\d* \\pm \d", text)


@pytest.mark.parametrize("format", ["png", "svg", "pdf"])
def test_figures_for_each_metric(study: Study, tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dumbbell.report.study.build.HEADLINES", HEADLINES[:1])
    plots = build(study, 0.95, "t")
    written = write(study, format, tmp_path / format)
    assert len(written) == len(plots.panels) + len(plots.distributions)
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[format]
    assert all(one.read_bytes().startswith(begins) for one in written)


def test_categories_are_bars(tmp_path: Path) -> None:
    from dumbbell.report.study.figures import figure

    cells = [{"queue.kind": kind} for kind in ("drop-tail", "codel")]
    plots = build(Study(Synthetic(cells=cells).write(tmp_path / "study")), 0.95, "t")
    (ax,) = figure(plots, plots.panels[1]).axes
    assert len(ax.patches) == 4
    assert [label.get_text() for label in ax.get_xticklabels()] == ["drop-tail", "codel"]
    assert ax.get_ylim()[0] == 0


def test_numbers_are_drawn_with_bands_on_a_logarithmic_axis(study: Study) -> None:
    from dumbbell.report.study.figures import figure

    plots = build(study, 0.95, "t")
    (ax,) = figure(plots, plots.panels[1]).axes
    assert ax.get_xscale() == "log"
    assert len(ax.lines) == len(ax.collections) == 4
    assert ax.lines[0].get_xdata().tolist() == [0.1, 1, 10]


@pytest.mark.parametrize(
    ("mean", "half", "expected"),
    [(93.2663, 0.01968, ("93.266", "0.020")), (18.44, 0.6556, ("18.44", "0.66")), (123456.7, 345.6, ("123,457", "346")),
     (5.0, 0.0, ("5", "0"))],
)  # fmt: skip
def test_a_mean_is_rounded_as_its_interval(mean: float, half: float, expected: tuple[str, str]) -> None:
    assert rounded(half, mean, half) == expected


@pytest.fixture
def skewed(tmp_path: Path) -> Study:
    """Most completion times are like this: much longer tails to the right."""
    cells = [{"queue.kind": kind} for kind in ("drop-tail", "codel")]
    return Study(Synthetic(cells=cells, repeat=12, fct_s=1.0).write(tmp_path / "study"))


def test_bootstrapped_intervals_have_two_ends(skewed: Study) -> None:
    """Figures, tables of the page and of LaTeX show both bounds: half of the interval would be wrong on either side."""
    from dumbbell.report.study.figures import figure
    from dumbbell.report.study.latex import latex

    plots = build(skewed, 0.95, "bootstrap")
    panel = next(one for one in plots.panels if one.metric.name == "fct_mean")
    (grid,) = grids(plots, panel)
    whiskers = figure(plots, panel).axes[0].containers[1::2]
    texts, table = page(plots), latex(plots)["fct_mean_by_algorithm.tex"].decode()
    for column, whisker in zip(grid.columns, whiskers, strict=True):
        entries = [entry for row in grid.rows if (entry := grid.entry(row, column))]
        drawn = [(low, high) for (_, low), (_, high) in cast(Any, whisker).lines[2][0].get_segments()]
        told = [(entry.low / panel.factor, entry.high / panel.factor) for entry in entries]  # type: ignore[operator]
        assert drawn == [pytest.approx(ends) for ends in told]
        for entry in entries:
            mean, low, high = grid.interval_texts(entry)
            assert float(high) - float(mean) > 1.1 * (float(mean) - float(low))
            assert f"<small> [{low}, {high}]</small>" in texts
            assert f"${mean}$ $[{low}, {high}]$" in table


def test_students_intervals_have_a_half_and_single_runs_none(skewed: Study, tmp_path: Path) -> None:
    plots = build(skewed, 0.95, "t")
    (grid,) = grids(plots, plots.panels[0])
    assert len(grid.interval_texts(plots.panels[0].entries[0, ""])) == 2
    plots = build(Study(Synthetic(repeat=1).write(tmp_path / "once")), 0.95, "bootstrap")
    (grid,) = grids(plots, plots.panels[0])
    assert grid.interval_texts(plots.panels[0].entries[0, ""]) == ("85.64",)
    assert ", one run" in page(plots)


def test_refusals(study: Study, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no report format 'doc'"):
        write(study, "doc")
    with pytest.raises(InputError, match="--reference vegas: no table has it"):
        write(study, "html", tmp_path / "x.html", reference="vegas")
    with pytest.raises(InputError, match=r"x.png is one file"):
        write(study, "png", tmp_path / "x.png")
    nothing = Synthetic(repeat=2, verdicts={0: "invalid", 1: "invalid"}).write(tmp_path / "nothing")
    with pytest.raises(InputError, match="nothing to report"):
        write(Study(nothing), "html")


def test_the_command(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "page.html"
    assert invoke(["report", str(path), "--output", str(target), "--confidence", "99"]) == 0
    assert capsys.readouterr().out.strip() == str(target)
    assert "99 % interval" in target.read_text(encoding="utf-8")
    assert invoke(["report", str(path), "--confidence", "42"]) == 2
    assert "--confidence must be 90, 95 or 99\n" in capsys.readouterr().err
    assert invoke(["report", str(path), "--interval", "magic"]) == 2
    assert "there are t, bootstrap" in capsys.readouterr().err


def test_the_same_study_gives_the_same_bytes(study: Study, path: Path) -> None:
    assert page(build(study, 0.9, "bootstrap")) == page(build(Study(path), 0.9, "bootstrap"))


def test_flows_that_were_not_completed_are_told(tmp_path: Path) -> None:
    """One of each algorithm's 5 flows was not completed: curves end at 4 of 5, and not at 1."""
    from dumbbell.report.study.figures import cdf

    study = Study(Synthetic(fct_s=1.0).write(tmp_path / "study"))
    study.flows = study.flows.with_columns(fct_s=pl.when(pl.col("run") > 0).then("fct_s"))
    plots = build(study, 0.95, "t")
    text = page(plots)
    assert "Flow completion time: 2 flows did not complete" in text
    assert [(one["label"], one["share"]) for one in series(text)["distributions"][0]["curves"]] == [
        ("n = 4 of 5", 0.8)
    ] * 2
    (ax,) = cdf(plots, plots.distributions[0]).axes
    assert [list(cast(Any, line.get_ydata())) for line in ax.lines] == [pytest.approx([0, 0.2, 0.4, 0.6, 0.8])] * 2
    assert ax.get_ylim()[1] > 1


def test_several_links_that_limited_flows_have_a_curve_each(tmp_path: Path) -> None:
    links = {"edge": 0.2, "core": 0.7, "spare": 0.0}
    built = build(Study(Synthetic(cells=GRID, links=links).write(tmp_path / "study")), 0.95, "t")
    panels = {panel.metric.name: panel for panel in built.panels if panel.scope == "link"}
    assert {panel.of for panel in panels.values()} == {("core", "edge")}, "spare never limited a flow"
    assert panels["utilisation"].title == "Utilisation by link"
    (grid,) = grids(built, panels["bottleneck_share"])
    labels = [column.label for column in grid.columns]
    assert len(set(labels)) == len(labels) == 4
    assert all(label.startswith(("core, ", "edge, ")) for label in labels)
    looks = [column.colour for column in grid.columns]
    assert len(set(looks)) == 4
    assert not {one.light for one in looks if one} & {one.light for one in of_names(built.of)}


def test_the_only_link_has_no_panel_of_its_time_as_bottleneck(study: Study) -> None:
    titles = [panel.title for panel in build(study, 0.95, "t").panels]
    assert "Utilisation, bottleneck" in titles
    assert not [title for title in titles if "as the bottleneck" in title]
