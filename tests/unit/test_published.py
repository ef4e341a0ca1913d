"""A published study beside ours: with a study whose figures are known, and one that was not run."""

from __future__ import annotations

import csv
import io
import itertools
import re
from dataclasses import replace
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from matplotlib.figure import Figure as MatplotlibFigure
from PIL import Image
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.cli import invoke
from dumbbell.errors import InputError
from dumbbell.published import drawing, hand_in, report
from dumbbell.published.curves import Curve, boxes_of, curves, number
from dumbbell.published.document import LEDGER, Bullets, Code, Document, Heading, Paragraph, Picture, Pictures
from dumbbell.published.drawing import boxes
from dumbbell.published.figures import Figures
from dumbbell.published.found import elsewhere, judged
from dumbbell.published.judging import above, all_of, below, interval_text, within
from dumbbell.published.latex import latex
from dumbbell.published.long_tables import SCREEN
from dumbbell.published.looks import looks
from dumbbell.published.model import Axis, Finding, Judged, Part, Plot, Published, Reproduction, Status, Studies, Table
from dumbbell.published.page import page
from dumbbell.published.paper import _measured, _Paper, _wrapped, pdf
from dumbbell.published.sides import nearness, sides
from dumbbell.published.tables import in_words, tables
from dumbbell.report.groups import HUES
from dumbbell.report.study.colours import Colour, of_names
from dumbbell.statistics.intervals import Interval

APPENDIX = Path(__file__).parents[2] / "docs" / "draw" / "appendix.py"
RTT, BUFFER = "topology.rtt", "topology.bottleneck.buffer"
CELLS: tuple[dict[str, Any], ...] = tuple(
    {RTT: rtt, BUFFER: buffer} for rtt in ("10 ms", "20 ms") for buffer in ("1 bdp", "2 bdp")
)
MBIT = {"10 ms": 40.0, "20 ms": 20.0}


def goodput(cell: Any, cc: str) -> float:
    return MBIT[cell[RTT]] * (2 if cc == "bbr" else 1) * (1.5 if cell[BUFFER] == "2 bdp" else 1)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """CUBIC: 40 and 20 Mbit/s at 10 and 20 ms, half more with the larger buffer; BBR twice as much."""
    return Study(Synthetic(cells=CELLS, goodput_mbit=goodput, spread=0.001).write(tmp_path / "study"))


def published(rtt: str, buffer: str, mbit: float, of: str = "cubic", relative_to: str | None = None) -> Published:
    return Published({RTT: rtt, BUFFER: buffer}, "goodput", of, 1e6 * mbit, "table 1", relative_to)


PRINTED = (published("10 ms", "1 bdp", 80), published("10 ms", "2 bdp", 60), published("20 ms", "1 bdp", 10))
MBIT_AXIS = Axis("Mbit/s", 0, factor=1e6)
PLOT = Plot(
    "Goodput", "fig. 1", "lines", Axis("ms", 0, 50, factor=1e-3), MBIT_AXIS, "goodput", RTT, BUFFER, of=("cubic",)
)


def test_ours_beside_theirs(study: Study) -> None:
    found = sides(PRINTED, Figures(study), 0.95)
    assert [one.ours.value for one in found if one.ours] == pytest.approx([40e6, 60e6, 20e6], rel=0.01)
    assert [one.ratio.value for one in found if one.ratio] == pytest.approx([0.5, 1, 2], rel=0.01)
    assert found[0].ratio is not None
    assert found[0].ratio.half_width == pytest.approx(found[0].ours.half_width / 80e6)  # type: ignore[union-attr,operator]
    near = nearness(found)
    assert (near.factor, near.counted, near.of) == (pytest.approx(4 ** (1 / 3), rel=0.01), 3, 3)


