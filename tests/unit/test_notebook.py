"""Runs, studies and their figures as the values of a notebook's cells."""

from __future__ import annotations

from pathlib import Path

import pytest

import dumbbell
from dumbbell import InputError, Run, Study

SMALL = {
    "name": "small",
    "duration": "300 ms",
    "topology": {"kind": "path", "rtt": "10 ms", "bottleneck": {"rate": "5 Mbit/s", "buffer": "1 bdp"}},
    "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}],
}
PNG = b"\x89PNG\r\n\x1a\n"


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
    with pytest.raises(InputError, match="no values of 'nonsense'"):
        study.plot("nonsense")
