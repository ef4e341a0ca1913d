"""No text of a figure is cut or lies on another, in any format, whatever a study varies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text
from stages import thorough_after
from synthetic_study import Synthetic

import dumbbell
from dumbbell import Study
from dumbbell.captures.points import interfaces
from dumbbell.report.render.figures import render
from dumbbell.report.study.build import build
from dumbbell.report.study.figures import cdf, figure
from dumbbell.report.study.kinds import shown
from dumbbell.scenario.study import Plot

FORMATS = ("png", "svg", "pdf")
ALGORITHMS = ("cubic", "reno", "bbr", "bbr3", '{ bpf = "aimd.bpf.c" }', "vegas")
SLACK_PT = 0.8
"""Renderers round the places of letters."""


@dataclass(frozen=True)
class Box:
    text: str
    x0: float
    y0: float
    x1: float
    y1: float


@contextmanager
def drawn_texts() -> Iterator[list[Box]]:
    """The boxes of all texts that any renderer draws, in points."""
    found: list[Box] = []
    draw = Text.draw

    def recorded(self: Text, renderer: Any, *args: Any, **given: Any) -> None:
        if self.get_visible() and self.get_text().strip():
            box, scale = self.get_window_extent(renderer), 72 / self.get_figure(root=True).dpi  # type: ignore[union-attr]
            found.append(Box(self.get_text(), *(float(side) * scale for side in box.extents)))
        draw(self, renderer, *args, **given)

    patch = pytest.MonkeyPatch()
    patch.setattr(Text, "draw", recorded)
    try:
        yield found
    finally:
        patch.undo()


def check(fig: Figure, format: str) -> None:
    with drawn_texts() as boxes:
        render(fig, format)
    # Some backends draw twice.
    texts = list(dict.fromkeys(boxes))
    assert texts
    width, height = (72 * inches for inches in fig.get_size_inches())
    for box in texts:
        inside = box.x0 > -SLACK_PT and box.y0 > -SLACK_PT and box.x1 < width + SLACK_PT and box.y1 < height + SLACK_PT
        assert inside, f"{format}: {box} is cut at {width:.0f} x {height:.0f} pt"
    for a, b in combinations(texts, 2):
        apart = min(a.x1, b.x1) - max(a.x0, b.x0) < SLACK_PT or min(a.y1, b.y1) - max(a.y0, b.y0) < SLACK_PT
        assert apart, f"{format}: {a} lies on {b}"


def values(kind: str, count: int) -> list[Any]:
    if kind == "cc":
        return list(ALGORITHMS[:count])
    if kind == "log":
        return [f"{0.1 * 1.4**i:.3g} bdp" for i in range(count)]
    if kind == "linear":
        return [f"{1000 * (i + 1)} ms" for i in range(count)]
    return [f"Case {i}, {'of a rather long name ' * (i % 3)}{i}" for i in range(count)]


def check_study(keys: dict[str, list[Any]], formats: tuple[str, ...], **described: Any) -> None:
    cells = [dict(zip(keys, row, strict=True)) for row in product(*keys.values())]
    with TemporaryDirectory() as folder:
        study = Study(Synthetic(cells=cells, repeat=2, goodput_mbit=lambda _, cc: 1234.5).write(Path(folder, "study")))
        plots = build(study, 0.95, "t", None, Plot.model_validate(described))
        for panel in shown(plots):
            fig = figure(plots, panel)
            for format in formats:
                check(fig, format)


@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    kinds=st.lists(st.sampled_from(["cc", "log", "linear", "words"]), min_size=1, max_size=3, unique=True),
    counts=st.tuples(st.integers(1, 30), st.integers(1, 6), st.integers(1, 4)),
    kind=st.sampled_from(["auto", "bars", "boxes", "cdf", "heat"]),
)
def test_of_any_study(kinds: list[str], counts: tuple[int, int, int], kind: str) -> None:
    names = {"cc": "flows.0.cc", "log": "net.buffer", "linear": "net.rtt", "words": "case"}
    check_study(
        {names[one]: values(one, n) for one, n in zip(kinds, counts, strict=False)}, ("svg",), kind=kind, by="algorithm"
    )


@pytest.mark.parametrize(
    "counts",
    thorough_after(
        1, [{"words": 6, "cc": 6}, {"words": 30}, {"log": 30, "linear": 12}, {"log": 4, "cc": 5, "words": 3}]
    ),
    ids=str,
)
def test_in_every_format(counts: dict[str, int]) -> None:
    check_study({f"k.{one}": values(one, n) for one, n in counts.items()}, FORMATS, by="algorithm")


def test_of_pairs_and_single_flows(tmp_path: Path) -> None:
    cells = [{"flows": f"{one}+{two}", "net.rtt": rtt} for one, two in product(("cubic", "bbr", "reno"), repeat=2)
             for rtt in ("10 ms", "100 ms")]  # fmt: skip
    plots = build(Study(Synthetic(cells=cells, repeat=3, fct_s=1.0).write(tmp_path / "study")), 0.95, "t")
    share, *_ = shown(plots)
    assert share.metric.name == "goodput_share"
    check(figure(plots, share), "pdf")
    check(cdf(plots, plots.distributions[0]), "png")


@pytest.mark.parametrize(
    ("scenario", "buffer"),
    thorough_after(1, [("single-flow", "0.3 bdp"), ("single-flow", "4 bdp"), ("bbr-vs-cubic", "0.5 bdp")]),
)
def test_of_a_run_and_its_capture(tmp_path: Path, scenario: str, buffer: str) -> None:
    """Words of Kleinrock's plot that would lie on others are left out; long names of connections have lines."""
    wanted = {"duration": "3 s", "topology.bottleneck.buffer": buffer, "record.capture": True}
    if scenario == "bbr-vs-cubic":
        wanted["flows.1.start"] = "1 s"
    run = dumbbell.run(scenario, overrides=wanted, directory=tmp_path, engine="simulate", report=False)
    assert isinstance(run, dumbbell.Run)
    check(run.plot(), "pdf")
    at = interfaces(run.plan, "sender")
    capture = dumbbell.pcap(run.directory / "capture.pcapng", output=tmp_path / "out", interfaces=at)
    check(capture.plot(), "pdf")


def test_the_check_sees_what_is_wrong() -> None:
    fig = Figure(figsize=(2, 2))
    fig.text(0.5, 0.5, "one text")
    check(fig, "png")
    fig.text(0.55, 0.5, "another")
    with pytest.raises(AssertionError, match="lies on"):
        check(fig, "svg")
    cut = Figure(figsize=(2, 2))
    cut.text(0.9, 0.5, "beyond the edge")
    with pytest.raises(AssertionError, match="is cut"):
        check(cut, "pdf")