def test_numbers_of_all_flows_together_count_for_how_near_ours_are(study: Study) -> None:
    """The goodput of both algorithms is some 120 Mbit/s in that cell: theirs is twice as much."""
    printed = Published({RTT: "10 ms", BUFFER: "1 bdp"}, "goodput", None, 240e6, "table 1")
    near = nearness(sides([printed], Figures(study), 0.95))
    assert (near.factor, near.counted) == (pytest.approx(2, rel=0.1), 1)


def test_a_printed_zero_has_no_factor_and_is_named(study: Study, tmp_path: Path) -> None:
    printed = (*PRINTED, published("20 ms", "2 bdp", 0))
    near = nearness(sides(printed, Figures(study), 0.95))
    assert (near.counted, near.of) == (3, 4)
    assert [side.published for side in near.without] == [printed[3]]
    part = Part("a", "A", "a.toml", published=printed)
    _, text = report.write(Reproduction("t", "T", "N", (part,), ()), {"a": study}, tmp_path / "out", "dumbbell")
    assert "| a | A |  | 3 of 4 | 1.59 |" in text.read_text()
    assert "- a: Goodput (bit/s), rtt 20 ms, buffer 2 bdp, cubic: printed 0, ours 30" in text.read_text()


def test_what_was_not_run_is_not_counted_as_near(study: Study) -> None:
    near = nearness(sides([*PRINTED, published("30 ms", "1 bdp", 1)], Figures(study), 0.95))
    assert (near.counted, near.of, near.without) == (3, 4, ())


def test_only_a_ratio_can_be_compared(study: Study) -> None:
    """They print 3 times as much for BBR; ours is twice as much."""
    printed = (published("10 ms", "1 bdp", 30, "bbr", "cubic"), published("10 ms", "1 bdp", 10, "cubic", "cubic"))
    found = sides(printed, Figures(study), 0.95)[0]
    assert found.value == 3
    assert found.ours is not None
    assert found.ours.value == pytest.approx(2, rel=0.01)


def test_what_was_not_run_has_no_number(study: Study) -> None:
    assert [one.ours for one in sides(PRINTED, None, 0.95)] == [None] * 3
    other = published("30 ms", "1 bdp", 1)
    assert sides([other], Figures(study), 0.95)[0].ours is None


def test_a_grid_with_changes(study: Study) -> None:
    table = Table("Goodput (Mbit/s)", "table 1", RTT, BUFFER, "goodput", "cubic", "1 bdp", 1e6)
    part = Part("a", "A", "a.toml", tables=(table,), published=PRINTED)
    (rows,) = tables(part, sides(PRINTED, Figures(study), 0.95))
    assert rows.title == "Goodput (Mbit/s), table 1, n = 5"
    assert rows.head[1:] == [
        "1 bdp: printed",
        "ours",
        "ratio",
        "2 bdp: printed",
        "ours",
        "ratio",
        "change, printed",
        "ours",
    ]
    ten, twenty = rows.rows
    assert (ten[0], ten[1], ten[3]) == ("10 ms", "80", "0.50")
    assert ten[2].startswith("40")
    assert ten[2].endswith("]")
    assert ten[-2:] == ["-25 %", "+50 %"]
    assert twenty[-1] == "–"  # noqa: RUF001


