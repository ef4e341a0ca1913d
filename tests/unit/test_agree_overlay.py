"""Two runs on the same axes: each curve is drawn once per engine, and in one unit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from synthetic_run import Synthetic

from dumbbell.agree.overlay import PANELS, overlay
from dumbbell.records import Run
from dumbbell.report.model import Plots
from dumbbell.report.render import figures
from dumbbell.report.render.payload import payload
from dumbbell.report.series import build


def write(place: Path, **changes: object) -> Run:
    return Run(Synthetic(duration_s=4.0, packets=False, **changes).write(place))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """The second has a slower link, whose queue is small enough for another unit."""
    place = tmp_path_factory.mktemp("runs")
    return write(place / "emulated", rate_bps=400e6), write(place / "simulated", rate_bps=10e6, acks=True)


@pytest.fixture(scope="module")
def plots(runs: tuple[Run, Run]) -> Plots:
    return overlay(("emulate", "simulate"), *runs)


def test_each_flow_has_a_colour_under_each_engine(plots: Plots) -> None:
    assert [group.label for group in plots.groups] == [
        "f1 cubic, emulate",
        "f2 bbr, emulate",
        "f1 cubic, simulate",
        "f2 bbr, simulate",
        "queue, emulate",
        "queue, simulate",
    ]
    assert len({group.light for group in plots.groups}) == len({group.dark for group in plots.groups}) == 6


def test_all_panels_have_the_curves_of_both(plots: Plots) -> None:
    assert [panel.title for panel in plots.panels] == list(PANELS)
    assert plots.missing == ()
    for panel in plots.panels:
        groups = sorted(line.group for line in panel.views[0].lines if line.group is not None)
        assert groups == ([4, 5] if panel.title == "Queue" else [0, 1, 2, 3]), panel.title
        assert all(line.time_s is not None and len(line.time_s) == len(line.values) for line in panel.views[0].lines)


def test_values_are_in_one_unit(runs: tuple[Run, Run], plots: Plots) -> None:
    for title in ("Queue", "Goodput"):
        of = [next(panel for panel in built.panels if panel.title == title) for built in (plots, build(runs[1]))]
        assert of[0].unit != of[1].unit or title == "Goodput"
        ours = of[0].views[0].lines[-1].values.drop_nulls().max()
        theirs = of[1].views[0].lines[-1].values.drop_nulls().max()
        assert ours * of[0].per_unit == pytest.approx(theirs * of[1].per_unit)  # type: ignore[operator]


def test_it_can_be_drawn_on_paper_and_on_a_page(plots: Plots) -> None:
    drawn = figures.figure(plots)
    assert [ax.get_title(loc="left").partition(",")[0] for ax in drawn.axes] == list(PANELS)
    assert b"f2 bbr, simulate" in figures.render(drawn, "svg")
    told = json.loads(payload(plots))["content"]
    assert [len(panel["views"][0]["marks"]) for panel in told["panels"]] == [4, 4, 4, 2]
    assert all(line["timeS"] for panel in told["panels"] for line in panel["views"][0]["marks"])


def test_a_table_that_is_missing_costs_its_panel(tmp_path: Path) -> None:
    emulated, simulated = write(tmp_path / "emulated"), write(tmp_path / "simulated")
    (simulated.directory / "links.parquet").unlink()
    found = overlay(("emulate", "simulate"), emulated, simulated)
    assert [panel.title for panel in found.panels] == ["Goodput", "Congestion window", "RTT"]
    assert found.missing == ("Queue: one of the two runs has no data.",)
