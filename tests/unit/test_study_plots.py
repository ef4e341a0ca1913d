"""A plot of a study is described once: kinds, keys, names and colours, the same for every format."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from synthetic_study import SCENARIO, Synthetic

import dumbbell
from dumbbell import Study
from dumbbell.cc import names
from dumbbell.cli import invoke
from dumbbell.errors import InputError, ScenarioError
from dumbbell.report import words
from dumbbell.report.study import write
from dumbbell.report.study.build import build
from dumbbell.report.study.colours import of_names
from dumbbell.report.study.figures import figure
from dumbbell.report.study.kinds import kind_of, shown
from dumbbell.report.study.matrices import of_pairs
from dumbbell.scenario.study import Plot
from dumbbell.statistics.cells import summaries, summarize
from dumbbell.statistics.metrics import METRICS, values

THREE = ("cubic", "reno", "bbr")


def study(folder: Path, keys: dict[str, list[Any]], **given: Any) -> Study:
    cells = [dict(zip(keys, row, strict=True)) for row in product(*keys.values())]
    return Study(Synthetic(cells=cells, **given).write(folder / "study"))


def described(one: Study, **given: Any) -> Any:
    return build(one, 0.95, "t", None, Plot.model_validate(given))


@pytest.mark.parametrize(
    ("value", "label", "title"),
    [
        ("bbr3", "bbr3", "BBRv3"),
        ({"kernel": "aimd.bpf.c"}, "aimd", "aimd"),
        ('{ kernel = "aimd.bpf.c" }', "aimd", "aimd"),
        ('{ bpf = "mine/calm.bpf.o" }', "calm", "calm"),
        ('{ kernel = "my_cc.c", parameters = { beta = 7, fast = true } }', "my_cc (beta=7, fast=true)",
         "my_cc (beta=7, fast=true)"),
        ({"kernel": "bbr3"}, "bbr3 (kernel)", "BBRv3 (kernel)"),
        ({"name": "cubic", "parameters": {"beta": 600}}, "cubic (beta=600)", "CUBIC (beta=600)"),
        ("{ broken", "{ broken", "{ broken"),
    ],
)  # fmt: skip
def test_the_name_of_an_algorithm(value: Any, label: str, title: str) -> None:
    assert (names.label(value), names.title(names.label(value))) == (label, title)


def test_a_known_algorithm_has_its_colour_in_every_study() -> None:
    one, other = of_names(("cubic", "bbr", "mine")), of_names(("mine", "bbr3", "bbr", "cubic"))
    assert (one[0], one[1]) == (other[3], other[2])
    many = of_names([*THREE, *(f"own{i}" for i in range(20))])
    assert len(set(many)) == len(many)


def test_algorithms_are_curves_and_numbers_are_across(tmp_path: Path) -> None:
    keys = {
        "b.loss": ["0 %", "1 %"],
        "flows.0.cc": [*THREE, '{ kernel = "aimd.bpf.c" }'],
        "b.buffer": ["1 bdp", "2 bdp", "4 bdp"],
    }
    layout = described(study(tmp_path, keys)).layout
    assert (layout.x.label, layout.lines.label, [one.label for one in layout.others]) == (
        "buffer",
        "algorithm of flow 1",
        ["loss"],
    )
    assert layout.lines.names == ("CUBIC", "Reno", "BBRv1", "aimd")


def test_only_combinations_that_exist_have_a_bar(tmp_path: Path) -> None:
    """And they stand side by side around the label of their category."""
    cells = [{"case": "one", "flows": "cubic+bbr"}, {"case": "two", "flows": "reno"}]
    plots = described(
        Study(Synthetic(cells=cells, goodput_mbit=lambda _, cc: 9.0).write(tmp_path / "study")), by="algorithm"
    )
    (ax,) = figure(plots, plots.panels[0]).axes
    middles = sorted(round(bar.get_x() + bar.get_width() / 2, 6) for bar in ax.patches)  # type: ignore[attr-defined]
    assert middles == [-0.2, 0.2, 1.0]


@pytest.mark.parametrize("kind", ["lines", "bars", "boxes", "cdf", "heat"])
def test_each_kind_is_drawn(tmp_path: Path, kind: str) -> None:
    one = study(tmp_path, {"b.buffer": ["1 bdp", "2 bdp"], "t.rtt": ["10 ms", "50 ms"]})
    axes = one.plot("goodput", kind=kind, by="run", across="buffer", curves="rtt").axes
    assert len(axes) == (2 if kind == "cdf" else 1)
    assert all(ax.lines or ax.patches for ax in axes)


FACTORS = {"b.loss": ["0 %", "1 %"], "b.buffer": ["1 bdp", "2 bdp"], "flows": ["cubic", "bbr"]}


def _by_loss(cell: Mapping[str, Any], cc: str) -> float:
    """CUBIC loses half of its rate with loss; the buffer changes nothing."""
    return 4.0 if cell["b.loss"] == "1 %" and cc == "cubic" else 8.0


def test_effects_name_the_key_that_matters_in_every_format(tmp_path: Path) -> None:
    one = study(tmp_path, FACTORS, goodput_mbit=_by_loss, spread=0.0)
    shares, sizes = one.plot("goodput", kind="effects").axes
    assert [text.get_text() for text in shares.get_yticklabels()][3:] == [
        "buffer", "loss and buffer", "buffer and flows",
    ]  # fmt: skip
    assert [round(bar.get_width(), 6) for bar in shares.patches[:4]] == [pytest.approx(100 / 3)] * 3 + [0.0]
    assert {text.get_text() for text in sizes.get_yticklabels()[:3]} == {"loss 1 %", "BBRv1", "loss 1 %, BBRv1"}
    plot = '[[report.plots]]\nname = "mine"\nmetric = "goodput"\nkind = "effects"\n'
    (one.directory / "scenario.toml").write_text(SCENARIO + plot)
    rows = pl.read_csv({path.name: path for path in write(one, "csv", tmp_path / "csv")}["mine.csv"])
    found = {keys: (effect, share) for keys, effect, share in rows.select("keys", "effect", "share").iter_rows()}
    assert found["loss"] == (pytest.approx(-2e6), pytest.approx(1 / 3))
    assert found["loss and flows"] == (pytest.approx(2e6), pytest.approx(1 / 3))
    assert found["buffer"] == (pytest.approx(0.0), pytest.approx(0.0))
    tex = {path.name: path for path in write(one, "tex", tmp_path / "tex")}["mine.tex"].read_text()
    assert r"loss 1 \% & $33.33$ & $-2$ \\" in tex.replace(" $[33.33, 33.33]$", "").replace(" $[-2, -2]$", "")
    assert 'download="mine.svg"' in write(one, "html")[0].read_text()


def test_effects_need_all_combinations(tmp_path: Path) -> None:
    cells = [{"a.x": 1, "b.y": 1}, {"a.x": 1, "b.y": 2}, {"a.x": 2, "b.y": 1}]
    one = Study(Synthetic(cells=cells).write(tmp_path / "study"))
    with pytest.raises(InputError, match="effects of x and y on goodput can't be told apart"):
        one.plot("goodput", kind="effects")


def test_the_files_columns_are_runs_over_time(tmp_path: Path) -> None:
    """A column for each value; runs without records are carried out again; a key that is not varied is refused."""
    scenario = SCENARIO + '\n[sweep]\n"flows.0.cc" = ["cubic", "bbr"]\n\n[report]\ncolumns = "flows.0.cc"\n'
    file = tmp_path / "my.toml"
    file.write_text(scenario)
    one = dumbbell.run(file, overrides={"duration": "1 s"}, engine="simulate", directory=tmp_path)
    assert isinstance(one, Study)
    assert 'download="over-time.svg"' in (one.directory / "report.html").read_text()
    rows = pl.read_csv(
        {path.name: path for path in write(one, "csv", tmp_path / "csv", over_time=one.over_time)}["over-time.csv"]
    )
    assert set(rows["flows.0.cc"]) == {"cubic", "bbr"}
    assert {"cwnd_packets", "queue_bytes", "sending_rate_bps"} <= set(rows["panel"])
    file.write_text(scenario.replace('columns = "flows.0.cc"', 'columns = "flows.0.c"'))
    with pytest.raises(ScenarioError, match=r"flows\.0\.c is not varied"):
        dumbbell.run(file, engine="simulate", directory=tmp_path)


def test_a_picture_says_of_how_many_runs_it_is_and_what_its_bands_are(tmp_path: Path) -> None:
    one = study(tmp_path, {"b.buffer": ["1 bdp", "2 bdp"], "t.rtt": ["10 ms", "50 ms"]}, failed=[0])

    def note(kind: str) -> str:
        (text,) = one.plot("goodput", kind=kind, by="run", across="buffer", curves="rtt").texts
        return str(text.get_text())

    means = "simulated; mean and 95 % interval (Student's t), n = 4 to 5"
    assert [note(kind) for kind in ("lines", "bars", "boxes")] == [means, means, "simulated; n = 4 to 5"]
    heat = one.plot("goodput", kind="heat", by="run", across="buffer", curves="rtt")
    assert means in {text.get_text() for text in heat.texts}
    alone = study(tmp_path / "alone", {"b.buffer": ["1 bdp", "2 bdp"]}, repeat=1)
    assert [text.get_text() for text in alone.plot("goodput", by="run").texts] == ["simulated; n = 1"]


def test_small_values_of_a_matrix_keep_their_interval(tmp_path: Path) -> None:
    def goodput(cell: Any, cc: str) -> float:
        return {"0 %": 60.0, "5 %": 1.6}[cell["b.loss"]]

    keys = {"b.loss": ["0 %", "5 %"], "b.buffer": ["1 bdp", "2 bdp"]}
    one = study(tmp_path, keys, goodput_mbit=goodput, spread=0.1)
    (ax,) = one.plot("goodput", kind="heat", by="run", across="buffer", curves="loss").axes
    halves = [text.get_text() for text in ax.texts if text.get_text().startswith("±")]
    assert len(halves) == 4
    assert all(float(half[1:]) > 0 for half in halves)


@pytest.mark.parametrize(("times", "is_free"), [(9, False), (11, True)])
def test_plots_whose_values_differ_more_than_tenfold_have_axes_of_their_own(
    tmp_path: Path, times: float, is_free: bool
) -> None:
    def goodput(cell: Any, cc: str) -> float:
        return {"1 %": 50.0 / times, "0 %": 50.0}[cell["b.loss"]]

    keys = {"b.loss": ["0 %", "1 %"], "b.buffer": ["1 bdp", "2 bdp"]}
    one = study(tmp_path, keys, goodput_mbit=goodput, spread=0.0)
    fig = one.plot("goodput", by="algorithm", across="buffer", curves="none", panels=["loss"])
    tops = [ax.get_ylim()[1] for ax in fig.axes]
    assert (tops[0] / tops[1] > 10) == is_free
    assert fig.axes[1].yaxis.get_tick_params()["labelleft"] == is_free
    (note,) = fig.texts
    assert ("each plot has its own vertical axis" in note.get_text()) == is_free


@pytest.mark.parametrize(("times", "count"), [(19, 1), (21, 4)])
def test_bars_of_cases_that_differ_more_than_twentyfold_stand_apart(tmp_path: Path, times: float, count: int) -> None:
    """Each case then has a plot, with the algorithms below the bars; where one key is asked for, it stays across."""

    def goodput(cell: Any, cc: str) -> float:
        return 50.0 / times if cell["case"] == "slow" else 50.0

    keys = {"case": ["slow", "b", "c", "d"], "flows.0.cc": ["cubic", "reno"]}
    one = study(tmp_path, keys, goodput_mbit=goodput, spread=0.0)
    fig = one.plot("goodput", by="run")
    assert len(fig.axes) == count
    if count == 4:
        assert [ax.get_title(loc="left") for ax in fig.axes] == keys["case"]
        assert [text.get_text() for text in fig.axes[0].get_xticklabels()] == ["CUBIC", "Reno"]
        assert len({round(ax.get_position().x0, 3) for ax in fig.axes}) == 2, "two by two"
    assert len(one.plot("goodput", by="run", across="case").axes) == 1


def test_entries_of_flows_are_told_apart_where_an_algorithm_has_the_colour(tmp_path: Path) -> None:
    """Two entries beside each other have a name and a dash each, also where the second key gives the colour."""
    keys = {"b.buffer": ["1 bdp", "2 bdp"], "flows.0.cc": ["cubic", "reno"]}
    fig = study(tmp_path, keys).plot("goodput", by="group")
    (legend,) = fig.legends
    texts = [text.get_text() for text in legend.get_texts()]
    looks = {(line.get_color(), line.get_linestyle()) for ax in fig.axes for line in ax.lines}
    assert len(set(texts)) == len(texts) == len(looks) == 4


def test_a_linear_axis_without_room_for_all_values_has_round_ones(tmp_path: Path) -> None:
    keys = {"b.loss": [f"{x:g} %" for x in (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, *range(1, 21))]}
    (ax,) = study(tmp_path, keys, repeat=1).plot("goodput", by="run").axes
    assert ax.get_xscale() == "linear"
    assert list(ax.get_xticks()) == [0, 5, 10, 15, 20]


def test_a_bar_of_one_run_has_no_interval(tmp_path: Path) -> None:
    for repeat in (1, 3):
        one = study(tmp_path / str(repeat), {"case": ["a", "b"]}, repeat=repeat)
        (ax,) = one.plot("goodput", by="run").axes
        whiskers = [path for drawn in ax.collections for path in drawn.get_paths()]  # type: ignore[union-attr]
        assert len(whiskers) == (0 if repeat == 1 else 2)


@pytest.mark.parametrize("format", ["svg", "pdf", "png"])
def test_a_name_is_no_formula(tmp_path: Path, format: str) -> None:
    """Names come from files of strangers."""
    one = study(tmp_path, {"flows.0.cc": ["cubic", "reno"]}, ccs=("cubic", r"$\badcmd{$"))
    drawn = [path.read_bytes() for path in write(one, format, tmp_path / "figures")]
    if format == "svg":
        assert any(rb"$\badcmd{$" in text for text in drawn)


def test_a_description_names_orders_and_colours(tmp_path: Path) -> None:
    one = study(tmp_path, {"flows.0.cc": list(THREE), "queue": ["a", "b", "c"]}, goodput_mbit=lambda _, cc: 9.0)
    plots = described(
        one, by="run", across="queue", where={"flows.0.cc": ["bbr", "cubic"]}, order=["bbr", "c"],
        labels={"bbr": "Google's", "queue": "discipline"}, colours={"cubic": "#123456"},
    )  # fmt: skip
    fig = figure(plots, plots.panels[0])
    (ax,), (legend,) = fig.axes, fig.legends
    assert [text.get_text() for text in legend.get_texts()] == ["Google's", "CUBIC"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["c", "a", "b"]
    assert ax.get_xlabel() == "discipline"
    assert "#123456" in {
        f"#{''.join(f'{round(255 * part):02x}' for part in bar.get_facecolor()[:3])}" for bar in ax.patches
    }


def test_pairs_of_algorithms_are_matrices(tmp_path: Path) -> None:
    """The value of the row beside the column; harm is against the own kind."""
    rate = {"cubic": 10.0, "reno": 10.0, "bbr": 30.0}
    keys = {"flows": [f"{one}+{two}" for one, two in product(THREE, repeat=2)]}
    one = study(tmp_path, keys, goodput_mbit=lambda _, cc: rate[cc], spread=0.0)
    plots = described(one, kind="matrix", metric="goodput_share")
    (panel,) = shown(plots)
    (matrix,) = of_pairs(plots, panel)
    assert matrix.rows == matrix.columns == ("CUBIC", "Reno", "BBRv1")
    shares = [[round(matrix.entries[row, column].mean, 3) for column in range(3)] for row in range(3)]
    assert shares == [[0.5, 0.5, 0.25], [0.5, 0.5, 0.25], [0.75, 0.75, 0.5]]
    (pictured,) = write(one, "csv", tmp_path / "csv", described=Plot(kind="matrix", metric="goodput_share"))
    table = pl.read_csv(pictured).filter(algorithm="BBRv1", beside="Reno")
    assert table["mean"].item() == pytest.approx(0.75)
    (latex,) = write(one, "tex", tmp_path / "tex", described=Plot(kind="matrix", metric="goodput_share"))
    assert r"BBRv1 & $75 \pm 0$ & $75 \pm 0$ & $50 \pm 0$ \\" in latex.read_text()


def test_harm_beside_another_is_against_the_own_kind(tmp_path: Path) -> None:
    def rate(cell: Any, cc: str) -> float:
        return {"cubic+cubic": 20.0, "cubic+bbr": 5.0}.get(cell["flows"], 20.0) if cc == "cubic" else 35.0

    one = study(tmp_path, {"flows": ["cubic+cubic", "cubic+bbr", "bbr+bbr"]}, goodput_mbit=rate, spread=0.0)
    found = values(one, "harm_beside", "group")
    assert found.group_by("of").agg(pl.col("value").mean()).sort("of").rows() == [
        ("f1", pytest.approx(0.75)), ("f2", pytest.approx(0.0)),
    ]  # fmt: skip


def test_an_order_of_a_pair_that_was_not_run_is_that_of_the_other(tmp_path: Path) -> None:
    one = study(tmp_path, {"flows": ["cubic+cubic", "cubic+bbr", "bbr+bbr"]}, spread=0.0)
    plots = described(one, kind="matrix", metric="goodput_share")
    (matrix,) = of_pairs(plots, shown(plots)[0])
    assert [round(matrix.entries[at].mean, 3) for at in ((0, 1), (1, 0))] == [0.333, 0.667]


def test_a_study_of_other_kinds_has_no_matrix(tmp_path: Path) -> None:
    one = study(tmp_path, {"b.buffer": ["1 bdp", "2 bdp"]})
    assert {kind_of(described(one), panel) for panel in described(one).panels} == {"lines"}
    with pytest.raises(InputError, match="no matrix of synthetic"):
        one.plot(kind="matrix")
    with pytest.raises(InputError, match="no such plot"):
        one.plot(kind="pie")


def test_the_file_describes_plots_of_page_and_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot = '[[report.plots]]\nname = "mine"\nmetric = "utilisation"\nkind = "boxes"\n'
    one = study(tmp_path, {"b.buffer": ["1 bdp", "2 bdp"]}, scenario=SCENARIO + plot)
    assert 'download="mine.svg"' in write(one, "html")[0].read_text()
    assert "mine.pdf" in {path.name for path in write(one, "pdf", tmp_path / "pdf")}
    command = ["report", str(one.directory), "--format", "svg", "--output", str(tmp_path / "svg")]
    assert invoke([*command, "--metric", "utilisation, jain_index,utilisation", "--kind", "bars"]) == 0
    assert [Path(line).name for line in capsys.readouterr().out.split()] == [
        "utilisation_bars.svg",
        "jain_index_bars.svg",
    ]
    assert invoke([*command, "--metric", "jain_index,godput"]) == 2
    assert "no metric 'godput'" in capsys.readouterr().err
    assert invoke([*command, "--metric", "jain_index", "--kind", "bars", "--across", "b.buffer"]) == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / "svg" / "jain_index_bars.svg")]
    assert invoke([*command, "--across", "bufer"]) == 2
    assert "did you mean buffer?" in capsys.readouterr().err
    assert invoke([*command, "--kind", "pie"]) == 2
    (one.directory / "scenario.toml").write_text(plot.replace("boxes", "pie"))
    with pytest.raises(InputError, match="cannot read"):
        write(one, "svg", tmp_path / "svg")


def test_a_plot_of_what_is_not_varied_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "my.toml"
    sweep = '\n[sweep]\n"topology.rtt" = ["10 ms", "20 ms"]\n\n[[report.plots]]\n'
    for wrong, said in (('across = "rt"', "rt is not varied"), ('metric = "godput"', "did you mean goodput?")):
        file.write_text(SCENARIO + sweep + wrong)
        assert invoke(["run", str(file), "--engine", "simulate", "--output", str(tmp_path)]) == 2
        assert said in capsys.readouterr().err


def test_intervals_end_where_values_are_impossible(tmp_path: Path) -> None:
    """Intervals of a share of 97 to 100 %, and of times near 0."""
    rows = pl.DataFrame({"cell": [0] * 3, "of": [""] * 3, "value": [0.9, 1.0, 1.0]})
    (free,) = summarize(rows).select("low", "high").rows()
    (cut,) = summarize(rows, bounds=(0.0, 1.0)).select("low", "high").rows()
    assert free[1] > 1.08
    assert cut == (free[0], 1.0)
    times = rows.with_columns(value=pl.Series([0.1, 0.2, 3.0]))
    low, mean, high = summarize(times, bounds=(0.0, None)).select("low", "mean", "high").row(0)
    assert 0.0 == low < mean < high
    one = study(tmp_path, {"b.buffer": ["1 bdp", "2 bdp"]}, links={"bottleneck": 0.5})
    one.links = one.links.with_columns(utilisation=pl.when(pl.col("repetition") > 0).then(1.0).otherwise(0.8))
    assert summaries(one, "utilisation")["high"].max() == 1.0
    (panel,) = described(one, metric="utilisation").panels
    assert figure(described(one, metric="utilisation"), panel).axes[0].get_ylim()[1] <= 103
    table = (tmp_path / "tex" / "utilisation.tex") if write(one, "tex", tmp_path / "tex") else Path()
    assert "$96.0$ $[84.9, 100.0]$" in table.read_text()


def test_the_interval_of_a_goodput_ends_at_what_the_bottleneck_carries(tmp_path: Path) -> None:
    """Two runs of which one loses much: Student's interval would reach beyond 10 Mbit/s."""
    file = tmp_path / "my.toml"
    file.write_text(
        'name = "wide"\nduration = "10 s"\nseed = 3\n[topology]\nkind = "path"\nrtt = "20 ms"\n'
        'bottleneck = { rate = "10 Mbit/s", loss = "1 %" }\n[[flows]]\nfrom = "h1"\nto = "h2"\n'
    )
    found = dumbbell.run(file, directory=tmp_path, engine="simulate", repeat=2, report=False)
    assert isinstance(found, Study)
    rows = values(found, "goodput").with_columns(value=pl.Series([4e6, 9e6]))
    ceilings = METRICS["goodput"].ceilings(found)
    assert ceilings[0] == pytest.approx(10e6, rel=0.01)
    free, cut = (summarize(rows, ceilings=most).row(0, named=True) for most in ({}, ceilings))
    assert free["high"] > 30e6
    assert (cut["low"], cut["high"]) == (free["low"], ceilings[0])
    assert summarize(rows, ceilings={0: 5e6})["high"].item() == free["high"], "a mean above it is no impossibility"
    found.flows = found.flows.with_columns(bottleneck=pl.when(pl.col("run") > 0).then("bottleneck"))
    assert METRICS["goodput"].ceilings(found) == {}, "not known of each run"


def test_timing_of_engines_in_words() -> None:
    known = {name: words.timing(name) for name in ("emulate", "virtual", "simulate", "of a stranger")}
    assert known == {"emulate": "", "virtual": "in virtual time", "simulate": "simulated", "of a stranger": ""}