def test_numbers_that_fill_more_than_a_screen_stand_beside_the_page(study: Study, tmp_path: Path) -> None:
    table = Table("Goodput (Mbit/s)", "table 1", RTT, BUFFER, "goodput", "cubic", "1 bdp", 1e6)
    many = tuple(published("10 ms", "1 bdp", 1 + n, "bbr") for n in range(SCREEN))
    part = Part("a", "A", "a.toml", tables=(table,), published=(*PRINTED, *many))
    report.write(Reproduction("t", "T", "N", (part,), ()), {"a": study}, tmp_path, "dumbbell")
    rows = list(csv.DictReader((tmp_path / "numbers.csv").open()))
    assert len(rows) == 4 + SCREEN
    assert (rows[0]["part"], rows[0]["row"], rows[0]["column"]) == ("a", "rtt 10 ms", "1 bdp")
    assert (rows[1]["printed"], rows[1]["change_printed"], rows[1]["change_ours"]) == ("60", "-25 %", "+50 %")
    assert (rows[4]["row"], rows[4]["printed"]) == ("rtt 10 ms, buffer 1 bdp, of bbr", "1")
    text = (tmp_path / "report.md").read_text()
    assert text.count("part a in [numbers.csv](numbers.csv)") == 1
    assert "| 10 ms | 80 |" not in text
    assert "Goodput (Mbit/s), table 1" in (tmp_path / "report.html").read_text()
    # With fewer there is no such file.
    few = Reproduction("t", "T", "N", (Part("a", "A", "a.toml", published=PRINTED),), ())
    report.write(few, {"a": study}, tmp_path / "few", "dumbbell")
    assert not (tmp_path / "few" / "numbers.csv").exists()


def test_numbers_in_no_table_are_listed(study: Study) -> None:
    (rows,) = tables(Part("a", "A", "a.toml"), sides(PRINTED[:1], Figures(study), 0.95))
    assert rows.head == ["rtt", "buffer", "of", "metric", "printed", "ours", "ratio", "source"]
    assert rows.rows[0][3:5] == ["Goodput (Mbit/s)", "80"]


def test_a_list_is_written_in_words(study: Study) -> None:
    printed = Published({"topology.rtt": ["10 ms", "20 ms"]}, "goodput", "cubic", 999.7e6, "table 1")
    found = sides([printed], Figures(study), 0.95)
    (rows,) = tables(Part("a", "A", "a.toml"), found)
    assert rows.rows[0][0] == "10 ms and 20 ms"
    assert rows.rows[0][3] == "1,000"
    assert "rtt 10 ms and 20 ms" in in_words(found[0])


def test_curves_and_the_printed_points_on_them(study: Study) -> None:
    one, two = curves(PLOT, Figures(study), PRINTED, 0.95)
    assert (one.label, two.label) == ("1 bdp", "2 bdp")
    assert one.at == pytest.approx([10, 20])
    assert one.published == [pytest.approx((10, 80)), pytest.approx((20, 10))]
    assert two.published == [pytest.approx((10, 60))]


def test_ratios_of_ours_beside_those_of_printed_numbers_that_are_only_ratios(study: Study) -> None:
    printed = (published("10 ms", "1 bdp", 50, "bbr", "cubic"), published("10 ms", "1 bdp", 10, "cubic", "cubic"))
    plot = replace(PLOT, of=("bbr",), relative_to="cubic", y=Axis("times CUBIC's"))
    one, _ = curves(plot, Figures(study), printed, 0.95)
    assert [found.value for found in one.ours] == pytest.approx([2, 2], rel=0.01)
    assert one.published == [pytest.approx((10, 5))]
    assert curves(replace(plot, relative_to=None), Figures(study), printed, 0.95)[0].published == []


def test_boxes_are_of_all_runs(study: Study) -> None:
    one, two = boxes_of(replace(PLOT, kind="boxes"), Figures(study), ())
    assert (one.name, two.name, one.x) == ("cubic, 1 bdp", "cubic, 2 bdp", ("10 ms", "20 ms"))
    assert (one.label, two.label) == ("1 bdp", "2 bdp"), "an algorithm that all have is named by the title"
    assert [len(runs) for runs in one.values] == [5, 5]
    assert sum(two.values[1]) / 5 == pytest.approx(30, rel=0.01)
    printed = (published("20 ms", "1 bdp", 50, "cubic"),)
    assert [few.x for few in boxes_of(replace(PLOT, kind="boxes"), Figures(study), printed)] == [("20 ms",)] * 2
    axes: Any = MatplotlibFigure().subplots()
    boxes([one, two])(axes)
    assert {box.get_hatch() for box in axes.patches} == {"", "/////"}, "one colour, two curves"
    assert all(box.get_edgecolor()[:3] != box.get_facecolor()[:3] for box in axes.patches), (
        "a hatch has the edge's colour"
    )
    assert [text.get_text() for text in axes.get_xticklabels()] == ["10 ms", "20 ms"]
    dots = [line for line in axes.lines if line.get_marker() == "."]
    assert sum(len(line.get_ydata()) for line in dots) == 20, "a dot for each run"


