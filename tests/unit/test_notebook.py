"""Runs, studies and their figures as the values of a notebook's cells."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import dumbbell
from dumbbell import InputError, Run, Study
from dumbbell.pipeline.notebook import Line, progress

SMALL = {
    "name": "small",
    "duration": "300 ms",
    "topology": {"kind": "path", "rtt": "10 ms", "bottleneck": {"rate": "5 Mbit/s", "buffer": "1 bdp"}},
    "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}],
}
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.thorough
def test_a_run_shows_its_verdict_and_its_plots(tmp_path: Path) -> None:
    run = dumbbell.run(SMALL, directory=tmp_path, engine="simulate", report=False)
    assert isinstance(run, Run)
    shown = run._repr_html_()
    assert "<b>small: valid</b>" in shown
    assert "<td>f1 cubic</td><td>h1 &gt; h2</td>" in shown
    assert run.plot()._repr_png_().startswith(PNG)  # type: ignore[attr-defined]


def test_a_study_shows_its_cells_and_a_metric(tmp_path: Path) -> None:
    vary = {"flows.0.cc": ["cubic", "reno"]}
    study = dumbbell.run(SMALL, directory=tmp_path, engine="simulate", report=False, vary=vary, repeat=2)
    assert isinstance(study, Study)
    shown = study._repr_html_()
    assert shown.startswith("<p><b>small: complete, 4 valid</b>")
    assert "reno" in shown
    assert study.plot()._repr_png_().startswith(PNG)  # type: ignore[attr-defined]
    assert "utilisation" in study.plot("utilisation").axes[0].get_ylabel().lower()
    with pytest.raises(InputError, match="no metric 'nonsense'"):
        study.plot("nonsense")


CELLS = (
    f"import dumbbell\nsmall = {SMALL!r}",
    "run = dumbbell.run(small, engine='simulate')",
    "run",
    "run.plot()",
    "study = dumbbell.run(small, engine='simulate', report=False, vary={'flows.0.cc': ['cubic', 'reno']}, repeat=2)",
    "study",
    "study.plot()",
    "run.flows",
)


def test_a_notebook_shows_progress_runs_studies_and_pictures(tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    shown = [[output.get("data", {}) for output in cell.outputs] for cell in notebook.cells]
    assert all(output.output_type != "error" for cell in notebook.cells for output in cell.outputs)
    assert [data["text/plain"] for data in shown[1]] == ["judging the run"]
    assert "<b>small: valid</b>" in shown[2][0]["text/html"]
    assert shown[3][0]["image/png"].startswith("iVBORw0KGgo")
    assert [data["text/plain"] for data in shown[4]] == ["4 of 4 runs"]
    assert "reno" in shown[5][0]["text/html"]
    assert shown[6][0]["image/png"].startswith("iVBORw0KGgo")
    assert "goodput_bps" in shown[7][0]["text/html"]


def test_outside_a_notebook_nothing_is_shown() -> None:
    assert progress() is None


def test_the_line_of_a_notebook_says_how_far_a_run_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dumbbell.pipeline.notebook._EVERY_S", 0)
    said: list[str] = []

    class Handle:
        def update(self, shown: dict[str, str], raw: bool) -> None:
            said.append(shown["text/plain"])

    def display(shown: dict[str, str], **_: Any) -> Handle:
        said.append(shown["text/plain"])
        return Handle()

    line = Line(display)
    for event in (
        {"event": "planned", "plan": SimpleNamespace(duration_ns=300_000_000)},
        {"event": "simulating"},
        {"event": "progress", "time_ns": 200_000_000},
        {"event": "composing"},
        {"event": "planning", "cells": 1_000, "of": 2_500},
        {"event": "progress", "runs": 30, "of": 40, "failed": 2},
    ):
        line(event)
    assert said == [
        "planning",
        "simulating",
        "simulating: 0.2 of 0.3 s",
        "judging the run",
        "planning: 1,000 of 2,500 cells",
        "30 of 40 runs, 2 failed",
    ]
