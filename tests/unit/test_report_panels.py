"""A panel is one file: what is added to the folder of panels is on the page, in the figure and in CSV."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest
from synthetic_run import Synthetic

from dumbbell import report
from dumbbell.records import Run
from dumbbell.report import panels
from dumbbell.report.render.payload import payload
from dumbbell.report.series import build

PANEL = """
import polars as pl
from dumbbell.report.curves import Measure
from dumbbell.report.flow_panel import FlowPanel
from dumbbell.report.model import Quantity

PANEL = FlowPanel(
    place=41,
    key="resent_packets",
    title="Resent",
    unit="packets",
    measures=(Measure(Quantity("resent_packets", "resent"), pl.col("retransmitted_segments"), sampled="sum"),),
)
"""


def test_a_new_file_is_a_new_panel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "panels").mkdir()
    (tmp_path / "panels" / "resent.py").write_text(PANEL)
    monkeypatch.setattr(panels, "__path__", [*panels.__path__, str(tmp_path / "panels")])
    run = Run(Synthetic(duration_s=4).write(tmp_path / "run"))
    try:
        plots = build(run)
        titles = [panel.title for panel in plots.panels]
        assert titles[titles.index("Congestion window") + 1] == "Resent"
        told = json.loads(payload(plots))["content"]["panels"]
        assert "resent_packets" in [panel["key"] for panel in told]
        assert "Resent" in [axes.get_title(loc="left") for axes in report.figure(run).axes]
        assert "resent_packets.csv" in {path.name for path in report.write(run, "csv", tmp_path / "csv")}
    finally:
        sys.modules.pop(f"{panels.__name__}.resent", None)


def test_what_a_users_own_program_publishes_has_a_panel(tmp_path: Path) -> None:
    run = Run(Synthetic(duration_s=4, acks=True).write(tmp_path / "run"))
    assert run.acks is not None
    assert "Own state" not in [panel.title for panel in build(run).panels]
    own = pl.when(pl.col("flow") == "f1").then(pl.col("cwnd_packets"))
    run.acks.with_columns(own_value_2=own).write_parquet(run.directory / "acks.parquet")
    (panel,) = [panel for panel in build(run).panels if panel.title == "Own state"]
    (line,) = panel.views[0].lines
    assert (line.flow, panel.key) == ("f1", "own_value_2")
    assert line.values.max() == run.acks.filter(pl.col("flow") == "f1")["cwnd_packets"].max()


def test_panels_have_places_of_their_own() -> None:
    places = [one.place for one in panels.definitions()]
    assert len(set(places)) == len(places)