@pytest.mark.parametrize(
    "cases",
    [
        [f"1000 ms, {loss} %" for loss in (0, 1, 2, 5, 10)],
        ["100 packets", "1000 packets", "3400 packets", "20000 packets", "30000 packets"],
    ],
)
def test_names_of_places_stand_apart_and_the_legend_has_algorithms_first(
    monkeypatch: pytest.MonkeyPatch, cases: list[str]
) -> None:
    figures: list[MatplotlibFigure] = []
    monkeypatch.setattr(drawing, "rendered", lambda name, plot, fig: figures.append(fig))
    at, ours = [0.0, 1.0, 2.0, 3.0, 4.0], [Interval(9.0, 8.0, 10.0, 3)] * 5
    found = [Curve(cc, cases, at, ours, [(0.0, 7.0)], place, cc) for place, cc in enumerate(("reno", "cubic", "bbr"))]
    levels, points = ((5.0, "equal"), (6.0, "equal")), ((1.0, 6.5, "in the text"),)
    plot = replace(PLOT, kind="bars", x=Axis("delay, loss"), marks=levels, points=points, legend="algorithm")
    drawing.picture("bars", plot, drawing.averages(found, plot))
    (fig,) = figures
    fig.canvas.draw()
    boxes = [text.get_window_extent() for text in fig.axes[0].get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))
    names = [text.get_text() for text in fig.legends[0].get_texts()]
    assert names == ["Reno", "CUBIC", "BBRv1", "printed", "in the text", "equal"], "equal names are one"
    assert fig.legends[0].get_title().get_text() == "algorithm"
    axes: Any = fig.axes[0]
    (point,) = (line for line in axes.lines if line.get_label() == "in the text")
    assert (*point.get_xdata(), *point.get_ydata()) == (1, 6.5)


def test_decades_are_written_out(study: Study) -> None:
    """Powers of ten as mathematics would be `$10^{-2}$`, letter by letter."""
    plot = replace(PLOT, x=Axis("RTT (s)", 0.001, 10, log=True), y=Axis("Mbit/s", 10, 100, factor=1e6, log=True))
    drawn = drawing.picture("log", plot, drawing.averages(curves(plot, Figures(study), (), 0.95), plot))
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn.svg.decode())
    assert {"0.001", "0.01", "0.1", "1", "10", "100"} <= set(texts)
    assert not [text for text in texts if "$" in text or "10^" in text]


def test_an_algorithm_has_one_colour_whatever_it_is_called() -> None:
    """The same in a study's curves, a run's flows and a published page."""
    mine = of_names(("cubic", "bbr2", "reno"))
    assert [look.light for look in looks(["CUBIC", "BBRv2, long", "Reno"])] == [one.light for one in mine]
    assert [look.dash for look in looks(["bbr, 10 Mbit/s", "bbr, 20 Mbit/s"])] == [0, 1]
    (udp, tcp), hues = looks(["udp", "cubic"]), {one for pair in HUES for one in pair}
    assert udp.light not in hues
    assert tcp.light == mine[0].light


def test_a_links_curves_have_the_colour_of_the_only_algorithm_that_crosses_it(tmp_path: Path) -> None:
    """A link that two algorithms share has grey curves: each of the hues is an algorithm's."""
    plot = replace(PLOT, metric="utilisation", of=())

    def drawn(*ccs: str) -> list[Colour]:
        found = Figures(Study(Synthetic(cells=CELLS, ccs=ccs).write(tmp_path / "+".join(ccs))))
        named = [one.name for one in curves(plot, found, (), 0.95)]
        assert named == [one.name for one in boxes_of(replace(plot, kind="boxes"), found, ())]
        assert [one.label for one in curves(plot, found, (), 0.95)] == ["1 bdp", "2 bdp"]
        return looks(named)

    (mine,) = of_names(("bbr",))
    assert drawn("bbr", "udp") == [Colour(mine.light, mine.dark, dash) for dash in (0, 1)]
    one, two = drawn("bbr", "cubic")
    assert one != two
    assert not {one.light, two.light} & {light for light, _ in HUES}


@pytest.mark.parametrize(
    ("value", "expected"), [(5, 5), ("10 ms", 0.01), ("5 Mbit/s", 5e6), ("10 %", 0.1), ("0.1 bdp", 0.1)]
)
def test_values_have_a_place_on_an_axis(value: Any, expected: float) -> None:
    assert number(value) == pytest.approx(expected)


def test_a_name_has_no_place() -> None:
    with pytest.raises(ValueError, match="no place"):
        number("cubic")


def test_an_interval_across_a_bound_tells_nothing() -> None:
    found = Interval(10, 9, 11, 5)
    assert (above(found, 8), above(found, 10), above(found, 12)) == (Status.HOLDS, Status.UNKNOWN, Status.FAILS)
    assert (below(found, 12), below(found, 8)) == (Status.HOLDS, Status.FAILS)
    assert within(Interval(10, None, None, 1), 0, 20) is Status.UNKNOWN
    assert above(None, 0) is Status.UNKNOWN
    assert all_of([Status.HOLDS, Status.UNKNOWN, Status.FAILS]) is Status.FAILS
    assert all_of([Status.HOLDS, Status.UNKNOWN]) is Status.UNKNOWN
    assert interval_text(found) == "10 [9, 11]"
    assert interval_text(Interval(999.9, 999.4, 1000.1, 5)) == "1,000 [999, 1,000]"


def faster(studies: Studies) -> Judged:
    if "a" not in studies:
        return Judged(Status.UNKNOWN, "not run")
    found = Figures(studies["a"]).interval("goodput", "bbr", {RTT: "10 ms", BUFFER: "1 bdp"})
    assert found is not None
    return Judged(above(found, 70e6), interval_text(found, 1e6))


def reproduction() -> Reproduction:
    of_flows = Plot("Each", "figure 2", "cdf", Axis("Mbit/s", factor=1e6), Axis("share"), "goodput", of=("bbr",))
    bars = Plot("Bars", "figure 3", "bars", Axis("RTT"), MBIT_AXIS, "goodput", RTT, of=("bbr", "cubic"))
    part = Part("a", "A & B", "a.toml", published=PRINTED, plots=(PLOT, of_flows, bars), notes=("Their <clock>.",))
    finding = Finding("BBR is fast", faster)
    return Reproduction("test-2020", "A test", "Nobody", (part, Part("b", "B", "b.toml")), (finding,), ("All.",))


def test_the_report(study: Study, tmp_path: Path) -> None:
    page, text = report.write(reproduction(), {"a": study}, tmp_path / "out", "dumbbell reproduce test-2020")
    html, markdown = page.read_text(), text.read_text()
    for written in (html, markdown):
        assert "BBR is fast" in written
        assert "dumbbell reproduce test-2020" in written
        assert "b was not run" in written
    assert "| holds | BBR is fast | 80" in markdown
    assert '<span class="status holds">holds</span>' in html
    assert "A &amp; B" in html
    assert "Their &lt;clock&gt;." in html
    assert "://" not in html.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    ).replace("https://matplotlib.org", "")
    for name in ("a-1", "a-2", "a-3"):
        assert (tmp_path / "out" / "plots" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert f"(plots/{name}.svg)" in markdown
    assert html.count("<svg") == 3


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ([{"found": 0, "cpu_s": 0.3}, {"found": 0, "cpu_s": 0.02}], "dumbbell 0.1.0, 0.32 CPU seconds. "),
        ([{"found": 0, "cpu_s": 2640.0}], "dumbbell 0.1.0, 44 CPU minutes. "),
        ([{"found": 0, "cpu_s": 12.0}, {"found": 40, "cpu_s": 0.0}], "dumbbell 0.1.0. "),
        ([{"found": 0, "cpu_s": 12.0}, {"found": 0, "wall_s": 300.0}], "dumbbell 0.1.0. "),
    ],
)
def test_the_cost_is_told_if_it_is_that_of_all_runs(tmp_path: Path, costs: list[dict[str, float]], said: str) -> None:
    """A study that was stopped and continued knows the cost of its last command only, and one in real time none."""
    studies = {
        str(n): Study(
            Synthetic(
                cells=CELLS[:1], manifest={"cost": cost, "started_at": "2026-12-01", "tool": {"dumbbell": "0.1.0"}}
            ).write(tmp_path / str(n))
        )
        for n, cost in enumerate(costs)
    }
    assert said in report.runs_in_words(reproduction(), studies)


def test_a_report_to_hand_in(study: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Question, answer, set-up, figures, numbers, limits and the command, as Markdown, LaTeX and PDF."""
    asked = replace(reproduction(), question="Who is fast?")
    found = {}
    for format in hand_in.FORMATS:
        path, *plots = hand_in.write(asked, {"a": study}, "dumbbell reproduce x", ["Part b is skipped"], format,
                                     tmp_path / f"report.{format}")  # fmt: skip
        assert all(plot.stat().st_size for plot in plots)
        found[format] = path.read_bytes()
    text = found["md"].decode()
    order = ["## Question", "Who is fast?", "## What holds", "## Set-up", "## Figures of part a", "## Numbers, printed",
             "## Findings with their numbers", "## Limits", "- Part b is skipped", "## How to repeat it"]  # fmt: skip
    assert sorted(order, key=text.index) == order
    assert "80 | 40" in text, "printed and ours"
    tex = found["tex"].decode()
    assert tex.count(r"\begin{") == tex.count(r"\end{")
    assert r"\includegraphics" in tex
    assert found["pdf"].startswith(b"%PDF")
    again = hand_in.write(asked, {"a": study}, "dumbbell reproduce x", ["Part b is skipped"], "pdf", tmp_path / "b.pdf")
    assert again[0].read_bytes() == found["pdf"]
    with pytest.raises(InputError, match="no part was run"):
        hand_in.document(asked, {}, "dumbbell reproduce x", [])
    (tmp_path / "older").mkdir()
    (tmp_path / "older" / "parts.json").write_text("{}")
    (tmp_path / "older" / "report.html").write_text("")
    assert invoke(["report", str(tmp_path / "older"), "--format", "pdf"]) == 2
    assert "repeat its command with --as-is" in capsys.readouterr().err


@pytest.mark.parametrize("high", [0.7, 4.0])
def test_a_heading_stands_on_the_page_of_its_picture(high: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """After any number of lines: of a flat picture, and of one that fills a page."""
    png = io.BytesIO()
    Image.new("RGB", (100, int(100 * high))).save(png, "png")
    pages = list[tuple[str, int]]()

    class Paper(_Paper):
        def _put(self, text: str, x: float, y: float, size: float, **look: str) -> None:
            assert y > 0
            pages.append((text, self._number))

    monkeypatch.setattr("dumbbell.published.paper._Paper", Paper)
    title = "Figures of a part whose title has " + "words " * 12
    plots = Pictures([Picture("a", "Caption", b"", png.getvalue(), is_wide=True)])
    for lines in range(0, 60, 3):
        pages.clear()
        pdf(Document("Title", [Paragraph("\n".join("x" * lines)), Heading(title), plots]))
        (heading,) = {page for text, page in pages if text.startswith("Figures of")}
        (caption,) = {page for text, page in pages if text == "Caption"}
        assert heading == caption, lines
        assert {page for text, page in pages if not text.isdigit()} == set(range(1, caption + 1)), "no page is empty"


def test_lines_of_a_page_find_room() -> None:
    told = "a window of " + "x" * 300 + " packets, and words " * 30
    lines = _wrapped(told, 3.0, 9.5)
    assert "".join("".join(lines).split()) == "".join(told.split())
    assert max(_measured(line, 9.5) for line in lines) <= 3.0 + 1e-9


def test_findings_on_runs_that_are_not_valid_say_so(tmp_path: Path) -> None:
    """9 of 20 runs of part a are suspect, one is invalid and one failed; b, which is as bad, is not asked."""
    verdicts = {run: "suspect" for run in range(9)} | {12: "invalid"}
    bad = Synthetic(cells=CELLS, goodput_mbit=goodput, spread=0.001, failed=(12, 13), verdicts=verdicts)
    study = Study(bad.write(tmp_path / "study"))
    _, text = report.write(reproduction(), {"a": study, "b": study}, tmp_path / "out", "dumbbell")
    row = next(line for line in text.read_text().split(LEDGER)[1].splitlines() if "BBR is fast" in line)
    assert row.endswith("Part a: of 20 runs 9 valid, 1 failed, 1 invalid and 9 suspect. |")
    html = (tmp_path / "out" / "report.html").read_text()
    assert "Part a: of 20 runs 9 valid, 1 failed, 1 invalid and 9 suspect." in html


@pytest.mark.parametrize("readings", [("",), ("one reading", "another")])
def test_the_documentation_has_the_findings_and_parts_of_a_report_in_tables(
    readings: tuple[str, ...], study: Study, tmp_path: Path
) -> None:
    whole, more = reproduction(), {"source": "table (a)", "printed": "80. In text: 81"}
    asked = replace(whole, findings=[replace(one, reading=said, **more) for one in whole.findings for said in readings])
    _, text = report.write(asked, {"a": study, "b": study}, tmp_path, "dumbbell")
    page, files = run_path(str(APPENDIX))["moved"](text.read_text(), asked)
    known = judged(asked, {"a": study, "b": study})
    findings, parts = (
        list(csv.DictReader(io.StringIO(files[f"test-2020-{name}.csv"]))) for name in ("findings", "parts")
    )
    assert [list(row.values()) for row in findings] == [
        [
            one.text,
            one.finding.reading,
            str(one.judged.status),
            one.numbers,
            one.counts,
            more["source"],
            more["printed"],
            one.finding.rule,
            elsewhere(one, known),
        ]
        for one in known
    ]
    assert [(row["part"], row["title"]) for row in parts] == [(part.name, part.title) for part in asked.parts]
    assert all("runs, engine" in row["notes"] for row in parts)
    assert "runs, engine" not in page.split(LEDGER)[1]


def test_findings_on_valid_runs_say_nothing_of_them(study: Study) -> None:
    (found,) = judged(reproduction(), {"a": study})
    assert found.runs == ""


def test_a_report_of_nothing(tmp_path: Path) -> None:
    _, text = report.write(reproduction(), {}, tmp_path, "dumbbell reproduce test-2020")
    assert "| can't be told | BBR is fast | not run |" in text.read_text()
    assert "a and b were not run" in text.read_text()


def test_names_between_backticks_are_code_on_the_page() -> None:
    blocks = (Paragraph("see `a<b`"), Bullets(("part `x`, and `y`",)))
    text = page(Document("title", blocks))
    assert "<p>see <code>a&lt;b</code></p>" in text
    assert "<li>part <code>x</code>, and <code>y</code></li>" in text


def test_no_command_of_a_stranger_gives_tex_orders() -> None:
    text = latex(Document("theirs", [Code(r"true \end{verbatim} \input{/etc/passwd}")]), "plots")
    assert text.count(r"\end{verbatim}") == 1
    assert text.index(r"\input{/etc/passwd}") < text.index(r"\end{verbatim}")
